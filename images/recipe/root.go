package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
			baseStep, r.name(KubernetesStep), containerdStep, runcStep, pluginsStep, crictlStep, r.name(storeStep),
		},
		Files:   []string{r.data("root"), r.data("curtin"), r.code()},
		Keep:    build.NotTest,
		Outputs: []string{r.parts("root", "usr", "bin", "kubelet")},
		Root:    true,
		Run:     r.assembleRoot,
	}
}

// data is a place among the files that end up in the image.
func (r *Recipe) data(name ...string) string {
	return r.Source(append([]string{"images", distribution}, name...)...)
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

// nodePrograms are the programs that we add, by where they go in the root file system.
func (r *Recipe) nodePrograms() (map[string]string, error) {
	programs := map[string]string{
		"usr/bin/kube":                          r.programs("kube"),
		"usr/local/bin/runc":                    r.Bin("runc"),
		"usr/local/bin/containerd":              r.node("containerd"),
		"usr/local/bin/containerd-shim-runc-v2": r.node("containerd-shim-runc-v2"),
		"usr/local/bin/ctr":                     r.node("ctr"),
		"usr/local/bin/crictl":                  r.node("crictl"),
	}
	plugins, err := filepath.Glob(r.plugin("*"))
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		programs[filepath.Join("opt/cni/bin", filepath.Base(plugin))] = plugin
	}
	return programs, nil
}

func (r *Recipe) addPrograms(root string) error {
	programs, err := r.nodePrograms()
	if err != nil {
		return err
	}
	for to, from := range programs {
		target := filepath.Join(root, to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Link(from, target); err != nil {
			return fmt.Errorf("adding %s: %w", to, err)
		}
	}
	for _, name := range []string{"kubelet", "kubeadm", "kubectl"} {
		if err := build.ReplaceLink("kube", filepath.Join(root, "usr/bin", name)); err != nil {
			return err
		}
	}
	return nil
}
