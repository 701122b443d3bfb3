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
	ctx, stop := untilSignal(context.Background())
	defer stop()
	err := newCommand().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if quiet, ok := errors.AsType[*exitError](err); ok {
		return quiet.code
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	if stopped, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		return 128 + int(stopped.signal)
	}
	return 1
}

// untilSignal ends the context when somebody presses Ctrl-C or asks the process to end. Why it ended is a *signalError.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case received := <-signals:
			if number, ok := received.(syscall.Signal); ok {
				cancel(&signalError{number})
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// signalError says that a signal ended what was going on. The exit code tells which, as shells have it.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "stopped by a signal: " + e.signal.String() }

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
	root.AddCommand(newBuild(p), newUp(p), newStatus(p), newShell(p), newLogs(p), newDown(p), newInit(p), newDaemon(p))
	return root
}
