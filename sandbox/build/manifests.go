package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manifests renders what Cluster API's releases call components, straight from its module.
func (p *project) manifests() step {
	folders := map[string]string{
		"core":                  "core/config/default",
		"kubeadm-bootstrap":     "bootstrap/kubeadm/config/default",
		"kubeadm-control-plane": "controlplane/kubeadm/config/default",
	}
	const module = "sigs.k8s.io/cluster-api"
	outputs := []string{p.path("components", "metadata.yaml")}
	for name := range folders {
		outputs = append(outputs, p.path("components", name+".yaml"))
	}
	return step{
		name:    manifestsStep,
		title:   "manifests of Cluster API",
		lane:    assembling,
		needs:   []string{kubernetesStep},
		files:   []string{p.component("kubernetes", "go.mod"), p.recipes()},
		keep:    notTest,
		outputs: outputs,
		run: func(ctx context.Context, s *session) error {
			source, err := s.moduleFolder(ctx, p.component("kubernetes"), module)
			if err != nil {
				return err
			}
			for name, folder := range folders {
				content, err := s.output(ctx, command{argv: []string{p.bin("kubectl"), "kustomize", filepath.Join(source, folder)}})
				if err != nil {
					return err
				}
				if err := replaceFile(p.path("components", name+".yaml"), []byte(content), 0o644); err != nil {
					return err
				}
			}
			metadata, err := os.ReadFile(filepath.Join(source, "metadata.yaml"))
			if err != nil {
				return fmt.Errorf("reading which releases of Cluster API speak which contract: %w", err)
			}
			return replaceFile(p.path("components", "metadata.yaml"), metadata, 0o644)
		},
	}
}

// moduleFolder is where Go keeps the sources of a module; they are downloaded if need be.
func (s *session) moduleFolder(ctx context.Context, from, module string) (string, error) {
	env := goProgram{}.environment()
	if err := s.exec(ctx, command{argv: []string{"go", "mod", "download", module}, dir: from, env: env}); err != nil {
		return "", err
	}
	out, err := s.output(ctx, command{argv: []string{"go", "list", "-m", "-f", "{{.Dir}}", module}, dir: from, env: env})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out), nil
}
