package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
)

// manifests renders what Cluster API's releases call components, straight from its module.
func manifests(p *build.Project) build.Step {
	folders := map[string]string{
		"core":                  "core/config/default",
		"kubeadm-bootstrap":     "bootstrap/kubeadm/config/default",
		"kubeadm-control-plane": "controlplane/kubeadm/config/default",
	}
	const module = "sigs.k8s.io/cluster-api"
	outputs := []string{p.Path("components", "metadata.yaml")}
	for name := range folders {
		outputs = append(outputs, p.Path("components", name+".yaml"))
	}
	return build.Step{
		Name:    "manifests",
		Title:   "manifests of Cluster API",
		Lane:    build.Assembling,
		Needs:   []string{recipe.KubernetesStep},
		Files:   []string{p.Component("kubernetes", "go.mod"), p.Source("sandbox", "build")},
		Keep:    build.NotTest,
		Outputs: outputs,
		Run: func(ctx context.Context, s *build.Session) error {
			source, err := s.ModuleFolder(ctx, p.Component("kubernetes"), module)
			if err != nil {
				return err
			}
			for name, folder := range folders {
				content, err := s.Output(ctx, build.Command{Argv: []string{p.Bin("kubectl"), "kustomize", filepath.Join(source, folder)}})
				if err != nil {
					return err
				}
				if err := build.ReplaceFile(p.Path("components", name+".yaml"), []byte(content), 0o644); err != nil {
					return err
				}
			}
			metadata, err := os.ReadFile(filepath.Join(source, "metadata.yaml"))
			if err != nil {
				return fmt.Errorf("reading which releases of Cluster API speak which contract: %w", err)
			}
			return build.ReplaceFile(p.Path("components", "metadata.yaml"), metadata, 0o644)
		},
	}
}
