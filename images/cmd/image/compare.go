package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/images/archive"
)

func newCompare() *cobra.Command {
	return &cobra.Command{
		Use: "compare A B", Short: "List what differs between two image files", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, files []string) error {
			differences, err := archive.Compare(cmd.Context(), files[0], files[1])
			if err != nil {
				return err
			}
			for _, difference := range differences {
				fmt.Fprintln(cmd.OutOrStdout(), difference)
			}
			if len(differences) > 0 {
				return fmt.Errorf("the files differ in %d places, named above", len(differences))
			}
			fmt.Fprintln(cmd.OutOrStdout(), "both hold the same files")
			return nil
		},
	}
}
