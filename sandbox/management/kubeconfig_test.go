package management

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://t-cluster-ab12cd.maas.sandbox:6443", certificate-authority-data: Y2E=}}]
users: [{name: u, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func TestThroughPortConnectsToThePortAndAsksForTheName(t *testing.T) {
	t.Parallel()
	text, err := ThroughPort([]byte(kubeconfig), 12345)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	cluster := config.Clusters["c"]
	if cluster.Server != "https://127.0.0.1:12345" || cluster.TLSServerName != "t-cluster-ab12cd.maas.sandbox" {
		t.Errorf("server %q, name %q", cluster.Server, cluster.TLSServerName)
	}
	if string(cluster.CertificateAuthorityData) != "ca" || string(config.AuthInfos["u"].ClientKeyData) != "key" || config.CurrentContext != "x" {
		t.Error("what the kubeconfig held beside the server is lost")
	}
	// Once more changes the port alone.
	if text, err = ThroughPort(text, 23456); err != nil || !strings.Contains(string(text), "tls-server-name: t-cluster-ab12cd.maas.sandbox") {
		t.Errorf("a second time: %v\n%s", err, text)
	}
}

func TestThroughPortRefusesWhatIsNoKubeconfig(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "clusters: [{name: c, cluster: {server: ''}}]", "\tx"} {
		if out, err := ThroughPort([]byte(text), 1); err == nil {
			t.Errorf("ThroughPort(%q) = %q", text, out)
		}
	}
}
