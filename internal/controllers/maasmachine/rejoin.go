package maasmachine

import (
	"context"
	"strings"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// Rejoin carries the news that a DNS record lost addresses to the machines that have to join it again.
type Rejoin chan event.TypedGenericEvent[endpoint.Record]

// NewRejoin returns one, for one publisher and one reconciler.
func NewRejoin() Rejoin { return make(Rejoin, 1000) }

// Tell never blocks. What finds no room is made up for when the machines are next looked at.
func (r Rejoin) Tell(record endpoint.Record) {
	select {
	case r <- event.TypedGenericEvent[endpoint.Record]{Object: record}:
	default:
	}
}

// source raises a reconcile of each machine of the cluster whose record lost addresses.
func (r Rejoin) source(c client.Client, machinesOf handler.MapFunc) source.TypedSource[ctrl.Request] {
	return source.TypedChannel(r, handler.TypedFuncs[endpoint.Record, ctrl.Request]{
		GenericFunc: func(ctx context.Context, e event.TypedGenericEvent[endpoint.Record], queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			namespace, name, _ := strings.Cut(e.Object.Owner, "/")
			infra := &infrav1.MaasCluster{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, infra); err != nil {
				return // it is gone, or the next look at the machines makes up for it
			}
			for _, request := range machinesOf(ctx, infra) {
				queue.Add(request)
			}
		},
	})
}
