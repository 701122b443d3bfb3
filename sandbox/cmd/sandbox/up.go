package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
	sandboxbuild "github.com/capmaas/cluster-api-provider-maas/sandbox/build"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/follow"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

// upOptions are the flags of up.
type upOptions struct {
	machines, controlPlanes, workers int
	noBuild, noCluster, keep         bool
	ports                            host.Ports
	timeout                          time.Duration
	scenario                         string
}

func newUp(p *places) *cobra.Command {
	o := upOptions{}
	cmd := &cobra.Command{
		Use: "up", Short: "Build and start everything, make a cluster, and follow it until its Nodes are Ready", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			played, err := o.play()
			if err != nil {
				return err
			}
			return (&starter{layout: l, options: o, scenario: played, begin: time.Now()}).up(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.machines, "machines", 8, "machines that the MAAS region has")
	flags.IntVar(&o.controlPlanes, "control-plane", 1, "machines of the cluster's control plane: 1, 3, 5 …")
	flags.IntVar(&o.workers, "workers", 3, "the cluster's workers")
	flags.BoolVar(&o.noBuild, "no-build", false, "use what is built, current or not")
	flags.BoolVar(&o.noCluster, "no-cluster", false, "start the management cluster and MAAS, and make no cluster")
	flags.BoolVar(&o.keep, "keep", true, "leave all running for a look when the cluster does not come up; --keep=false stops it")
	flags.IntVar(&o.ports.Management, "management-port", 0, "port of 127.0.0.1 for the management cluster (0: any free one)")
	flags.IntVar(&o.ports.Workload, "workload-port", 0, "port of 127.0.0.1 for workload clusters (0: any free one)")
	flags.IntVar(&o.ports.Maas, "maas-port", 0, "port of 127.0.0.1 for the MAAS API (0: any free one)")
	flags.StringVar(&o.scenario, "scenario", "", "YAML file that says what goes wrong in MAAS while the cluster is made and afterwards")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long the cluster may take")
	return cmd
}

func (o upOptions) check() error {
	switch {
	case o.controlPlanes < 1 || o.controlPlanes%2 == 0:
		return fmt.Errorf("--control-plane is %d, and must be an odd number: etcd votes", o.controlPlanes)
	case o.workers < 0:
		return fmt.Errorf("--workers is %d", o.workers)
	case o.machines < 1 || o.machines > 200:
		return fmt.Errorf("--machines is %d, and must be 1 to 200", o.machines)
	case !o.noCluster && o.machines < o.controlPlanes+o.workers:
		return fmt.Errorf("--machines is %d, and the cluster wants %d", o.machines, o.controlPlanes+o.workers)
	}
	return nil
}

// play reads the scenario that was asked for; nil when none was.
func (o upOptions) play() (*scenario.Scenario, error) {
	if o.scenario == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.scenario)
	if err != nil {
		return nil, fmt.Errorf("reading the scenario: %w", err)
	}
	s, err := scenario.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.scenario, err)
	}
	return &s, nil
}

// starter is one run of up.
type starter struct {
	layout   host.Layout
	options  upOptions
	scenario *scenario.Scenario
	begin    time.Time
}

func (s *starter) say(format string, args ...any) {
	fmt.Printf("[%s] %s\n", follow.Elapsed(time.Since(s.begin)), fmt.Sprintf(format, args...))
}

func (s *starter) up(ctx context.Context) error {
	if err := s.options.check(); err != nil {
		return err
	}
	if err := host.RequireRoot(); err != nil {
		return err
	}
	running, err := host.Running(s.layout)
	if err != nil {
		return err
	}
	if !running {
		// Before anything is made.
		if err := host.Check(s.layout, s.needs()); err != nil {
			return err
		}
	}
	lock, err := host.Lock(s.layout)
	if errors.Is(err, host.ErrRunning) {
		if s.scenario != nil {
			return fmt.Errorf("a sandbox runs already; play the scenario in it with: curl --unix-socket %s -T %s http://localhost/scenario", s.layout.ControlSocket(), s.options.scenario)
		}
		return s.join(ctx)
	}
	if err != nil {
		return err
	}
	ended, err := s.start(ctx, lock)
	if err != nil {
		return err
	}
	if err = s.follow(ctx, ended); err == nil {
		return nil
	}
	if _, gone := errors.AsType[*goneError](err); s.options.keep && !gone && ctx.Err() == nil {
		return s.leftRunning(err)
	}
	return s.tearDown(ctx, err)
}

