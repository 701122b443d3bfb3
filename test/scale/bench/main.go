// Command bench measures how much the provider asks of MAAS, and how soon it sees what MAAS did: a real API server, the MAAS
// simulator over HTTP, and the provider's controllers in a process of their own. `make bench` runs it; docs/scale.md tells how to
// read what it says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// concurrency is how many MaasMachines the measured manager works on at a time.
const concurrency = 10

func main() {
	if len(os.Args) > 1 && os.Args[1] == managerCommand {
		exit(runManager(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == readerCommand {
		exit(runReader(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == simulatorCommand {
		exit(runSimulator())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// options are the command line's values.
type options struct {
	checkout string
	only     string
	window   time.Duration
	out      string // the folder of the report
}

func run(ctx context.Context) error {
	var o options
	flag.StringVar(&o.checkout, "checkout", ".", "Folder of the repository.")
	flag.StringVar(&o.only, "only", "", "The only scenario to run: "+strings.Join(names(scenarios()), ", ")+"; empty for all but the last two.")
	flag.DurationVar(&o.window, "window", 0, "How long requests are counted, instead of the time that each scenario has for it.")
	flag.Parse()
	o.out = filepath.Join(o.checkout, "out/bench")
	chosen := slices.DeleteFunc(scenarios(), func(s scenario) bool { return s.name != o.only && (o.only != "" || s.asked) })
	if len(chosen) == 0 {
		return fmt.Errorf("there is no scenario %q: choose one of %s", o.only, strings.Join(names(scenarios()), ", "))
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctrl.SetLogger(klog.Background())
	environment := &environment{stop: func() error { return nil }}
	if slices.ContainsFunc(chosen, func(s scenario) bool { return s.alone == nil }) {
		var err error
		if environment, err = startEnvironment(ctx, o.checkout); err != nil {
			return err
		}
	}
	results, err := measure(ctx, environment, chosen, o)
	if stopErr := environment.stop(); err == nil {
		err = stopErr
	}
	if ctx.Err() != nil {
		return errors.New("interrupted: nothing is reported")
	}
	// What could be measured is reported, whatever else went wrong.
	if writeErr := newReport(results).write(o); err == nil {
		err = writeErr
	}
	return err
}

// measure runs the scenarios, those of one group at the same time, and the groups one after another.
func measure(ctx context.Context, e *environment, chosen []scenario, o options) ([]result, error) {
	var results []result
	var failed []error
	for group := 0; group <= lastGroup && ctx.Err() == nil; group++ {
		var running sync.WaitGroup
		var mu sync.Mutex
		for _, s := range chosen {
			if s.group != group {
				continue
			}
			running.Go(func() {
				r, err := s.measure(ctx, e, o)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed = append(failed, fmt.Errorf("scenario %s: %w", s.name, err))
				}
				if r.Scenario != "" {
					results = append(results, r)
				}
			})
		}
		running.Wait()
	}
	return results, errors.Join(failed...)
}
