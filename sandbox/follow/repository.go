package follow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// providerVersion is the version by which this checkout calls itself in the local repository.
const providerVersion = "v1.0.0"

// makeRepository writes what clusterctl wants of a provider's release, made of this checkout, and a clusterctl configuration that
// leads there, with the variables that fit the sandbox. It returns the path of the configuration.
func makeRepository(ctx context.Context, l host.Layout, image management.Image) (string, error) {
	dir := filepath.Join(l.State, "repo", "infrastructure-maas", providerVersion)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a clusterctl repository: %w", err)
	}
	components, err := management.RenderProvider(ctx, l)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{"infrastructure-components.yaml": components}
	for name, from := range map[string]string{"metadata.yaml": "metadata.yaml", "cluster-template.yaml": "templates/cluster-template.yaml"} {
		text, err := os.ReadFile(filepath.Join(l.Root, from))
		if err != nil {
			return "", fmt.Errorf("making a clusterctl repository: %w", err)
		}
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", fmt.Errorf("making a clusterctl repository: %w", err)
		}
	}
	path := filepath.Join(l.State, "clusterctl.yaml")
	config := fmt.Sprintf(`# For clusterctl --config: the provider MAAS is this checkout, and the variables fit the sandbox.
providers:
- name: maas
  type: InfrastructureProvider
  url: %q
MAAS_DNS_DOMAIN: %s
CONTROL_PLANE_MACHINE_IMAGE: %s
WORKER_MACHINE_IMAGE: %s
KUBERNETES_VERSION: %s
`, filepath.Join(dir, "infrastructure-components.yaml"), management.Domain, image.Name, image.Name, image.KubernetesVersion)
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return "", fmt.Errorf("writing clusterctl's configuration: %w", err)
	}
	return path, nil
}

// generate lets clusterctl make the cluster's objects from the ordinary template.
func generate(ctx context.Context, o Options, config string) ([]byte, error) {
	l := o.Layout
	//nolint:gosec // The program is ours.
	cmd := exec.CommandContext(ctx, l.Bin("clusterctl"), "generate", "cluster", ClusterName,
		"--config", config, "--kubeconfig", l.ManagementKubeconfig(), "--infrastructure", "maas:"+providerVersion,
		"--target-namespace", Namespace, "--kubernetes-version", o.Image.KubernetesVersion,
		"--control-plane-machine-count", strconv.Itoa(o.ControlPlanes), "--worker-machine-count", strconv.Itoa(o.Workers))
	// Nothing of the user's own configuration or variables counts, and no newer version is looked for on the network.
	cmd.Env = append(host.Environment(), "HOME="+l.Run(), "XDG_CONFIG_HOME="+l.Run("config"), "CLUSTERCTL_DISABLE_VERSIONCHECK=true")
	text, err := host.Output(cmd)
	if err != nil {
		return nil, fmt.Errorf("clusterctl generate: %w", err)
	}
	return text, nil
}
