package recipe

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// packages are those of this machine that the build uses.
func (r *Recipe) packages() build.Step {
	return build.Install(packagesStep, []build.HostNeed{
		{What: "mmdebstrap", Program: "mmdebstrap", Debian: "mmdebstrap"},
		{What: "the program gpgv, by which apt knows Debian's signatures", Program: "gpgv", Debian: "gpgv"},
		{What: "Debian's keys", File: "/usr/share/keyrings/debian-archive-keyring.gpg", Debian: "debian-archive-keyring"},
		{What: "the pkg-config program", Program: "pkg-config", Debian: "pkg-config"},
		{What: "libseccomp with its headers and its static library", File: "/usr/include/seccomp.h", Debian: "libseccomp-dev"},
		{What: "gcc", Program: "gcc", Debian: "gcc"},
		{What: "the C library's headers and static library", File: "/usr/include/stdio.h", Debian: "libc6-dev"},
	})
}

func (r *Recipe) containerd() build.Step {
	const module = "github.com/containerd/containerd/v2"
	version := r.Version("containerd", module)
	return singleModule(containerdStep, "containerd "+version, build.GoProgram{
		Module:   r.Component("containerd"),
		Packages: []string{module + "/cmd/containerd", module + "/cmd/containerd-shim-runc-v2", module + "/cmd/ctr"},
		// What needs C libraries, and a file system that nobody has here.
		Tags:   "no_btrfs,no_devmapper,no_zfs",
		Linker: " -X " + module + "/version.Version=" + version,
		Place: map[string]string{
			"containerd": r.node("containerd"), "containerd-shim-runc-v2": r.node("containerd-shim-runc-v2"), "ctr": r.node("ctr"),
		},
	})
}

func (r *Recipe) runc() build.Step {
	const module = "github.com/opencontainers/runc"
	version := r.Version("runc", module)
	s := singleModule(runcStep, "runc "+version, build.GoProgram{
		Module:   r.Component("runc"),
		Packages: []string{module},
		// Pods of the control plane ask for the default seccomp profile, and seccomp is a C library.
		Tags:   "seccomp,netgo,osusergo",
		CGO:    true,
		Linker: " -extldflags -static -X main.version=" + strings.TrimPrefix(version, "v"),
		Place:  map[string]string{"runc": r.Bin("runc")},
	})
	s.Needs = []string{packagesStep}
	return s
}

func (r *Recipe) plugins() build.Step {
	const module = "github.com/containernetworking/plugins"
	version := r.Version("cni", module)
	return singleModule(pluginsStep, "network plugins "+version, build.GoProgram{
		Module: r.Component("cni"),
		Packages: []string{
			module + "/plugins/main/bridge", module + "/plugins/main/loopback", module + "/plugins/main/ptp",
			module + "/plugins/ipam/host-local", module + "/plugins/meta/portmap",
		},
		Linker: " -X " + module + "/pkg/utils/buildversion.BuildVersion=" + version,
		Place:  r.pluginPlaces(),
	})
}

// pluginPlaces are the network plugins that machines have, by name.
func (r *Recipe) pluginPlaces() map[string]string {
	places := make(map[string]string)
	for _, name := range []string{"bridge", "host-local", "loopback", "portmap", "ptp"} {
		places[name] = r.plugin(name)
	}
	return places
}

func (r *Recipe) crictl() build.Step {
	const module = "sigs.k8s.io/cri-tools"
	version := r.Version("crictl", module)
	return singleModule(crictlStep, "crictl "+version, build.GoProgram{
		Module:   r.Component("crictl"),
		Packages: []string{module + "/cmd/crictl"},
		Linker:   " -X " + module + "/pkg/version.Version=" + version,
		Place:    map[string]string{"crictl": r.node("crictl")},
	})
}

// singleModule is a step that builds from one small module with nothing but a go.mod in it.
func singleModule(name, title string, program build.GoProgram) build.Step {
	return build.Step{
		Name:    name,
		Title:   title,
		Lane:    build.Compiling,
		Files:   []string{program.Module},
		Facts:   []string{program.Tags, program.Linker, strings.Join(program.Packages, " ")},
		Outputs: program.Outputs(),
		Run:     program.Build,
	}
}

// pause is the program that holds a pod's namespaces open. In C, because every pod runs one and it must be tiny.
func (r *Recipe) pause() build.Step {
	source := r.Component("pause", "pause.c")
	return build.Step{
		Name:    pauseStep,
		Title:   "pause",
		Lane:    build.Compiling,
		Needs:   []string{packagesStep},
		Files:   []string{source},
		Outputs: []string{r.node("pause")},
		Run: func(ctx context.Context, s *build.Session) error {
			dir, remove, err := s.Scratch()
			if err != nil {
				return err
			}
			defer remove()
			binary := filepath.Join(dir, "pause")
			argv := []string{"gcc", "-Os", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", binary, source}
			if err := s.Exec(ctx, build.Command{Argv: argv}); err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(r.node("pause")), 0o755); err != nil {
				return err
			}
			return os.Rename(binary, r.node("pause"))
		},
	}
}
