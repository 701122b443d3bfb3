package management

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// component is a program that runs as long as the sandbox.
type component struct {
	// name of its log, and in messages.
	name string
	// program with its arguments.
	program string
	args    []string
	env     []string
	// ready asks whether it serves; nil when starting is enough.
	ready func(context.Context) error
}

// State of a component.
type State string

// States of a component.
const (
	Starting   State = "starting"
	Running    State = "running"
	Restarting State = "restarting"
	Ended      State = "ended"
)

// ComponentStatus is how a component is.
type ComponentStatus struct {
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Since    time.Time `json:"since"`
	Restarts int       `json:"restarts"`
	// Pid as the host counts; 0 when it does not run.
	Pid int `json:"pid"`
	// Log is the path of its log.
	Log string `json:"log"`
}

const (
	// restartDelay is what passes between the end of a component and its next start. It doubles, up to longestDelay, while the
	// component ends sooner than steady after its start.
	restartDelay = 500 * time.Millisecond
	longestDelay = 8 * time.Second
	steady       = 30 * time.Second
	// mostBrief is how often in a row it may end so soon. Its kube-apiserver may be away for that long.
	mostBrief = 8
	// readyTimeout is how long a component may take until it serves.
	readyTimeout = 90 * time.Second
)

// supervisor starts components, and starts them again when they end, as the kubelet would do. It tells the first that ended while it
// started, or that ends again and again.
type supervisor struct {
	layout host.Layout
	table  *host.ProcessTable
	failed chan error

	mu     sync.Mutex
	order  []string
	states map[string]*ComponentStatus
	// processes are the last of each component.
	processes map[string]*os.Process
}

func newSupervisor(layout host.Layout, table *host.ProcessTable) *supervisor {
	return &supervisor{
		layout: layout, table: table, failed: make(chan error, 1),
		states: map[string]*ComponentStatus{}, processes: map[string]*os.Process{},
	}
}

// start starts a component and returns once it serves. It runs until ctx ends.
func (s *supervisor) start(ctx context.Context, c component) error {
	if _, err := os.Stat(c.program); err != nil {
		return fmt.Errorf("%s was not built: %w", c.name, err)
	}
	log, err := os.OpenFile(s.layout.Log(c.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", c.name, err)
	}
	s.mu.Lock()
	s.order = append(s.order, c.name)
	s.states[c.name] = &ComponentStatus{Name: c.name, State: Starting, Since: time.Now(), Log: s.layout.Log(c.name)}
	s.mu.Unlock()
	cmd, err := s.launch(c, log)
	if err != nil {
		log.Close()
		return err
	}
	ended := make(chan struct{})
	go s.watch(ctx, c, cmd, log, ended)
	return s.awaitReady(ctx, c, ended)
}

func (s *supervisor) launch(c component, log *os.File) (*exec.Cmd, error) {
	//nolint:noctx // It ends with the namespaces; the first process of these sees to it.
	cmd := exec.Command(c.program, c.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = s.layout.Run()
	cmd.Env = append(host.Environment(), c.env...)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	pid, err := s.table.HostPid(cmd.Process.Pid)
	if err != nil {
		// It ended at once; whoever waits for it finds out why.
		pid = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[c.name] = cmd.Process
	s.states[c.name].Pid = pid
	return cmd, nil
}

// watch waits for the component's end, again and again.
func (s *supervisor) watch(ctx context.Context, c component, cmd *exec.Cmd, log *os.File, ended chan<- struct{}) {
	defer log.Close()
	defer close(ended)
	for brief := 0; ; {
		begin := time.Now()
		err := cmd.Wait()
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > steady {
			brief = 0
		}
		brief++
		if s.state(c.name) == Starting || brief > mostBrief {
			s.set(c.name, Ended)
			s.fail(s.obituary(c.name, err))
			return
		}
		fmt.Fprintf(log, "--- sandbox: %s ended (%s) and is started again\n", c.name, outcome(err))
		s.restarted(c.name)
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(restartDelay<<(brief-1), longestDelay)):
		}
		if cmd, err = s.launch(c, log); err != nil {
			s.fail(err)
			return
		}
		s.set(c.name, Running)
	}
}

func (s *supervisor) awaitReady(ctx context.Context, c component, ended <-chan struct{}) error {
	if c.ready == nil {
		s.set(c.name, Running)
		return nil
	}
	deadline := time.Now().Add(readyTimeout)
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := c.ready(attempt)
		cancel()
		if err == nil {
			s.set(c.name, Running)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return s.failure()
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not serve: %w\n%s", c.name, err, s.lastWords(c.name))
		}
	}
}

func (s *supervisor) set(name string, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.states[name]
	status.State, status.Since = state, time.Now()
	if state == Ended {
		status.Pid = 0
	}
}

func (s *supervisor) restarted(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.states[name]
	status.State, status.Since, status.Pid = Restarting, time.Now(), 0
	status.Restarts++
}

func (s *supervisor) state(name string) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[name].State
}

// statuses lists all components in the order of their start.
func (s *supervisor) statuses() []ComponentStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]ComponentStatus, 0, len(s.order))
	for _, name := range s.order {
		out = append(out, *s.states[name])
	}
	return out
}

// runs says whether a component runs.
func (s *supervisor) runs(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, ok := s.states[name]
	return ok && status.Pid != 0
}

// kill ends a component with SIGKILL.
func (s *supervisor) kill(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, ok := s.states[name]
	if !ok || status.Pid == 0 {
		return fmt.Errorf("no component %q runs", name)
	}
	return s.processes[name].Kill()
}

// fail keeps the first failure: what follows is its consequence.
func (s *supervisor) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

func (s *supervisor) failure() error {
	select {
	case err := <-s.failed:
		return err
	case <-time.After(time.Second):
		return errors.New("it ended")
	}
}

func (s *supervisor) obituary(name string, err error) error {
	return fmt.Errorf("%s ended (%s)\n%s", name, outcome(err), s.lastWords(name))
}

func outcome(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

func (s *supervisor) lastWords(name string) string {
	path := s.layout.Log(name)
	return fmt.Sprintf("the end of its log, %s:\n%s", path, host.Tail(path, 8))
}
