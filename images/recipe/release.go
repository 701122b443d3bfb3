package recipe

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// What an image's programs and container images are: compiled here, or released by their projects.
const (
	BinariesSource  = "source"
	BinariesRelease = "release"
)

// Sites are where the projects' released programs and container images are found. A mirror has the same paths.
type Sites struct {
	// Kubernetes is the address before /v1.36.3/bin/linux/amd64/kubelet.
	Kubernetes string
	// GitHub is the address before /containerd/containerd/releases.
	GitHub string
	// Registry is taken in the place of the registry in the names that kubeadm gives, as host or host/path; empty means as named. The
	// images keep their names.
	Registry string
}

// UpstreamSites are those of the projects themselves.
func UpstreamSites() Sites {
	return Sites{Kubernetes: "https://dl.k8s.io/release", GitHub: "https://github.com"}
}

// NewReleased is the recipe that takes released programs and container images instead of compiling them. Any released version of
// Kubernetes will do, also one that no component pins; the other programs are of the versions that the components pin. Such an image has
// no container images of the sandbox's own, so the sandbox cannot boot it.
func NewReleased(p *build.Project, version string, sites Sites) (*Recipe, error) {
	version = WholeVersion(p, version)
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`).MatchString(version) {
		return nil, fmt.Errorf("%q is no version of Kubernetes: give it in full, such as %s", version, DefaultVersion(p))
	}
	return &Recipe{Project: p, version: version, release: &sites}, nil
}

// binaries says where the programs come from: BinariesSource or BinariesRelease.
func (r *Recipe) binaries() string {
	if r.release != nil {
		return BinariesRelease
	}
	return BinariesSource
}

// ReleasedFile is the finished image of a version with released binaries, in the output folder out. Only the file has another name than
// that of compiled ones: in MAAS both are one boot resource.
func ReleasedFile(out, version string) string {
	return strings.TrimSuffix(File(out, version), ".tar.gz") + "-" + BinariesRelease + ".tar.gz"
}

// variant is what steps and folders of released programs have in their names, so that both kinds lie side by side.
func (r *Recipe) variant(separator string) string {
	if r.release != nil {
		return separator + BinariesRelease
	}
	return ""
}

// titleEnd is what people read in MAAS of an image that the sandbox cannot boot.
func (r *Recipe) titleEnd() string {
	if r.release != nil {
		return ", released binaries; not for the sandbox"
	}
	return ""
}

// shared is the name of a step whose outputs do not depend on the version of Kubernetes.
func (r *Recipe) shared(step string) string { return step + r.variant("-") }

// releasedSteps put released programs where those that are compiled would be. They wait for the network, so they are in the lane that has
// nothing to compile, beside the making of the base.
func (r *Recipe) releasedSteps() []build.Step {
	return []build.Step{
		r.downloading(r.name(KubernetesStep), "Kubernetes "+r.version, r.releasedKubernetes()),
		r.downloading(r.shared(containerdStep), "containerd", r.releasedContainerd()),
		r.downloading(r.shared(runcStep), "runc", r.releasedRunc()),
		r.downloading(r.shared(pluginsStep), "network plugins", r.releasedPlugins()),
		r.downloading(r.shared(crictlStep), "crictl", r.releasedCrictl()),
		r.releasedImages(),
	}
}

// released is a file that a project offers, with the checksums that it publishes beside it.
type released struct {
	url, sums string
	// place says where the programs of an archive go, by their names in it.
	place map[string]string
	// program is where the file goes, if it is no archive but a program.
	program string
}

// outputs are the programs.
func (f released) outputs() []string {
	if f.program != "" {
		return []string{f.program}
	}
	return slices.Sorted(maps.Values(f.place))
}

func (r *Recipe) releasedKubernetes() []released {
	var files []released
	for _, name := range releasedPrograms() {
		url := fmt.Sprintf("%s/%s/bin/linux/%s/%s", r.release.Kubernetes, r.version, runtime.GOARCH, name)
		files = append(files, released{url: url, sums: url + ".sha256", program: r.programs(name)})
	}
	return files
}

// releasedPrograms are those of Kubernetes that a machine has outside of container images.
func releasedPrograms() []string { return []string{"kubelet", "kubeadm", "kubectl"} }

// releasedContainerd is the variant of containerd that is linked statically: the other needs a C library as new as that of its build.
func (r *Recipe) releasedContainerd() []released {
	version := r.Version("containerd", "github.com/containerd/containerd/v2")
	url := r.onGitHub("containerd/containerd", version,
		fmt.Sprintf("containerd-static-%s-linux-%s.tar.gz", strings.TrimPrefix(version, "v"), runtime.GOARCH))
	place := make(map[string]string)
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		place["bin/"+name] = r.node(name)
	}
	return []released{{url: url, sums: url + ".sha256sum", place: place}}
}

func (r *Recipe) releasedRunc() []released {
	version := r.Version("runc", "github.com/opencontainers/runc")
	return []released{{
		url:     r.onGitHub("opencontainers/runc", version, "runc."+runtime.GOARCH),
		sums:    r.onGitHub("opencontainers/runc", version, "runc.sha256sum"),
		program: r.runcProgram(),
	}}
}

func (r *Recipe) releasedPlugins() []released {
	version := r.Version("cni", "github.com/containernetworking/plugins")
	url := r.onGitHub("containernetworking/plugins", version, fmt.Sprintf("cni-plugins-linux-%s-%s.tgz", runtime.GOARCH, version))
	return []released{{url: url, sums: url + ".sha256", place: r.pluginPlaces()}}
}

func (r *Recipe) releasedCrictl() []released {
	version := r.Version("crictl", "sigs.k8s.io/cri-tools")
	url := r.onGitHub("kubernetes-sigs/cri-tools", version, fmt.Sprintf("crictl-%s-linux-%s.tar.gz", version, runtime.GOARCH))
	return []released{{url: url, sums: url + ".sha256", place: map[string]string{"crictl": r.node("crictl")}}}
}

func (r *Recipe) onGitHub(repository, version, file string) string {
	return fmt.Sprintf("%s/%s/releases/download/%s/%s", r.release.GitHub, repository, version, file)
}
