package build

import (
	"path/filepath"
	"strings"
)

// Names of steps that other steps need.
const (
	packagesStep   = "packages"
	kubernetesStep = "kubernetes"
	clusterAPIStep = "cluster-api"
	containerdStep = "containerd"
	runcStep       = "runc"
	pluginsStep    = "cni"
	crictlStep     = "crictl"
	pauseStep      = "pause"
	providerStep   = "provider"
	baseStep       = "base"
	manifestsStep  = "manifests"
	imagesStep     = "images"
	rootStep       = "rootfs"
	storeStep      = "store"
)

// kubernetesPrograms are the names by which the multi-call binary is called.
func kubernetesPrograms() []string {
	return []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubeadm", "kubectl",
		"pod-routes", "hello",
	}
}

// steps is the whole build, but for the sandbox program itself, which is what runs it. Within a lane the order is the order of work: what others wait for comes first.
func (p *project) steps() []step {
	return []step{
		p.packages(),
		p.kubernetes(),
		p.base(),
		p.containerd(),
		p.runc(),
		p.plugins(),
		p.crictl(),
		p.pause(),
		p.images(),
		p.root(),
		p.store(),
		p.clusterAPI(),
		p.manifests(),
		p.provider(),
	}
}

func (p *project) kubernetes() step {
	outputs := []string{p.bin("kube"), p.bin("coredns")}
	for _, name := range kubernetesPrograms() {
		outputs = append(outputs, p.bin(name))
	}
	flags := stampVersion(p.kubernetesVersion(), "k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
	return step{
		name:    kubernetesStep,
		title:   "Kubernetes " + p.kubernetesVersion(),
		lane:    compiling,
		files:   []string{p.component("kubernetes")},
		keep:    notTest,
		facts:   append([]string{flags}, kubernetesPrograms()...),
		outputs: outputs,
		run: goProgram{
			module:   p.component("kubernetes"),
			packages: []string{"./kube", "./coredns"},
			linker:   flags,
			place:    map[string]string{"kube": p.bin("kube"), "coredns": p.bin("coredns")},
			links:    kubernetesPrograms(),
		}.build,
	}
}

func (p *project) clusterAPI() step {
	const module = "sigs.k8s.io/cluster-api"
	version := p.version("kubernetes", module)
	flags := stampVersion(version, module+"/version")
	core, bootstrap, controlPlane := p.bin("capi-core"), p.bin("capi-kubeadm-bootstrap"), p.bin("capi-kubeadm-control-plane")
	return step{
		name:    clusterAPIStep,
		title:   "Cluster API " + version,
		lane:    compiling,
		files:   []string{p.component("kubernetes", "go.mod"), p.component("kubernetes", "go.sum")},
		facts:   []string{flags},
		outputs: []string{core, bootstrap, controlPlane, p.bin("clusterctl")},
		run: oneAfterTheOther(
			goProgram{
				module:   p.component("kubernetes"),
				packages: []string{module + "/core", module + "/bootstrap/kubeadm", module + "/cmd/clusterctl"},
				linker:   flags,
				place:    map[string]string{"core": core, "kubeadm": bootstrap, "clusterctl": p.bin("clusterctl")},
			}.build,
			// By itself, because its binary has the same name as the one above.
			goProgram{
				module:   p.component("kubernetes"),
				packages: []string{module + "/controlplane/kubeadm"},
				linker:   flags,
				place:    map[string]string{"kubeadm": controlPlane},
			}.build,
		),
	}
}

func (p *project) containerd() step {
	const module = "github.com/containerd/containerd/v2"
	version := p.version("containerd", module)
	return p.singleModule(containerdStep, "containerd "+version, goProgram{
		module:   p.component("containerd"),
		packages: []string{module + "/cmd/containerd", module + "/cmd/containerd-shim-runc-v2", module + "/cmd/ctr"},
		// What needs C libraries, and a file system that nobody has here.
		tags:   "no_btrfs,no_devmapper,no_zfs",
		linker: " -X " + module + "/version.Version=" + version,
		place: map[string]string{
			"containerd": p.node("containerd"), "containerd-shim-runc-v2": p.node("containerd-shim-runc-v2"), "ctr": p.node("ctr"),
		},
	})
}

func (p *project) runc() step {
	const module = "github.com/opencontainers/runc"
	version := p.version("runc", module)
	s := p.singleModule(runcStep, "runc "+version, goProgram{
		module:   p.component("runc"),
		packages: []string{module},
		// Pods of the control plane ask for the default seccomp profile, and seccomp is a C library.
		tags:   "seccomp,netgo,osusergo",
		cgo:    true,
		linker: " -extldflags -static -X main.version=" + strings.TrimPrefix(version, "v"),
		place:  map[string]string{"runc": p.bin("runc")},
	})
	s.needs = []string{packagesStep}
	return s
}

func (p *project) plugins() step {
	const module = "github.com/containernetworking/plugins"
	version := p.version("cni", module)
	return p.singleModule(pluginsStep, "network plugins "+version, goProgram{
		module: p.component("cni"),
		packages: []string{
			module + "/plugins/main/bridge", module + "/plugins/main/loopback", module + "/plugins/main/ptp",
			module + "/plugins/ipam/host-local", module + "/plugins/meta/portmap",
		},
		linker: " -X " + module + "/pkg/utils/buildversion.BuildVersion=" + version,
		place: map[string]string{
			"bridge": p.plugin("bridge"), "loopback": p.plugin("loopback"), "ptp": p.plugin("ptp"),
			"host-local": p.plugin("host-local"), "portmap": p.plugin("portmap"),
		},
	})
}

func (p *project) crictl() step {
	const module = "sigs.k8s.io/cri-tools"
	version := p.version("crictl", module)
	return p.singleModule(crictlStep, "crictl "+version, goProgram{
		module:   p.component("crictl"),
		packages: []string{module + "/cmd/crictl"},
		linker:   " -X " + module + "/pkg/version.Version=" + version,
		place:    map[string]string{"crictl": p.node("crictl")},
	})
}

// singleModule is a step that builds from one small module with nothing but a go.mod in it.
func (p *project) singleModule(name, title string, program goProgram) step {
	return step{
		name:    name,
		title:   title,
		lane:    compiling,
		files:   []string{program.module},
		facts:   []string{program.tags, program.linker, strings.Join(program.packages, " ")},
		outputs: program.outputs(),
		run:     program.build,
	}
}

func (p *project) provider() step {
	program := goProgram{
		module:   p.repo,
		packages: []string{"./cmd/manager", "./cmd/maas-simulator"},
		place:    map[string]string{"manager": p.bin("manager"), "maas-simulator": p.bin("maas-simulator")},
	}
	return step{
		name:    providerStep,
		title:   "CAPMAAS",
		lane:    compiling,
		files:   p.rootModule(),
		keep:    compiled,
		outputs: program.outputs(),
		run:     program.build,
	}
}

// rootModule is where the code of the project's main module lies.
func (p *project) rootModule() []string {
	var files []string
	for _, name := range []string{"go.mod", "go.sum", "api", "cmd", "internal", "maas"} {
		files = append(files, filepath.Join(p.repo, name))
	}
	return files
}

// notTest keeps all files but tests.
func notTest(path string) bool { return !strings.HasSuffix(path, "_test.go") }

// compiled keeps what the Go compiler reads. Files may be embedded, so only tests and prose are left out.
func compiled(path string) bool { return notTest(path) && !strings.HasSuffix(path, ".md") }

// node is a program that only machines run.
func (p *project) node(name string) string { return p.path("node", name) }

// plugin is a network plugin.
func (p *project) plugin(name string) string { return p.path("node", "cni", name) }

// recipes is the code of this package, for steps that it does itself and in seconds: a change of it runs them again.
func (p *project) recipes() string { return filepath.Join(p.repo, "sandbox", "build") }
