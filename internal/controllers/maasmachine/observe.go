package maasmachine

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// How old what is known of the record may be: of a machine that is to join it, and of one at rest.
const (
	recordAge       = 15 * time.Second
	recordAgeAtRest = 10 * time.Minute
)

// observeObjects gathers what Kubernetes knows. What is missing stays nil; only a failed read is an error.
func (r *Reconciler) observeObjects(ctx context.Context, object *infrav1.MaasMachine) (observation, error) {
	o := observation{now: r.now(), maasHost: r.MAAS.Host(), object: object, tried: map[string]error{}}
	var err error
	if o.owner, err = util.GetOwnerMachine(ctx, r.Client, object.ObjectMeta); client.IgnoreNotFound(err) != nil {
		return o, fmt.Errorf("read the owner Machine: %w", err)
	}
	if o.cluster, err = r.clusterOf(ctx, object); err != nil {
		return o, err
	}
	if o.cluster != nil && o.cluster.Spec.InfrastructureRef.IsDefined() {
		infra := &infrav1.MaasCluster{}
		key := client.ObjectKey{Namespace: object.Namespace, Name: o.cluster.Spec.InfrastructureRef.Name}
		if err := r.Client.Get(ctx, key, infra); client.IgnoreNotFound(err) != nil {
			return o, fmt.Errorf("read the MaasCluster: %w", err)
		} else if err == nil {
			o.infra = infra
		}
	}
	if err := r.observeRemediation(ctx, &o); err != nil {
		return o, err
	}
	if err := r.observePeers(ctx, &o); err != nil {
		return o, err
	}
	if err := r.observeSiblings(ctx, &o); err != nil {
		return o, err
	}
	// It is read from the API server each time, and nobody needs it once the machine was deployed or goes.
	if !o.provisioned() && !o.deleting() {
		err = r.observeBootstrap(ctx, &o)
	}
	return o, err
}

// clusterOf finds the Cluster by the label that Cluster API sets; nil if there is none.
func (r *Reconciler) clusterOf(ctx context.Context, object *infrav1.MaasMachine) (*clusterv1.Cluster, error) {
	name := object.Labels[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: name}, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read the Cluster: %w", err)
	}
	return cluster, nil
}

// observeWorld gathers what MAAS and the workload cluster know; it is done anew before each step.
func (r *Reconciler) observeWorld(ctx context.Context, o *observation) {
	o.now = r.now()
	if !o.current && (o.direct || !r.observeShared(ctx, o)) {
		o.direct = true
		r.observeMAAS(ctx, o)
		o.current = true
	}
	r.observeDNS(ctx, o)
	r.observeNode(ctx, o)
}

// observeDNS reads the record, as far as this machine has to do with it.
func (r *Reconciler) observeDNS(ctx context.Context, o *observation) {
	o.dns = dns{}
	if !o.controlPlane() || o.infra == nil {
		return
	}
	if endpoint.KindOf(o.infra) == infrav1.EndpointExternal {
		o.dns.external = true
		return
	}
	record, ok := endpoint.RecordOf(o.infra)
	o.dns.managed = ok
	if !ok || o.standing != holdsOurs || o.address() == "" && !o.leaving() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	state, err := r.recordOf(ctx, o, record)
	if err != nil {
		o.dns.err = err
		return
	}
	o.dns.addresses = state.Addresses
	o.dns.attached = o.address() != "" && state.Has(o.address())
	o.dns.alone = o.dns.attached && len(state.Addresses) == 1
	o.dns.answered = !o.dns.attached && r.stillAnswered(ctx, o, record.FQDN())
	o.dns.serves = r.apiServerServes(ctx, o)
}

// recordOf reads the record. A machine that leaves must not rely on what was seen before; for the others, who joins compares anew,
// and that a machine at rest is in the record is something that the MaasCluster's reconciler looks after.
func (r *Reconciler) recordOf(ctx context.Context, o *observation, record endpoint.Record) (endpoint.State, error) {
	switch {
	case o.leaving():
		return r.Endpoint.Read(ctx, record)
	case conditions.IsTrue(o.object, infrav1.MachineDNSAttachedCondition):
		return r.Endpoint.Glance(ctx, record, recordAgeAtRest)
	}
	return r.Endpoint.Glance(ctx, record, recordAge)
}

// apiServerServes asks KCP's view, and where there is none, the API server itself.
func (r *Reconciler) apiServerServes(ctx context.Context, o *observation) bool {
	if o.leaving() {
		return false
	}
	if serves, known := apiServerHealthy(o.owner); known {
		return serves
	}
	if o.dns.attached || o.address() == "" || !o.provisioned() || !o.controlPlaneInitialized() {
		return false
	}
	return r.probe(ctx, o.address(), o.port())
}
