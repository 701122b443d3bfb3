package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

func newDown(p *places) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop everything and remove all it left, but for the logs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			if err := host.RequireRoot(); err != nil {
				return err
			}
			ran, err := host.Down(cmd.Context(), l)
			if err != nil {
				return err
			}
			if err := removeOldRoots(l); err != nil {
				return err
			}
			if ran {
				fmt.Printf("the sandbox is down; its logs stay in %s\n", l.Logs())
			} else {
				fmt.Println("no sandbox runs")
			}
			return nil
		},
	}
}
