package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/check"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
)

func newCheck(p *places) *cobra.Command {
	var version, binaries, file string
	var only []string
	cmd := &cobra.Command{
		Use: "check", Short: "Look whether an image is what MAAS and Kubernetes need, as root", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				version = recipe.WholeVersion(&build.Project{Repo: p.root, Out: p.out()}, version)
				if file = recipe.File(p.out(), version); binaries == recipe.BinariesRelease {
					file = recipe.ReleasedFile(p.out(), version)
				}
			}
			report, err := check.Run(cmd.Context(), check.Options{Repo: p.root, Image: file, Out: p.out(), Log: os.Stdout, Only: only})
			if cmd.Context().Err() != nil {
				return errors.New("stopped; nothing is left running")
			}
			if err != nil {
				return err
			}
			if failed := report.Failed(); len(failed) > 0 {
				return fmt.Errorf("%d of %d checks failed; they are named above with what to do", len(failed), len(report.Checks))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&version, "kubernetes-version", "", "version of Kubernetes of the image (default: that of the sandbox)")
	cmd.Flags().StringVar(&binaries, "binaries", recipe.BinariesSource, "where the image's programs come from: "+recipe.BinariesSource+" or "+recipe.BinariesRelease)
	cmd.Flags().StringVar(&file, "image", "", "the image to check, with its manifest beside it (default: that of the version)")
	cmd.Flags().StringSliceVar(&only, "only", nil, "parts or single checks, by their names (default: all)")
	return cmd
}
