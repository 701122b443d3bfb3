package recipe

import (
	"context"
	"path/filepath"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// kubernetesPrograms are the names by which the multi-call binary is called.
func kubernetesPrograms() []string {
	return []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubeadm", "kubectl",
		"pod-routes", "hello",
	}
}

func (r *Recipe) kubernetes() build.Step {
	outputs := []string{r.programs("kube"), r.programs("coredns")}
	for _, name := range kubernetesPrograms() {
		outputs = append(outputs, r.programs(name))
		if r.isDefault {
			outputs = append(outputs, r.Bin(name))
		}
	}
	flags := build.StampVersion(r.version, "k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
	compile := build.GoProgram{
		Module:   r.Component(r.component),
		Packages: []string{"./kube", "./coredns"},
		Linker:   flags,
		Place:    map[string]string{"kube": r.programs("kube"), "coredns": r.programs("coredns")},
		Links:    kubernetesPrograms(),
	}
	return build.Step{
		Name:    r.name(KubernetesStep),
		Title:   "Kubernetes " + r.version,
		Lane:    build.Compiling,
		Files:   r.kubernetesSources(),
		Keep:    build.NotTest,
		Facts:   append([]string{flags}, kubernetesPrograms()...),
		Outputs: outputs,
		Run:     build.OneAfterTheOther(compile.Build, r.linkPrograms),
	}
}

// kubernetesSources are what the programs are made of besides modules: the component, the programs of ours that go into the same binary,
// and, because the mains of other versions are links to those of the default one, these.
func (r *Recipe) kubernetesSources() []string {
	sources := []string{r.Component(r.component), r.Component("workload")}
	if !r.isDefault {
		sources = append(sources, r.Component(defaultComponent, "kube"), r.Component(defaultComponent, "coredns"))
	}
	return sources
}

// kubernetesOnNode are the programs of Kubernetes that a machine has outside of container images: compiled ones are all in one.
func (r *Recipe) kubernetesOnNode() []string {
	if r.release != nil {
		return releasedPrograms()
	}
	return []string{"kube"}
}

// linkPrograms makes the default version the one that is run on this host.
func (r *Recipe) linkPrograms(context.Context, *build.Session) error {
	if !r.isDefault {
		return nil
	}
	for _, name := range kubernetesPrograms() {
		target, err := filepath.Rel(r.Bin(), r.programs(name))
		if err != nil {
			return err
		}
		if err := build.ReplaceLink(target, r.Bin(name)); err != nil {
			return err
		}
	}
	return nil
}
