package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// schedule runs those steps that are not current, each lane in the order of the list.
type schedule struct {
	project *Project
	steps   []Step
	done    map[string]chan struct{}
}

func newSchedule(p *Project, steps []Step) *schedule {
	return &schedule{project: p, steps: steps, done: make(map[string]chan struct{})}
}

func (c *schedule) run(ctx context.Context) error {
	prints, err := fingerprints(c.steps)
	if err != nil {
		return err
	}
	var stale []Step
	for _, s := range c.steps {
		if !c.project.current(s, prints[s.Name]) {
			stale = append(stale, s)
			c.done[s.Name] = make(chan struct{})
		}
	}
	if len(stale) == 0 {
		return nil
	}
	if i := slices.IndexFunc(stale, func(s Step) bool { return s.Root }); i >= 0 && os.Geteuid() != 0 {
		return fmt.Errorf("building %s takes Root: run this as root", stale[i].Title)
	}
	start := time.Now()
	if err := c.runStale(ctx, stale, prints); err != nil {
		return err
	}
	c.project.log.printf("built in %s", round(time.Since(start)))
	return nil
}

// runStale starts one worker per lane. The first failure ends the others; what they say then is of no interest.
func (c *schedule) runStale(ctx context.Context, stale []Step, prints map[string]string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lanes := make(map[Lane][]*Session)
	for i, s := range stale {
		lanes[s.Lane] = append(lanes[s.Lane], &Session{Project: c.project, step: s, number: i + 1, of: len(stale)})
	}
	var workers sync.WaitGroup
	for _, sessions := range lanes {
		workers.Go(func() {
			for _, s := range sessions {
				if err := c.runOne(ctx, s, prints[s.step.Name]); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return nil
}

func (c *schedule) runOne(ctx context.Context, s *Session, fingerprint string) error {
	for _, need := range s.step.Needs {
		if done := c.done[need]; done != nil {
			select {
			case <-done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := c.project.unstamp(s.step); err != nil {
		return err
	}
	// Programs add to it one after the other.
	if err := os.Remove(s.logFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	start := time.Now()
	err := s.measured(func() error { return s.step.Run(ctx, s) })
	if err == nil {
		err = c.project.stamp(s.step, stamp{fingerprint, time.Since(start).Seconds()})
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
			return context.Cause(ctx)
		}
		return explainFullDisk(fmt.Errorf("building %s: %w", s.step.Title, err), c.project.Out)
	}
	close(c.done[s.step.Name])
	return nil
}

// Session is one run of one step.
type Session struct {
	*Project
	step       Step
	number, of int
	mu         sync.Mutex
	note       string
}

// heartbeat is how long a step stays silent.
const heartbeat = 15 * time.Second

// measured runs the step and tells when it starts, that it is still alive, and how long it took.
func (s *Session) measured(run func() error) error {
	start := time.Now()
	s.Say("%s …", s.step.Title)
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	result := make(chan error, 1)
	go func() { result <- run() }()
	for {
		select {
		case err := <-result:
			if err == nil {
				s.Say("%s: done in %s", s.step.Title, round(time.Since(start)))
			}
			return err
		case <-ticker.C:
			s.mu.Lock()
			note := s.note
			s.mu.Unlock()
			s.Say("%s … %s%s", s.step.Title, round(time.Since(start)), note)
		}
	}
}

// Say tells people a line.
func (s *Session) Say(format string, args ...any) {
	s.log.printf("[%*d/%d] %s", len(fmt.Sprint(s.of)), s.number, s.of, fmt.Sprintf(format, args...))
}

// Progress is what the next heartbeat adds.
func (s *Session) Progress(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = ", " + fmt.Sprintf(format, args...)
}

// logFile has all output of the step's programs.
func (s *Session) logFile() string { return s.Path("logs", s.step.Name+".log") }

// Scratch makes an empty folder next to where the step's outputs go, so that a rename can put them in place.
func (s *Session) Scratch() (string, func(), error) {
	dir := s.Path(".scratch", s.step.Name)
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, fmt.Errorf("clearing %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("making %s: %w", dir, err)
	}
	return dir, func() { _ = os.RemoveAll(dir); _ = os.Remove(filepath.Dir(dir)) }, nil
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
