package management

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	if d.client, err = client.New(config, client.Options{}); err != nil {
		return fmt.Errorf("connecting to the management cluster: %w", err)
	}
	all, err := d.manifestsOfCAPMAAS(ctx)
	if err != nil {
		return err
	}
	for _, p := range providers() {
		text, err := os.ReadFile(d.layout.Build + "/components/" + p.components + ".yaml")
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
	return Apply(ctx, d.client, all)
}

// manifestsOfCAPMAAS renders what an installation applies. Its manager runs as a process with the rights of its service account,
// so that a right that is missing shows here; its Deployment and the Secret with the key have no use.
func (d *Daemon) manifestsOfCAPMAAS(ctx context.Context) ([]*unstructured.Unstructured, error) {
	//nolint:gosec // The program is ours.
	text, err := exec.CommandContext(ctx, d.layout.Bin("kubectl"), "kustomize", d.layout.Root+"/config/default").Output()
	if err != nil {
		return nil, fmt.Errorf("rendering CAPMAAS's manifests: %w", commandError(err))
	}
	objects, err := ReadManifests(text)
	if err != nil {
		return nil, fmt.Errorf("manifests of CAPMAAS: %w", err)
	}
	return slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "Deployment" || object.GetKind() == "Secret"
	}), nil
}

// commandError adds what a program said to how it ended.
func commandError(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}
