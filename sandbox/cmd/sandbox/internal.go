package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// internalArgs make this program call itself for the same sandbox.
func internalArgs(command string, l host.Layout) []string {
	return []string{command, "--root", l.Root, "--dir", l.State, "--build-dir", l.Build}
}

func newInit(p *places) *cobra.Command {
	return &cobra.Command{
		Use: host.InitCommand, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			code, err := host.Init(internalArgs("internal-daemon", l))
			if err == nil && code != 0 {
				err = &exitError{code}
			}
			return err
		},
	}
}

func newDaemon(p *places) *cobra.Command {
	return &cobra.Command{
		Use: "internal-daemon", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			return runDaemon(cmd.Context(), l)
		},
	}
}

func runDaemon(ctx context.Context, l host.Layout) error {
	inherited, err := host.Inherit()
	if err != nil {
		return err
	}
	settings, err := management.LoadSettings(l)
	if err != nil {
		return err
	}
	return management.Run(ctx, settings, inherited, slog.New(slog.NewTextHandler(os.Stdout, nil)))
}
