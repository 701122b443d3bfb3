package check

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

// scriptedGuest is a shell script in the place of qemu: it writes to the console and the report, and reads orders as qemu's monitor does.
func scriptedGuest(t *testing.T, script string) *guest {
	t.Helper()
	dir := t.TempDir()
	g := &guest{log: filepath.Join(dir, "console"), report: filepath.Join(dir, "report")}
	g.argv = []string{"sh", "-c", script, "sh", g.log, g.report}
	return g
}

func TestAGuestIsAskedToEndWhenItHasToldAll(t *testing.T) {
	t.Parallel()
	g := scriptedGuest(t, `echo 'image-check login: ' >"$1"; printf '@state running\n@end \n' >"$2"; read order; [ "$order" = system_powerdown ]`)
	b, err := g.boot(t.Context(), testSession(t, &bytes.Buffer{}))
	if err != nil || b.fact("state") != "running" || !loginPrompt.MatchString(b.console) {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestAGuestThatEndsByItselfIsTold(t *testing.T) {
	t.Parallel()
	g := scriptedGuest(t, `echo 'could not open kernel file' >&2; exit 1`)
	_, err := g.boot(t.Context(), testSession(t, &bytes.Buffer{}))
	var p *problem
	if !errors.As(err, &p) || !strings.Contains(p.found, "ended by itself") || !strings.Contains(p.found, "could not open kernel file") {
		t.Errorf("error %v", err)
	}
}

func TestCancellingEndsAGuest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g := scriptedGuest(t, `echo hello >"$1"; exec sleep 1000`)
	done := make(chan error, 1)
	go func() {
		_, err := g.boot(ctx, testSession(t, &bytes.Buffer{}))
		done <- err
	}()
	for {
		if _, err := os.Stat(g.log); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestTheLastLineOfAConsoleIsPlain(t *testing.T) {
	t.Parallel()
	for console, want := range map[string]string{
		"": "(the guest has not said anything yet)",
		"one\r\n[\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39mssh.service\x1b[0m.\r\n": "[  OK  ] Started ssh.service.",
	} {
		if got := lastLine(console); got != want {
			t.Errorf("%q: %q, want %q", console, got, want)
		}
	}
}
