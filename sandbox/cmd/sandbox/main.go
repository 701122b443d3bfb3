// Command sandbox runs all of CAPMAAS on one Linux machine: a management cluster with Cluster API, a simulated MAAS region, and
// machines that boot and form real clusters.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := newCommand().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if quiet, ok := errors.AsType[*exitError](err); ok {
		return quiet.code
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	return 1
}

// exitError ends the program with a code, when all has been said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// places are the flags that all commands share.
type places struct{ root, dir, build string }

func (p *places) layout() (host.Layout, error) {
	root := p.root
	if root == "" {
		found, err := host.FindRoot(".")
		if err != nil {
			return host.Layout{}, err
		}
		root = found
	}
	return host.NewLayout(root, p.dir, p.build)
}

func newCommand() *cobra.Command {
	p := &places{}
	root := &cobra.Command{
		Use:           "sandbox",
		Short:         "Run CAPMAAS, a MAAS region and real clusters on this machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&p.root, "root", "", "the checkout of this project (default: found from the current folder upwards)")
	flags.StringVar(&p.dir, "dir", ".sandbox", "the folder of the running sandbox, in the checkout unless absolute")
	flags.StringVar(&p.build, "build-dir", "_build", "the folder of what is built, in the checkout unless absolute")
	root.AddCommand(newBuild(p), newUp(p), newStatus(p), newShell(p), newDown(p), newInit(p), newDaemon(p))
	return root
}
