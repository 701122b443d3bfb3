// Package recipe makes the machine image: a Debian root file system with Kubernetes in it, packed as MAAS takes custom images. The
// files that end up in it, and the list of Debian packages, are in images/debian-12; what is compiled is pinned in images/components.
package recipe

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// Names of steps. Those that depend on the version of Kubernetes carry it, unless it is the default one.
const (
	// KubernetesStep makes the programs of Kubernetes, also those that run on this host.
	KubernetesStep = "kubernetes"

	packagesStep   = "packages"
	containerdStep = "containerd"
	runcStep       = "runc"
	pluginsStep    = "cni"
	crictlStep     = "crictl"
	pauseStep      = "pause"
	baseStep       = "base"
	containersStep = "container-images"
	storeStep      = "store"
	rootStep       = "rootfs"
	imageStep      = "image"
)

// distribution is what machines run, as it stands in the image's name.
const distribution = "debian-12"

// epoch is the time of all files that the build makes: when an image was built must not change what is in it.
func epoch() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Recipe makes the image of one version of Kubernetes.
type Recipe struct {
	*build.Project
	// version of Kubernetes, with its leading v; component is the folder under components that pins it.
	version, component string
	isDefault          bool
	// release, when set, is where released binaries are taken from, instead of compiling.
	release *Sites
}

// New is the recipe for a version of Kubernetes, with or without its leading v; "" is the default one, which the sandbox's own control
// plane runs. It is an error if no component pins that version.
func New(p *build.Project, version string) (*Recipe, error) {
	pinned, err := pinnedVersions(p)
	if err != nil {
		return nil, err
	}
	version = WholeVersion(p, version)
	component, found := pinned[version]
	if !found {
		return nil, fmt.Errorf("there is no Kubernetes %s here, only %s: images/components/README.md tells how to add a version, and BINARIES=release takes any that was released",
			version, strings.Join(slices.Sorted(maps.Keys(pinned)), " and "))
	}
	return &Recipe{Project: p, version: version, component: component, isDefault: component == defaultComponent}, nil
}

// defaultComponent pins the version of Kubernetes that the sandbox's own control plane runs.
const defaultComponent = "kubernetes"

// DefaultVersion is the version of Kubernetes that is made when none is asked for.
func DefaultVersion(p *build.Project) string { return p.Version(defaultComponent, "k8s.io/kubernetes") }

// WholeVersion is a version of Kubernetes as people may write it, with its leading v; "" is the default one.
func WholeVersion(p *build.Project, version string) string {
	if version == "" {
		return DefaultVersion(p)
	}
	return "v" + strings.TrimPrefix(version, "v")
}

// pinnedVersions finds the components that pin a version of Kubernetes, by that version.
func pinnedVersions(p *build.Project) (map[string]string, error) {
	files, err := filepath.Glob(p.Component("kubernetes*", "go.mod"))
	if err != nil {
		return nil, err
	}
	pinned := make(map[string]string, len(files))
	for _, file := range files {
		version, err := build.ModuleVersion(file, "k8s.io/kubernetes")
		if err != nil {
			return nil, err
		}
		pinned[version] = filepath.Base(filepath.Dir(file))
	}
	return pinned, nil
}

// Steps make the image. Within a lane the order is the order of work: what others wait for comes first.
func (r *Recipe) Steps() []build.Step {
	steps := []build.Step{r.packages()}
	if r.release != nil {
		steps = append(steps, r.releasedSteps()...)
		return append(steps, r.base(), r.store(), r.root(), r.image())
	}
	return append(steps,
		r.kubernetes(),
		r.base(),
		r.containerd(),
		r.runc(),
		r.plugins(),
		r.crictl(),
		r.pause(),
		r.containerImages(),
		r.store(),
		r.root(),
		r.image(),
	)
}

// name is that of a step that depends on the version.
func (r *Recipe) name(step string) string {
	step = r.shared(step)
	if r.isDefault {
		return step
	}
	return step + "-" + r.version
}

// programs is the folder of Kubernetes' programs of this version, or one of them.
func (r *Recipe) programs(name ...string) string {
	return r.Path(append([]string{"kubernetes", r.version + r.variant("-")}, name...)...)
}

// parts is the folder of what the image of this version is put together from, or one of them.
func (r *Recipe) parts(name ...string) string {
	return r.Path(append([]string{"images", "parts", r.version + r.variant("-")}, name...)...)
}

// data is a place among the files that end up in the image.
func (r *Recipe) data(name ...string) string {
	return r.Source(append([]string{"images", distribution}, name...)...)
}

// baseRoot is a Debian without anything of ours, for all versions.
func (r *Recipe) baseRoot() string { return r.Path("images", "parts", distribution) }

// node is a program that only machines run.
func (r *Recipe) node(name string) string { return r.Path("node", r.variant(""), name) }

// runcProgram is runc, which the sandbox uses on its host too, if it was compiled.
func (r *Recipe) runcProgram() string {
	if r.release != nil {
		return r.node("runc")
	}
	return r.Bin("runc")
}

// plugin is a network plugin.
func (r *Recipe) plugin(name string) string { return r.node(filepath.Join("cni", name)) }

// code is this package, for steps that it does itself and in seconds: a change of it runs them again.
func (r *Recipe) code(file ...string) string {
	return r.Source(append([]string{"images", "recipe"}, file...)...)
}

// BootResource is the name under which MAAS knows the image of a version of Kubernetes.
func BootResource(version string) string { return "custom/" + distribution + "-k8s-" + version }

// File is the finished image.
func (r *Recipe) File() string {
	if r.release != nil {
		return ReleasedFile(r.Out, r.version)
	}
	return File(r.Out, r.version)
}

// File is the finished image of a version, in the output folder out.
func File(out, version string) string {
	return filepath.Join(out, "images", distribution+"-k8s-"+version+"-"+runtime.GOARCH+".tar.gz")
}
