package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		return fmt.Errorf("building %s takes root: run this as root", stale[i].Title)
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
