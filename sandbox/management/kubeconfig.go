package management

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// newKubeconfig is a kubeconfig for one cluster and one user with a client certificate.
func newKubeconfig(cluster, server string, authority []byte, user pair) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: user.certificate, ClientKeyData: user.key}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: "admin", Namespace: "default"}
	config.CurrentContext = cluster
	return config
}

// ThroughPort rewrites a kubeconfig so that it works from the host: it connects to a port of the loopback, and still asks for, and
// checks, the name that the server really has. The forwarder finds the way by that name.
func ThroughPort(kubeconfig []byte, port int) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(config.Clusters) == 0 {
		return nil, errors.New("the kubeconfig names no cluster")
	}
	for _, cluster := range config.Clusters {
		server, err := url.Parse(cluster.Server)
		if err != nil || server.Hostname() == "" {
			return nil, fmt.Errorf("the kubeconfig's server %q is no address", cluster.Server)
		}
		if cluster.TLSServerName == "" {
			cluster.TLSServerName = server.Hostname()
		}
		cluster.Server = fmt.Sprintf("https://127.0.0.1:%d", port)
	}
	return clientcmd.Write(*config)
}

// WriteKubeconfig replaces a kubeconfig in one step, for programs may be reading it.
func WriteKubeconfig(path string, text []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}
