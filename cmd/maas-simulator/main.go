// Command maas-simulator serves a simulated MAAS region.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Whoever interrupts a second time does not want to wait for an orderly end.
	context.AfterFunc(ctx, stop)
	err := newCommand(os.Stdout).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "maas-simulator: %v\n", err)
		os.Exit(1)
	}
}
