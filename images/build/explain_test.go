package build

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestWhatCanBeDoneIsSaidWithTheFailure(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo 'link: signal: killed'; exit 1": "memory ran out",
		"kill -9 $$":                          "memory ran out",
		"echo \"Temporary failure resolving 'packages.example.org'\"; exit 100":                       "the network",
		"echo '  Could not connect to mirror.example:80 (192.0.2.1), connection timed out'; exit 100": "the network",
		"echo 'dial tcp: lookup x: no such host'; exit 1":                                             "the network",
		"echo 'go: go.mod requires go >= 1.26.0 (running go 1.22)'; exit 1":                           "a newer Go",
	} {
		p, _ := newTestProject(t)
		s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
		err := s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", script}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q is not in: %v", script, want, err)
		}
	}
	p, _ := newTestProject(t)
	s := &Session{Project: p, step: Step{Name: "x", Title: "x"}}
	err := s.Exec(t.Context(), Command{Argv: []string{"no-such-program"}})
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "no-such-program is needed") {
		t.Errorf("a program that is not there: %v", err)
	}
	err = s.Exec(t.Context(), Command{Argv: []string{"sh", "-c", "exit 3"}})
	if err == nil || !strings.HasSuffix(err.Error(), "x.log") {
		t.Errorf("nothing is known, and still something is advised: %v", err)
	}
}

func TestAnOutputFolderThatCannotBeWrittenToIsExplained(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{syscall.EROFS: "--build-dir", os.ErrPermission: "another user", syscall.ENOSPC: "a disk is full"} {
		if err := explainFolder(cause, t.TempDir()); !errors.Is(err, cause) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, errors.New("link: no space left on device"), errors.New("apt: No space left on device")} {
		if got := explainFullDisk(err, t.TempDir()); !errors.Is(got, err) || !strings.Contains(got.Error(), "MiB left") {
			t.Errorf("%v", got)
		}
	}
	other := errors.New("other")
	if got := explainFullDisk(other, t.TempDir()); got.Error() != "other" {
		t.Errorf("%v", got)
	}
}
