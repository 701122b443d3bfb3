package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// errStopped is what somebody reads who pressed Ctrl-C.
var errStopped = errors.New("stopped; nothing is left running, and what is built so far is kept: the next call goes on from there")

func newBuild(p *places) *cobra.Command {
	var version, binaries string
	var refresh bool
	sites := recipe.UpstreamSites()
	cmd := &cobra.Command{
		Use: "build", Short: "Make the image of one version of Kubernetes, as root", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var made *recipe.Recipe
			list := func(project *build.Project) ([]build.Step, error) {
				var err error
				if made, err = newRecipe(project, version, binaries, sites); err != nil {
					return nil, err
				}
				if refresh {
					err = made.Refresh()
				}
				return made.Steps(), err
			}
			err := build.Run(cmd.Context(), build.Options{Repo: p.root, Out: p.out(), Log: os.Stdout}, list)
			if cmd.Context().Err() != nil {
				return errStopped
			}
			if err != nil {
				return err
			}
			return tell(cmd.OutOrStdout(), made.File())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&version, "kubernetes-version", "", "version of Kubernetes, such as v1.36.3 (default: that of the sandbox)")
	flags.StringVar(&binaries, "binaries", recipe.BinariesSource, "where programs and container images come from: "+
		recipe.BinariesSource+" compiles them, "+recipe.BinariesRelease+" downloads what their projects released")
	flags.BoolVar(&refresh, "refresh", false, "take Debian's newest packages, also if all is built already")
	flags.StringVar(&sites.Kubernetes, "kubernetes-site", sites.Kubernetes, "where released programs of Kubernetes are found, or a mirror of it")
	flags.StringVar(&sites.GitHub, "github-site", sites.GitHub, "where other released programs are found, or a mirror of it")
	flags.StringVar(&sites.Registry, "registry", sites.Registry, "where released container images are found, in place of the registry in their names")
	return cmd
}

func newRecipe(p *build.Project, version, binaries string, sites recipe.Sites) (*recipe.Recipe, error) {
	switch binaries {
	case "", recipe.BinariesSource:
		return recipe.New(p, version)
	case recipe.BinariesRelease:
		return recipe.NewReleased(p, version, sites)
	}
	return nil, fmt.Errorf("--binaries %q: choose %s or %s", binaries, recipe.BinariesSource, recipe.BinariesRelease)
}

// tell says what was made, and what to do with it.
func tell(w io.Writer, file string) error {
	m, err := imagefile.Read(imagefile.ManifestPath(file))
	if err != nil {
		return err
	}
	if here, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(relative) {
			file = relative
		}
	}
	binaries := ""
	if m.Binaries != recipe.BinariesSource {
		binaries = " BINARIES=" + m.Binaries
	}
	_, err = fmt.Fprintf(w, `
%s
  %d MB, %d MB unpacked; sha256 %s
  %d Debian packages, %d programs, %d container images: %s
check it:   make image-check KUBERNETES_VERSION=%s%s
upload it:  go run ./cmd/capmaas image upload %s
            (with MAAS_ENDPOINT and an administrator's MAAS_API_KEY; MAAS will call it %[12]s.
            If machines have an image of that name: --name %[12]s-2, for MAAS drops the old one)
`, file, m.Size/1e6, m.UnpackedSize/1e6, m.SHA256,
		len(m.Packages), len(m.Programs), len(m.ContainerImages), imagefile.ManifestPath(file), m.KubernetesVersion, binaries, file, m.Name)
	return err
}
