// Command image makes the machine image and looks whether it is what MAAS and Kubernetes need.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		return 1
	}
	return 0
}

// places are the flags that all commands share.
type places struct{ root, build string }

// out is the folder of what is built.
func (p *places) out() string {
	if filepath.IsAbs(p.build) {
		return p.build
	}
	return filepath.Join(p.root, p.build)
}

func newCommand() *cobra.Command {
	p := &places{}
	root := &cobra.Command{
		Use:           "image",
		Short:         "Make and check the machine image that goes into MAAS",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&p.root, "root", ".", "the checkout of this project")
	flags.StringVar(&p.build, "build-dir", "_build", "the folder of what is built, in the checkout unless absolute")
	root.AddCommand(newBuild(p), newCheck(p), newCompare())
	return root
}
