package controllers

import (
	"context"
	"fmt"
	"net"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maascluster"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachine"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachinetemplate"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasremediation"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Options say how the controllers run.
type Options struct {
	// MAAS is the client that all controllers share.
	MAAS *maas.Client
	// Clock sees the answers that MAAS gives to that client; nil means that clocks are not compared.
	Clock *checks.Clock
	// Metrics show what is found of MAAS; nil means nobody does.
	Metrics *telemetry.Metrics
	// Version is ours, for user agents.
	Version string
	// MachineConcurrency is how many MaasMachines are reconciled at a time.
	MachineConcurrency int
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
}

// clusterConcurrency is how many MaasClusters are reconciled at a time. One would do but for a MAAS that hangs: each then waits
// half a minute.
const clusterConcurrency = 4

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
	rejoin := maasmachine.NewRejoin()
	standing := checks.New(checks.Config{MAAS: options.MAAS, Identity: user, Clock: options.Clock, Metrics: options.Metrics})
	if err := mgr.Add(standing); err != nil {
		return fmt.Errorf("add the checks of MAAS: %w", err)
	}
	names := checks.NewNames(nil, nil)
	if err := mgr.Add(names); err != nil {
		return fmt.Errorf("add the look-up of endpoints: %w", err)
	}
	publisher := endpoint.NewPublisher(options.MAAS)
	publisher.Changed = rejoin.Tell
	cluster := &maascluster.Reconciler{
		Client:       mgr.GetClient(),
		Endpoint:     publisher,
		Identity:     user,
		Checks:       standing,
		Names:        names,
		ClusterCache: clusters,
		Recorder:     mgr.GetEventRecorder(FieldManager),
		WatchFilter:  options.WatchFilter,
	}
	if err := cluster.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: clusterConcurrency}); err != nil {
		return err
	}
	machines := inventory.New(options.MAAS, nil)
	if err := mgr.Add(machines); err != nil {
		return fmt.Errorf("add the inventory of machines: %w", err)
	}
	template := &maasmachinetemplate.Reconciler{Client: mgr.GetClient(), Inventory: machines, Host: options.MAAS.Host(), WatchFilter: options.WatchFilter}
	if err := template.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: 1}); err != nil {
		return err
	}
	remediation := &maasremediation.Reconciler{
		Client:      mgr.GetClient(),
		Reader:      mgr.GetAPIReader(),
		MAAS:        options.MAAS,
		Identity:    user,
		Inventory:   machines,
		Recorder:    mgr.GetEventRecorder(FieldManager),
		WatchFilter: options.WatchFilter,
	}
	if err := remediation.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	machine := &maasmachine.Reconciler{
		Client:       mgr.GetClient(),
		MAAS:         options.MAAS,
		Endpoint:     publisher,
		Identity:     user,
		Inventory:    machines,
		Reservations: &placement.Reservations{},
		Checks:       standing,
		Rejoin:       rejoin,
		LookUp:       net.DefaultResolver.LookupHost,
		ClusterCache: clusters,
		Recorder:     mgr.GetEventRecorder(FieldManager),
		WatchFilter:  options.WatchFilter,
	}
	return machine.SetupWithManager(ctx, mgr, controller.Options{MaxConcurrentReconciles: max(options.MachineConcurrency, 1)})
}
