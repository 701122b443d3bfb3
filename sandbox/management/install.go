package management

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// The service account that CAPMAAS's manifests make for its manager.
const (
	managerNamespace = "capmaas-system"
	managerAccount   = "capmaas-manager"
)

// install applies the CRDs and webhooks of Cluster API, and what CAPMAAS's manifests hold.
func (d *Daemon) install(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", d.kubeconfig())
	if err != nil {
		return fmt.Errorf("reading a kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 200, 200
	c, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("connecting to the management cluster: %w", err)
	}
	all, err := d.manifestsOfCAPMAAS(ctx)
	if err != nil {
		return err
	}
	for _, p := range providers() {
		text, err := os.ReadFile(filepath.Join(d.layout.Build, "components", p.components+".yaml"))
		if err != nil {
			return fmt.Errorf("reading the components of %s: %w", p.name, err)
		}
		objects, err := ReadManifests(text)
		if err != nil {
			return fmt.Errorf("components of %s: %w", p.name, err)
		}
		if objects, err = forProcesses(objects, p.webhookPort, d.authority.pem); err != nil {
			return fmt.Errorf("components of %s: %w", p.name, err)
		}
		all = append(all, objects...)
	}
	return Apply(ctx, c, all)
}

// RenderProvider renders CAPMAAS's manifests, as an installation applies them.
func RenderProvider(ctx context.Context, l host.Layout) ([]byte, error) {
	//nolint:gosec // The program is ours.
	text, err := host.Output(exec.CommandContext(ctx, l.Bin("kubectl"), "kustomize", filepath.Join(l.Root, "config", "default")))
	if err != nil {
		return nil, fmt.Errorf("rendering CAPMAAS's manifests: %w", err)
	}
	return text, nil
}

// manifestsOfCAPMAAS are what of an installation counts here. The manager runs as a process with the rights of its service account,
// so that a right that is missing shows.
func (d *Daemon) manifestsOfCAPMAAS(ctx context.Context) ([]*unstructured.Unstructured, error) {
	text, err := RenderProvider(ctx, d.layout)
	if err != nil {
		return nil, err
	}
	objects, err := ReadManifests(text)
	if err == nil {
		objects, err = forProcesses(objects, capmaasWebhookPort, d.authority.pem,
			"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
	}
	if err != nil {
		return nil, fmt.Errorf("manifests of CAPMAAS: %w", err)
	}
	return objects, nil
}
