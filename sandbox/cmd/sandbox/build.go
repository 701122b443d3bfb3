package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/build"
)

func newBuild(p *places) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use: "build", Short: "Build everything the sandbox needs, without starting it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			return build.Run(cmd.Context(), build.Options{Repo: l.Root, Out: l.Build, Log: os.Stdout, Only: only})
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "build these steps alone, and what they need")
	return cmd
}
