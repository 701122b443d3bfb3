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

// newKubeconfig is the kubeconfig of a user with a client certificate, for the management cluster.
func newKubeconfig(authority []byte, user pair) ([]byte, error) {
	const name = "management" // of everything in it
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: apiServerURL, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: user.certificate, ClientKeyData: user.key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return text, nil
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
