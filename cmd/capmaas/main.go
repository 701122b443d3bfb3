// Command capmaas is for the people who run CAPMAAS: it brings machine images into MAAS.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the exit code of a program that Ctrl-C ended.
const interrupted = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	err := newCommand(program{getenv: os.Getenv, out: os.Stdout, log: os.Stderr, width: terminalWidth(os.Stderr, os.Getenv("TERM"))}).ExecuteContext(ctx)
	stopped := ctx.Err() != nil
	stop()
	switch {
	case err != nil && stopped:
		fmt.Fprintln(os.Stderr, "capmaas: "+err.Error())
		os.Exit(interrupted)
	case err != nil:
		fmt.Fprintln(os.Stderr, "capmaas: "+err.Error())
		os.Exit(1)
	}
}
