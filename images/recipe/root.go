package recipe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// root is the machines' root file system: the base, the programs of a node, our files, and a store of container images.
func (r *Recipe) root() build.Step {
	return build.Step{
		Name:  r.name(rootStep),
		Title: "root file system with Kubernetes " + r.version,
		Lane:  build.Assembling,
		Needs: []string{
			baseStep, r.name(KubernetesStep), r.shared(containerdStep), r.shared(runcStep), r.shared(pluginsStep), r.shared(crictlStep),
			r.name(storeStep),
		},
		Files:   []string{r.data("root"), r.data("curtin"), r.code()},
		Keep:    build.NotTest,
		Outputs: []string{r.parts("root", "usr", "bin", "kubelet")},
		Root:    true,
		Run:     r.assembleRoot,
	}
}

func (r *Recipe) assembleRoot(ctx context.Context, s *build.Session) error {
	images, err := r.kubeadmImages(ctx, s)
	if err != nil {
		return err
	}
	pause, err := imageOf(images, "pause")
	if err != nil {
		return err
	}
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	root := filepath.Join(dir, "root")
	// Hard links: no file of the base is ever written to, only replaced.
	if err := s.Exec(ctx, build.Command{Argv: []string{"cp", "-al", r.baseRoot(), root}}); err != nil {
		return err
	}
	if err := r.addPrograms(root); err != nil {
		return err
	}
	for from, to := range map[string]string{"root": "", "curtin": "curtin"} {
		if err := overlayTree(r.data(from), filepath.Join(root, to), map[string]string{"@PAUSE_IMAGE@": pause}); err != nil {
			return err
		}
	}
	if err := s.Exec(ctx, build.Command{Argv: []string{"cp", "-al", r.parts("containerd"), filepath.Join(root, "var", "lib", "containerd")}}); err != nil {
		return err
	}
	return build.ReplaceTree(root, r.parts("root"))
}

// nodeProgram is a program that we add to the root file system.
type nodeProgram struct{ to, from, version string }

func (r *Recipe) nodePrograms() ([]nodeProgram, error) {
	containerd := r.Version("containerd", "github.com/containerd/containerd/v2")
	programs := []nodeProgram{
		{"usr/local/bin/containerd", r.node("containerd"), containerd},
		{"usr/local/bin/containerd-shim-runc-v2", r.node("containerd-shim-runc-v2"), containerd},
		{"usr/local/bin/crictl", r.node("crictl"), r.Version("crictl", "sigs.k8s.io/cri-tools")},
		{"usr/local/bin/ctr", r.node("ctr"), containerd},
		{"usr/local/bin/runc", r.runcProgram(), r.Version("runc", "github.com/opencontainers/runc")},
	}
	for _, name := range r.kubernetesOnNode() {
		programs = append(programs, nodeProgram{"usr/bin/" + name, r.programs(name), r.version})
	}
	plugins, err := filepath.Glob(r.plugin("*"))
	if err != nil {
		return nil, err
	}
	version := r.Version("cni", "github.com/containernetworking/plugins")
	for _, plugin := range plugins {
		programs = append(programs, nodeProgram{filepath.Join("opt/cni/bin", filepath.Base(plugin)), plugin, version})
	}
	return programs, nil
}

func (r *Recipe) addPrograms(root string) error {
	programs, err := r.nodePrograms()
	if err != nil {
		return err
	}
	for _, program := range programs {
		target := filepath.Join(root, program.to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Link(program.from, target); err != nil {
			return fmt.Errorf("adding %s: %w", program.to, err)
		}
	}
	if r.release != nil {
		return nil
	}
	for _, name := range releasedPrograms() {
		if err := build.ReplaceLink("kube", filepath.Join(root, "usr/bin", name)); err != nil {
			return err
		}
	}
	return nil
}