// goneError says why the sandbox itself ended, which others feel first as a server that does not answer.
type goneError struct{ error }

func (e *goneError) Unwrap() error { return e.error }

// leftRunning adds to what went wrong that one can look at it, and how to end that.
func (s *starter) leftRunning(err error) error {
	return fmt.Errorf("%w\nall is left running for a look (%s); stop it with: %s", err, s.layout.Command("status", ""), s.layout.Command("down", ""))
}

// start starts the sandbox, and holds the lock while nothing else does. On an error nothing is left running.
func (s *starter) start(ctx context.Context, lock *os.File) (<-chan error, error) {
	defer lock.Close()
	// A port in use is better known before everything is built.
	listeners, ports, err := host.Listen(s.options.ports)
	if err != nil {
		return nil, host.Crowded(s.layout, err)
	}
	defer listeners.Close()
	if err := s.prepare(ctx); err != nil {
		if ctx.Err() != nil {
			err = errStopped
		}
		return nil, errors.Join(err, host.Clean(context.WithoutCancel(ctx), s.layout))
	}
	ended, err := s.spawn(ctx, lock, listeners, ports)
	if err == nil {
		return ended, nil
	}
	lock.Close()
	return nil, s.tearDown(ctx, err)
}

// needs are those of the cluster that was asked for.
func (s *starter) needs() host.Needs {
	needs := host.Needs{ControlPlanes: s.options.controlPlanes, Workers: s.options.workers}
	image, err := management.BuiltImage(s.layout)
	if err != nil {
		return needs
	}
	needs.Built, needs.Image = true, image.Size
	if !roots.Has(s.layout.Roots(), image.SHA256) {
		// Files fill whole blocks.
		needs.Unpacked = image.UnpackedSize + image.UnpackedSize/4
	}
	return needs
}

// prepare clears what an earlier sandbox left, and builds.
func (s *starter) prepare(ctx context.Context) error {
	if err := host.Clean(ctx, s.layout); err != nil {
		return fmt.Errorf("clearing what an earlier sandbox left: %w", err)
	}
	// Now, for building takes long; and again afterwards, when another sandbox may have been started.
	if err := s.checkLimits(); err != nil {
		return err
	}
	if !s.options.noBuild {
		if err := sandboxbuild.Run(ctx, build.Options{Repo: s.layout.Root, Out: s.layout.Build, Log: os.Stdout}); err != nil {
			return err
		}
	}
	if err := removeOldRoots(s.layout); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(s.layout.Logs()), os.RemoveAll(s.layout.Machines())); err != nil {
		return fmt.Errorf("clearing the logs of an earlier sandbox: %w", err)
	}
	if err := errors.Join(s.checkLimits(), s.layout.Make()); err != nil {
		return err
	}
	return host.Reserve(s.layout, s.needs())
}

func (s *starter) checkLimits() error {
	err := host.CheckLimits(s.layout, s.needs())
	limit, ok := errors.AsType[*host.LimitError](err)
	if !ok || os.Getenv("SANDBOX_TUNE_HOST") != "1" {
		return host.Crowded(s.layout, err)
	}
	s.say("raising the host limit %s from %d to %d until the sandbox goes down", limit.Name, limit.Have, limit.Want)
	return host.RaiseLimit(s.layout, limit)
}

