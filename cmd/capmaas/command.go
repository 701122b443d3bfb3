package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/internal/environment"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// program is what the program touches.
type program struct {
	getenv func(string) string
	out    io.Writer  // results
	log    io.Writer  // what goes on
	width  func() int // columns of the terminal that log is; 0 if it is none
}

func (p program) newMAAS() (*maas.Client, error) {
	return environment.NewMAAS(p.getenv, nil, "capmaas-cli")
}

func newCommand(p program) *cobra.Command {
	root := &cobra.Command{
		Use:   "capmaas",
		Short: "Work with MAAS for Cluster API",
		Long:  "Work with MAAS for Cluster API.\n\n" + environment.Usage,
		// main prints errors, in one line.
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	image := &cobra.Command{Use: "image", Short: "Bring machine images into MAAS, and look at them"}
	image.AddCommand(newUploadCommand(p), newListCommand(p))
	root.AddCommand(image)
	root.SetOut(p.out)
	root.SetErr(p.log)
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}
