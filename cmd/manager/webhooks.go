package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capmaas/cluster-api-provider-maas/internal/webhooks"
)

// newWebhookServer returns a server that reads its certificate anew for every connection. So one that was renewed counts at once,
// without an inotify instance, of which a host may have few; the API server keeps its connections.
func newWebhookServer(port int, certDir string) webhook.Server {
	return webhook.NewServer(webhook.Options{Port: port, TLSOpts: []func(*tls.Config){func(config *tls.Config) {
		config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return readCertificate(certDir) }
	}}})
}

func readCertificate(dir string) (*tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate with which webhooks are served, tls.crt and tls.key in %s: %w", dir, err)
	}
	return &certificate, nil
}

// addWebhooks serves the webhooks, on standbys too, and says that we are ready when they answer.
func addWebhooks(mgr ctrl.Manager, certDir string) error {
	// Better told now than at the first connection.
	if _, err := readCertificate(certDir); err != nil {
		return fmt.Errorf("%w (--webhook-cert-dir names another folder, --webhook-port 0 serves no webhooks)", err)
	}
	if err := webhooks.Setup(mgr); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("add the readiness check of the webhooks: %w", err)
	}
	return nil
}
