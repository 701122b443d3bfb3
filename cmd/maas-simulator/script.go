package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// scriptOptions are the flags about what goes wrong.
type scriptOptions struct {
	file    string
	control string
	quiet   bool
}

func (o *scriptOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.file, "scenario", "", "YAML file that says what goes wrong")
	flags.StringVar(&o.control, "control", "", "address to change by HTTP what goes wrong, such as :5241 (on this host only); off when empty")
	flags.BoolVar(&o.quiet, "quiet", false, "do not print a line for each fault that strikes")
}

// script is what goes wrong; nil if nothing can.
type script struct {
	scriptOptions
	scenario scenario.Scenario
}

// read reads the scenario, so that what is wrong with it is told before
// anything starts.
func (o scriptOptions) read() (*script, error) {
	s := &script{scriptOptions: o}
	switch {
	case o.file == "" && o.control == "":
		return nil, nil
	case o.file == "":
		return s, nil
	}
	content, err := os.ReadFile(o.file)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	if s.scenario, err = scenario.Parse(content); err != nil {
		return nil, fmt.Errorf("%s: %w", o.file, err)
	}
	return s, nil
}

// play starts the scenario and its control, and says so. end ends both.
func (s *script) play(ctx context.Context, region *simulator.Region, clock simulator.Clock, out io.Writer) (end func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	var listener net.Listener
	if s.control != "" {
		if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", here(s.control)); err != nil {
			return nil, fmt.Errorf("listen for --control: %w", err)
		}
		fmt.Fprintf(out, "  Control  http://%s\n", listener.Addr())
	}
	s.describe(out)
	var options []scenario.Option
	if !s.quiet {
		var one sync.Mutex
		options = append(options, scenario.OnStrike(func(strike scenario.Strike) {
			one.Lock()
			defer one.Unlock()
			fmt.Fprintln(out, strike)
		}))
	}
	running, err := scenario.Start(region, clock, s.scenario, options...)
	if err != nil || listener == nil {
		if listener != nil {
			_ = listener.Close() // the other error says more
		}
		return running.Stop, err
	}
	server := &http.Server{Handler: scenario.Control(region, running), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with ErrServerClosed
	return func() {
		_ = server.Close()
		running.Stop()
	}, nil
}

// describe lists the faults.
func (s *script) describe(out io.Writer) {
	if s.file == "" {
		return
	}
	description := s.scenario.Description
	if description == "" {
		description = s.file
	}
	fmt.Fprintf(out, "  Scenario %s\n", description)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range s.scenario.Faults {
		fmt.Fprintf(table, "    %s\t%s\t%s\n", f.Name, f.Do, f.Summary())
	}
	_ = table.Flush() // as with the lines above
}

// here is an address on this host alone when it names no host: who can reach
// the control can do all that operators can.
func here(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
