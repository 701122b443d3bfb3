// Package follow makes a cluster from the ordinary template, as a user would, and tells how it comes up.
package follow

import (
	"context"
	"io"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// Options say what to make and where to tell about it.
type Options struct {
	Layout                 host.Layout
	Ports                  host.Ports
	ControlPlanes, Workers int
	// Timeout is how long it may take.
	Timeout time.Duration
	// Begin is what elapsed times count from.
	Begin time.Time
	Out   io.Writer
	// Columns of the terminal; 0 when there is none.
	Columns int
}

// Run ...
func Run(ctx context.Context, o Options) error { return nil }
