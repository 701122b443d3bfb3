package build

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newTestProject is a project with nothing in it, and what it says.
func newTestProject(t *testing.T) (*Project, *bytes.Buffer) {
	t.Helper()
	repo := t.TempDir()
	if err := os.MkdirAll(filepath.Join(repo, "images", "components"), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p, err := newProject(Options{Repo: repo, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	return p, &log
}

// recorder makes steps that note that they ran and write their output.
type recorder struct {
	mu  sync.Mutex
	ran []string
}

func (r *recorder) step(p *Project, name string, needs ...string) Step {
	output := p.Path(name)
	return Step{
		Name: name, Title: name, Needs: needs, Files: []string{p.Path("input-" + name)}, Outputs: []string{output},
		Run: func(context.Context, *Session) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ran = append(r.ran, name)
			return os.WriteFile(output, []byte(name), 0o644)
		},
	}
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ran := r.ran
	r.ran = nil
	slices.Sort(ran)
	return ran
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyWhatChangedRunsAgain(t *testing.T) {
	t.Parallel()
	p, log := newTestProject(t)
	var r recorder
	steps := []Step{r.step(p, "a"), r.step(p, "b", "a"), r.step(p, "c")}
	steps[2].Lane = Assembling
	for _, test := range []struct {
		what   string
		change func()
		want   []string
	}{
		{"everything at first", func() {}, []string{"a", "b", "c"}},
		{"nothing when nothing changed", func() {}, nil},
		{"what needs a changed step, too", func() { write(t, p.Path("input-a"), "new") }, []string{"a", "b"}},
		{"only the step whose own input changed", func() { write(t, p.Path("input-b", "file"), "new") }, []string{"b"}},
		{"the step whose output is gone", func() { _ = os.Remove(p.Path("c")) }, []string{"c"}},
		{"a step whose facts changed", func() { steps[2].Facts = []string{"v2"} }, []string{"c"}},
	} {
		test.change()
		log.Reset()
		if err := newSchedule(p, steps).run(t.Context()); err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		if ran := r.take(); !slices.Equal(ran, test.want) {
			t.Errorf("%s: ran %v, want %v", test.what, ran, test.want)
		}
		if quiet := log.Len() == 0; quiet != (len(test.want) == 0) {
			t.Errorf("%s: said %q", test.what, log)
		}
	}
}

func TestAFailedStepRunsAgainAndStopsThoseThatNeedIt(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	var r recorder
	broken := errors.New("broken")
	bad := r.step(p, "bad")
	good := bad.Run
	bad.Run = func(context.Context, *Session) error { return broken }
	after := r.step(p, "after", "bad")
	after.Lane = Assembling
	if err := newSchedule(p, []Step{bad, after}).run(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "building bad") {
		t.Fatalf("error %v", err)
	}
	if ran := r.take(); ran != nil {
		t.Errorf("ran %v", ran)
	}
	bad.Run = good
	if err := newSchedule(p, []Step{bad, after}).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ran := r.take(); !slices.Equal(ran, []string{"after", "bad"}) {
		t.Errorf("ran %v", ran)
	}
}

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

func TestASecondBuildWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	p, log := newTestProject(t)
	path := p.Path(".lock")
	unlock, err := lock(t.Context(), path, p.log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path, p.log); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(log.String(), "another build is running") {
		t.Errorf("said %q", log)
	}
	unlock()
	unlock, err = lock(t.Context(), path, p.log)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestOnlySelectsWithAllThatIsNeeded(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	var r recorder
	all := []Step{r.step(p, "a"), r.step(p, "b"), r.step(p, "c", "a"), r.step(p, "d", "c")}
	steps, err := selectSteps(all, []string{"d"})
	if err != nil {
		t.Fatal(err)
	}
	if names := stepNames(steps); !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("selected %v", names)
	}
	if _, err := selectSteps(all, []string{"nonsense"}); err == nil || !strings.Contains(err.Error(), "a, b, c, d") {
		t.Errorf("an unknown step: %v", err)
	}
}
