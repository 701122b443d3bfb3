// Package build lists what has to be built for the sandbox besides the machine image: Cluster API, and the programs of this project.
package build

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
)

// Run builds all that the sandbox needs, or of it only what options name.
func Run(ctx context.Context, options build.Options) error {
	return build.Run(ctx, options, steps)
}

// steps is the whole build, but for the sandbox program itself, which is what runs it.
func steps(p *build.Project) ([]build.Step, error) {
	image, err := recipe.New(p, "")
	if err != nil {
		return nil, err
	}
	return append(image.Steps(), clusterAPI(p), manifests(p), provider(p)), nil
}

func clusterAPI(p *build.Project) build.Step {
	const module = "sigs.k8s.io/cluster-api"
	version := p.Version("kubernetes", module)
	flags := build.StampVersion(version, module+"/version")
	core, bootstrap, controlPlane := p.Bin("capi-core"), p.Bin("capi-kubeadm-bootstrap"), p.Bin("capi-kubeadm-control-plane")
	all := build.GoProgram{
		Module:   p.Component("kubernetes"),
		Packages: []string{module + "/core", module + "/bootstrap/kubeadm", module + "/cmd/clusterctl"},
		Linker:   flags,
		Place:    map[string]string{"core": core, "kubeadm": bootstrap, "clusterctl": p.Bin("clusterctl")},
	}
	// By itself, because its binary has the same name as one above.
	second := build.GoProgram{
		Module:   p.Component("kubernetes"),
		Packages: []string{module + "/controlplane/kubeadm"},
		Linker:   flags,
		Place:    map[string]string{"kubeadm": controlPlane},
	}
	return build.Step{
		Name:    "cluster-api",
		Title:   "Cluster API " + version,
		Lane:    build.Compiling,
		Files:   []string{p.Component("kubernetes", "go.mod"), p.Component("kubernetes", "go.sum")},
		Facts:   []string{flags},
		Outputs: []string{core, bootstrap, controlPlane, p.Bin("clusterctl")},
		Run:     build.OneAfterTheOther(all.Build, second.Build),
	}
}

func provider(p *build.Project) build.Step {
	program := build.GoProgram{
		Module:   p.Repo,
		Packages: []string{"./cmd/manager", "./cmd/maas-simulator", "./cmd/capmaas"},
		Place:    map[string]string{"manager": p.Bin("manager"), "maas-simulator": p.Bin("maas-simulator"), "capmaas": p.Bin("capmaas")},
	}
	var files []string
	for _, name := range []string{"go.mod", "go.sum", "api", "cmd", "internal", "maas"} {
		files = append(files, filepath.Join(p.Repo, name))
	}
	return build.Step{
		Name:    "provider",
		Title:   "CAPMAAS",
		Lane:    build.Compiling,
		Files:   files,
		Keep:    compiled,
		Outputs: program.Outputs(),
		Run:     program.Build,
	}
}

// compiled keeps what the Go compiler reads. Files may be embedded, so only tests and prose are left out.
func compiled(path string) bool { return build.NotTest(path) && !strings.HasSuffix(path, ".md") }
