package controllers

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maascluster"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachine"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Options say how the controllers run.
type Options struct {
	// MAAS is the client that all controllers share.
	MAAS *maas.Client
	// Version is ours, for user agents.
	Version string
	// MachineConcurrency is how many MaasMachines are reconciled at a time.
	MachineConcurrency int
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
}

// Setup adds all controllers to a manager that was made with ManagerOptions. MAAS is not asked anything yet.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) error {
	clusters, err := newClusterCache(ctx, mgr, options)
	if err != nil {
		return fmt.Errorf("set up the cache of workload clusters: %w", err)
	}
	user := identity.New(options.MAAS)
	if err := mgr.Add(user); err != nil {
		return fmt.Errorf("add the MAAS identity: %w", err)
	}
	publisher := endpoint.NewPublisher(options.MAAS)
	cluster := &maascluster.Reconciler{
		Client:       mgr.GetClient(),
		Endpoint:     publisher,
		Identity:     user,
		ClusterCache: clusters,
		Recorder:     mgr.GetEventRecorder(FieldManager),
		WatchFilter:  options.WatchFilter,
	}
	if err := cluster.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 1}); err != nil {
		return err
	}
	machines := inventory.New(options.MAAS, nil)
	if err := mgr.Add(machines); err != nil {
		return fmt.Errorf("add the inventory of machines: %w", err)
	}
	machine := &maasmachine.Reconciler{
		Client:       mgr.GetClient(),
		MAAS:         options.MAAS,
		Endpoint:     publisher,
		Identity:     user,
		Inventory:    machines,
		Reservations: &placement.Reservations{},
		ClusterCache: clusters,
		Recorder:     mgr.GetEventRecorder(FieldManager),
		WatchFilter:  options.WatchFilter,
	}
	return machine.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: max(options.MachineConcurrency, 1)})
}
