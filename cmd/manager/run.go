package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/internal/environment"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// leaderElectionID is that of the provider before this one, so that the two never work at the same time.
const leaderElectionID = "controller-leader-election-capmaas"

// run starts the manager and returns when ctx ends or something fails for good.
func run(ctx context.Context, o options) error {
	version := buildVersion()
	userAgent := controllers.UserAgent(version)
	counters, err := telemetry.NewMetrics(metrics.Registry, version)
	if err != nil {
		return fmt.Errorf("register the metrics: %w", err)
	}
	clock := checks.NewClock(nil)
	client, err := environment.NewMAAS(os.Getenv, func(call maas.Call) { counters.Observe(call); clock.Observe(call) }, userAgent)
	if err != nil {
		return err
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the management cluster (give --kubeconfig or KUBECONFIG outside of a pod): %w", err)
	}
	config.UserAgent = userAgent
	// Drops the warning about our finalizers' names, which are those of existing objects.
	config.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("api-server"))
	managerOptions, err := controllers.ManagerOptions(scheme, o.namespace, o.syncPeriod)
	if err != nil {
		return err
	}
	managerOptions.LeaderElection = o.leaderElect
	managerOptions.LeaderElectionID = leaderElectionID
	managerOptions.LeaderElectionReleaseOnCancel = true
	managerOptions.HealthProbeBindAddress = o.healthAddr
	managerOptions.Metrics = metricsserver.Options{BindAddress: o.metricsAddr}
	managerOptions.WebhookServer = newWebhookServer(o.webhookPort, o.webhookCertDir)
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if err := addProbes(mgr); err != nil {
		return err
	}
	if o.webhookPort != 0 {
		if err := addWebhooks(mgr, o.webhookCertDir); err != nil {
			return err
		}
	}
	err = controllers.Setup(ctx, mgr, controllers.Options{
		MAAS:               client,
		Clock:              clock,
		Metrics:            counters,
		Version:            version,
		MachineConcurrency: o.machineConcurrency,
		WatchFilter:        o.watchFilter,
	})
	if err != nil {
		return err
	}
	ctrl.Log.WithName("setup").Info("Starting", "version", version, "maas", client.Endpoint(), "namespace", o.namespace)
	return mgr.Start(ctx)
}

// addProbes says that we live. A MAAS that is down is no reason to restart us.
func addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	return nil
}

// buildVersion is what the Go command knows of the program it built.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
