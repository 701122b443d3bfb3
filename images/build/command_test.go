package build

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCancellingEndsProgramsAndTheirChildren(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	ctx, cancel := context.WithCancel(t.Context())
	pids := make(chan string, 1)
	s := Step{Name: "slow", Title: "slow", Run: func(ctx context.Context, s *Session) error {
		return s.Exec(ctx, Command{Argv: []string{"sh", "-c", "sleep 1000 & echo $!; wait"}, OnLine: func(line string) { pids <- line }})
	}}
	go func() { pids <- <-pids; cancel() }()
	if err := newSchedule(p, []Step{s}).run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	child := filepath.Join("/proc", <-pids, "stat")
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		// A killed process may stay in the table until somebody collects it.
		stat, err := os.ReadFile(child)
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the child still runs: %s", stat)
		}
	}
}

func TestAFailingProgramShowsTheEndOfItsOutput(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
	err := s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", "seq 100; echo the cause >&2; exit 3"}})
	for _, want := range []string{"exit status 3", "| the cause", "| 100", filepath.Join("logs", "x.log")} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "| 50\n") {
		t.Errorf("too much output: %v", err)
	}
}

func TestAFullDiskUnderTheLogDoesNotHoldAProgramUp(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
	if err := os.Symlink("/dev/full", s.logFile()); err != nil {
		t.Fatal(err)
	}
	// More than pipes hold.
	err := s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", "seq 100000; echo the cause; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "| the cause") {
		t.Errorf("error %v", err)
	}
}

func TestALongCallIsCut(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
	err := s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", "exit 1", strings.Repeat("x", 1000)}})
	first, _, _ := strings.Cut(err.Error(), "\n")
	if len(first) > 150 || !strings.HasSuffix(first, "…: exit status 1") {
		t.Errorf("%q", first)
	}
}

func TestTheLastWordsOfALastingProgramAreSaid(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
	err := s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", "echo the cause; exit 3"}, Lasting: true})
	if err == nil || !strings.Contains(err.Error(), "| the cause") {
		t.Errorf("error %v", err)
	}
}
