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
