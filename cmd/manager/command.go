package main

import (
	"flag"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/capmaas/cluster-api-provider-maas/internal/environment"
)

// options are the command line's values.
type options struct {
	metricsAddr        string
	machineConcurrency int
	leaderElect        bool
	syncPeriod         time.Duration
	healthAddr         string
	webhookPort        int
	webhookCertDir     string
	namespace          string
	watchFilter        string
}

func newCommand() *cobra.Command {
	var o options
	logOptions := logs.NewOptions()
	command := &cobra.Command{
		Use:   "manager",
		Short: "Run the Cluster API infrastructure provider for MAAS",
		Long:  "Run the Cluster API infrastructure provider for MAAS.\n\n" + environment.Usage,
		Args:  cobra.NoArgs,
		// main prints errors, in one line.
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := logsv1.ValidateAndApply(logOptions, nil); err != nil {
				return err
			}
			ctrl.SetLogger(klog.Background())
			return run(command.Context(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.metricsAddr, "metrics-bind-addr", ":8080", "Address on which metrics are served; 0 for nowhere.")
	flags.IntVar(&o.machineConcurrency, "machine-concurrency", 2, "How many MaasMachines are worked on at a time.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "Wait until no other manager is at work.")
	flags.DurationVar(&o.syncPeriod, "sync-period", 120*time.Minute, "How often all objects are looked at, whatever happens.")
	flags.StringVar(&o.healthAddr, "health-addr", ":9440", "Address on which /healthz and /readyz are served.")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "Port on which webhooks are served; 0 for nowhere, outside of a cluster.")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs",
		"Folder with tls.crt and tls.key, the certificate with which webhooks are served.")
	flags.StringVar(&o.namespace, "namespace", "", "The only namespace to watch; empty for all.")
	flags.StringVar(&o.watchFilter, "watch-filter", "",
		"Work only on objects whose label cluster.x-k8s.io/watch-filter has this value; empty for all.")
	// controller-runtime reads this one from Go's own flags.
	flags.AddGoFlag(flag.Lookup(config.KubeconfigFlagName))
	logsv1.AddFlags(logOptions, flags)
	return command
}
