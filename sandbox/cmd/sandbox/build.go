package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	sandboxbuild "github.com/capmaas/cluster-api-provider-maas/sandbox/build"
)

// errStopped is what somebody reads who pressed Ctrl-C while things were being built.
var errStopped = errors.New("stopped; nothing is left running, and what is built so far is kept: the next call goes on from there")

func newBuild(p *places) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use: "build", Short: "Build everything the sandbox needs, without starting it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			err = sandboxbuild.Run(cmd.Context(), build.Options{Repo: l.Root, Out: l.Build, Log: os.Stdout, Only: only})
			if cmd.Context().Err() != nil {
				return errStopped
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", nil, "build these steps alone, and what they need")
	return cmd
}
