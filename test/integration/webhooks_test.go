package integration

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/webhooks"
)

// serveWebhooks installs the webhooks as an installation has them, and answers them in this process, for all tests. The function
// that it returns ends that.
func serveWebhooks(ctx context.Context) (stop func() error, err error) {
	options := envtest.WebhookInstallOptions{Paths: []string{filepath.Join(checkout, "config/webhook/manifests.yaml")}}
	if err := options.Install(suite.config); err != nil {
		return nil, fmt.Errorf("install our webhooks: %w", err)
	}
	suite.webhookCerts = options.LocalServingCertDir
	certificate, err := tls.LoadX509KeyPair(filepath.Join(suite.webhookCerts, "tls.crt"), filepath.Join(suite.webhookCerts, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate of our webhooks: %w", err)
	}
	mgr, err := ctrl.NewManager(suite.config, ctrl.Options{
		Scheme: suite.client.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort,
			TLSOpts: []func(*tls.Config){func(config *tls.Config) {
				config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate, nil }
			}},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("make the server of our webhooks: %w", err)
	}
	if err := webhooks.Setup(mgr); err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := mgr.Start(serving)
		cancel(fmt.Errorf("the server of our webhooks ended: %w", err))
		ended <- err
	}()
	stop = func() error {
		cancel(nil)
		return <-ended
	}
	if err := waitForWebhooks(serving); err != nil {
		_ = stop()
		return nil, err
	}
	return stop, nil
}

// waitForWebhooks waits until the API server asks the webhook of every kind.
func waitForWebhooks(ctx context.Context) error {
	machine, template := &infrav1.MaasMachine{}, &infrav1.MaasMachineTemplate{}
	machine.Spec.Image, template.Spec.Template.Spec.Image = "a b", "a b"
	for _, probe := range []client.Object{&infrav1.MaasCluster{Spec: infrav1.MaasClusterSpec{DNSDomain: "a b"}}, machine, template} {
		probe.SetNamespace("default")
		probe.SetName("probe")
		said := "nothing"
		err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := suite.client.Create(ctx, probe.DeepCopyObject().(client.Object), client.DryRunAll)
			if ctx.Err() == nil {
				said = fmt.Sprint(err)
			}
			return strings.Contains(said, "denied the request"), nil
		})
		if err != nil {
			return fmt.Errorf("wait for the webhook of %T: %w; the API server says: %s", probe, errors.Join(err, context.Cause(ctx)), said)
		}
	}
	return nil
}
