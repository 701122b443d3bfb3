package build

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFingerprintFollowsNamesContentsAndPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "file")
	write(t, file, "content")
	steps := []Step{{Name: "s", Files: []string{dir}, Keep: NotTest}}
	seen := make(map[string]string)
	same := ""
	for _, change := range []struct {
		what string
		do   func() error
		same bool
	}{
		{"the start", func() error { return nil }, false},
		{"nothing", func() error { return nil }, true},
		{"a test", func() error { return os.WriteFile(filepath.Join(dir, "x_test.go"), nil, 0o644) }, true},
		{"only who may read it", func() error { return os.Chmod(file, 0o600) }, true},
		{"who may run it", func() error { return os.Chmod(file, 0o755) }, false},
		{"its content", func() error { return os.WriteFile(file, []byte("CONTENT"), 0o755) }, false},
		{"its name", func() error { return os.Rename(file, file+"2") }, false},
		{"a link", func() error { return os.Symlink("a", filepath.Join(dir, "link")) }, false},
		{"the link's target", func() error {
			return ReplaceLink("b", filepath.Join(dir, "link"))
		}, false},
	} {
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		prints, err := fingerprints(steps)
		if err != nil {
			t.Fatal(err)
		}
		print := prints["s"]
		if change.same && print != same {
			t.Errorf("%s changed the fingerprint", change.what)
		}
		if before, found := seen[print]; !change.same && found {
			t.Errorf("%s has the fingerprint of %s", change.what, before)
		}
		seen[print], same = change.what, print
	}
}

func TestWhatIsNotWholeIsMadeAgain(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	var r recorder
	whole := true
	step := r.step(p, "a")
	step.Whole = func() bool { return whole }
	for _, round := range []struct {
		whole bool
		runs  int
	}{{true, 1}, {true, 0}, {false, 1}, {true, 0}} {
		whole = round.whole
		if err := newSchedule(p, []Step{step}).run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ran := r.take(); len(ran) != round.runs {
			t.Errorf("whole %t: it ran %d times, want %d", round.whole, len(ran), round.runs)
		}
	}
}