// spawn starts the daemon and waits until all components run. The channel tells when and why the daemon ends.
func (s *starter) spawn(ctx context.Context, lock *os.File, listeners *host.Listeners, ports host.Ports) (<-chan error, error) {
	image, err := management.BuiltImage(s.layout)
	if err != nil {
		return nil, err
	}
	settings := management.Settings{Layout: s.layout, Machines: s.options.machines, Ports: ports, Image: image, Scenario: s.scenario}
	if err := settings.Save(); err != nil {
		return nil, err
	}
	output, err := os.OpenFile(s.layout.Log("sandbox"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox's log: %w", err)
	}
	defer output.Close()
	_, progress, err := host.Spawn(lock, listeners, output, internalArgs(host.InitCommand, s.layout)...)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { progress.Close() })
	defer stop()
	ended, err := management.Listen(progress, func(note string) { s.say("%s", note) })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return ended, err
}

// join waits for a sandbox that another command starts, and follows it.
func (s *starter) join(ctx context.Context) error {
	s.say("a sandbox runs already, or is being started: following it")
	control := management.NewControl(s.layout)
	for {
		if status, err := control.Status(ctx); err == nil && status.Ready {
			break
		}
		running, err := host.Running(s.layout)
		if err != nil {
			return err
		}
		if !running {
			return errors.New("the sandbox that was being started has ended")
		}
		select {
		case <-ctx.Done():
			return errors.New("stopped following; the sandbox goes on")
		case <-time.After(500 * time.Millisecond):
		}
	}
	err := s.follow(ctx, s.untilEnd(ctx))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("stopped following; the sandbox goes on")
	case errors.Is(err, management.ErrEnded):
		return fmt.Errorf("the sandbox has ended meanwhile: taken down, or killed (logs: %s)", s.layout.Logs())
	}
	return s.leftRunning(err)
}

// untilEnd tells when a sandbox ends that another command started.
func (s *starter) untilEnd(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if running, err := host.Running(s.layout); err == nil && !running {
				ended <- management.ErrEnded
				return
			}
			time.Sleep(time.Second)
		}
	}()
	return ended
}

// follow makes the cluster and follows it to the end.
func (s *starter) follow(ctx context.Context, ended <-chan error) error {
	settings, err := management.LoadSettings(s.layout)
	if err != nil {
		return err
	}
	if s.options.noCluster {
		s.say("all is up; no cluster was asked for")
		fmt.Printf("\n  export KUBECONFIG=%s\n", s.layout.ManagementKubeconfig())
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-ended:
			cancel(&goneError{err})
		case <-ctx.Done():
		}
	}()
	columns, height := 0, 0
	if term.IsTerminal(int(os.Stdout.Fd())) {
		columns, height = 80, 24
		if wide, high, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			columns, height = wide, high
		}
	}
	err = follow.Run(ctx, follow.Options{
		Layout: s.layout, Ports: settings.Ports, Image: settings.Image, ControlPlanes: s.options.controlPlanes, Workers: s.options.workers,
		Timeout: s.options.timeout, Begin: s.begin, Out: os.Stdout, Columns: columns, Height: height,
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// tearDown ends a sandbox that did not come up, and adds to the error what its reader wants to know next.
func (s *starter) tearDown(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = errors.New("stopped half-way")
	}
	if errors.Is(err, management.ErrEnded) {
		err = fmt.Errorf("%w; the end of its log says more: %s", err, s.layout.Log("sandbox"))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if _, failed := host.Down(ctx, s.layout); failed != nil {
		return fmt.Errorf("%w\nand the sandbox could not be stopped: %w (logs: %s)", err, failed, s.layout.Logs())
	}
	// One that was half-way unpacked takes more than a gigabyte, and nobody goes on with it.
	if failed := removeOldRoots(s.layout); failed != nil {
		err = fmt.Errorf("%w\n%w", err, failed)
	}
	return fmt.Errorf("%w\nnothing is left running (logs: %s)", err, s.layout.Logs())
}
