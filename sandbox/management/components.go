package management

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

const (
	etcdURL      = "http://127.0.0.1:2379"
	etcdPeerURL  = "http://127.0.0.1:2380"
	apiServerURL = "https://" + host.Region + ":6443"
)

// provider is a manager of Cluster API.
type provider struct {
	// name of its program, and file of its components without the program's prefix.
	name, components, namespace, features string
	healthPort, webhookPort, metricsPort  int
}

func providers() []provider {
	return []provider{
		{
			name: "capi-core", components: "core", namespace: "capi-system", features: "ClusterTopology=true",
			healthPort: 9541, webhookPort: 9441, metricsPort: 9641,
		},
		{
			name: "capi-kubeadm-bootstrap", components: "kubeadm-bootstrap", namespace: "capi-kubeadm-bootstrap-system",
			healthPort: 9542, webhookPort: 9442, metricsPort: 9642,
		},
		{
			name: "capi-kubeadm-control-plane", components: "kubeadm-control-plane", namespace: "capi-kubeadm-control-plane-system",
			features: "ClusterTopology=true", healthPort: 9543, webhookPort: 9443, metricsPort: 9643,
		},
	}
}

func (d *Daemon) etcd() component {
	return component{
		name: "etcd", program: d.layout.Bin("etcd"),
		args: []string{
			"--data-dir", d.layout.Run("etcd"), "--unsafe-no-fsync",
			"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
			"--listen-peer-urls", etcdPeerURL, "--initial-advertise-peer-urls", etcdPeerURL, "--initial-cluster", "default=" + etcdPeerURL,
		},
		ready: answersOK(http.DefaultClient, etcdURL+"/health"),
	}
}

func (d *Daemon) apiServer() component {
	pki := func(name string) string { return d.layout.Run("pki", name) }
	return component{
		name: "kube-apiserver", program: d.layout.Bin("kube-apiserver"),
		args: []string{
			"--etcd-servers", etcdURL, "--bind-address", host.Region, "--secure-port", "6443", "--advertise-address", host.Region,
			// There is no node on which a pod could look for the server.
			"--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16",
			"--tls-cert-file", pki("apiserver.crt"), "--tls-private-key-file", pki("apiserver.key"), "--client-ca-file", pki("ca.crt"),
			"--service-account-key-file", pki("service-accounts.key"), "--service-account-signing-key-file", pki("service-accounts.key"),
			"--service-account-issuer", "https://kubernetes.default.svc", "--authorization-mode", "RBAC",
			// Nobody makes service accounts, and nobody runs pods.
			"--disable-admission-plugins", "ServiceAccount",
		},
		ready: answersOK(d.apiClient(), apiServerURL+"/readyz"),
	}
}

// garbageCollector removes what belongs to objects that are gone, as Cluster API and CAPMAAS rely on.
func (d *Daemon) garbageCollector() component {
	return component{
		name: "kube-controller-manager", program: d.layout.Bin("kube-controller-manager"),
		args: []string{
			"--kubeconfig", d.kubeconfig(), "--controllers", "garbage-collector-controller,namespace-controller",
			"--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", "10257",
		},
	}
}

func (d *Daemon) provider(p provider) component {
	args := []string{
		"--health-addr", fmt.Sprintf("127.0.0.1:%d", p.healthPort), "--webhook-port", fmt.Sprint(p.webhookPort),
		"--webhook-cert-dir", d.layout.Run("pki", "webhooks"),
		"--diagnostics-address", fmt.Sprintf("127.0.0.1:%d", p.metricsPort), "--insecure-diagnostics", "--leader-elect=false",
	}
	if p.features != "" {
		args = append(args, "--feature-gates", p.features)
	}
	return component{
		name: p.name, program: d.layout.Bin(p.name), args: args,
		env: []string{
			"KUBECONFIG=" + d.kubeconfig(), "POD_NAMESPACE=" + p.namespace, "POD_NAME=" + p.name,
			"POD_UID=00000000-0000-4000-8000-000000000000",
		},
		ready: answersOK(http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/readyz", p.healthPort)),
	}
}

// capmaasWebhookPort is where CAPMAAS serves its webhooks.
const capmaasWebhookPort = 9444

// capmaas is the provider under development.
func (d *Daemon) capmaas() component {
	return component{
		name: "capmaas", program: d.layout.Bin("manager"),
		args: []string{
			"--metrics-bind-addr", "127.0.0.1:8080", "--health-addr", "127.0.0.1:9440",
			"--webhook-port", fmt.Sprint(capmaasWebhookPort), "--webhook-cert-dir", d.layout.Run("pki", "webhooks"),
		},
		env: []string{
			"KUBECONFIG=" + d.managerKubeconfig(), "POD_NAMESPACE=" + managerNamespace, "POD_NAME=capmaas",
			"MAAS_ENDPOINT=" + regionURL, "MAAS_API_KEY=" + d.apiKey,
		},
		ready: answersOK(http.DefaultClient, "http://127.0.0.1:9440/readyz"),
	}
}

// apiClient trusts the management cluster's certificate authority.
func (d *Daemon) apiClient() *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(d.authority.certificate)
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// answersOK asks a health endpoint.
func answersOK(c *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := c.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s: %s", url, answer.Status, text)
		}
		return nil
	}
}
