package main

import (
	"github.com/spf13/cobra"
)

func newStatus(p *places) *cobra.Command {
	return &cobra.Command{Use: "status", RunE: func(cmd *cobra.Command, _ []string) error { return nil }}
}
