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

// performance is a script that is being played.
type performance struct {
	script  *script
	running *scenario.Running
	control net.Listener // nil for none
	teller  *teller
	region  *simulator.Region
}

// play starts the scenario, and listens for the control. It comes before the
// region is served, so that no request gets past a fault.
func (s *script) play(ctx context.Context, region *simulator.Region, clock simulator.Clock, out io.Writer) (*performance, error) {
	if s == nil {
		return nil, nil
	}
	p := &performance{script: s, teller: &teller{out: out, quiet: s.quiet}, region: region}
	var err error
	if s.control != "" {
		if p.control, err = (&net.ListenConfig{}).Listen(ctx, "tcp", here(s.control)); err != nil {
			return nil, fmt.Errorf("listen for --control: %w", err)
		}
	}
	if p.running, err = scenario.Start(region, clock, s.scenario, scenario.OnStrike(p.teller.tell)); err != nil && p.control != nil {
		_ = p.control.Close() // the other error says more
	}
	return p, err
}

// announce says what is played, then what struck until now, and serves the
// control until end is called.
func (p *performance) announce(out io.Writer) (end func()) {
	if p == nil {
		return func() {}
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: scenario.Control(p.region, p.running)}
	if p.control != nil {
		fmt.Fprintf(out, "  Control  http://%s\n", p.control.Addr())
		go func() { _ = server.Serve(p.control) }() // ends with ErrServerClosed
	}
	p.script.describe(out)
	p.teller.begin()
	return func() {
		_ = server.Close()
		p.running.Stop()
	}
}

// close ends what was never announced.
func (p *performance) close() {
	if p == nil {
		return
	}
	p.running.Stop()
	if p.control != nil {
		_ = p.control.Close() // nobody was told of it
	}
}

// teller prints a line for each strike, once it may begin.
type teller struct {
	out   io.Writer
	quiet bool

	mu    sync.Mutex
	begun bool
	held  []scenario.Strike
}

func (t *teller) tell(s scenario.Strike) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.quiet:
	case !t.begun:
		t.held = append(t.held, s)
	default:
		fmt.Fprintln(t.out, s)
	}
}

func (t *teller) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = true
	for _, s := range t.held {
		fmt.Fprintln(t.out, s)
	}
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
