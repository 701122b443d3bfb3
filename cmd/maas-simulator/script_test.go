package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// screen is what a person sees.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until a pattern shows, and returns what its group holds.
func (s *screen) waitFor(t *testing.T, pattern string) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(s.String()); found != nil {
			return found[len(found)-1]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no %q in\n%s", pattern, s)
	return ""
}

// watch starts the command, and interrupts it at the end of the test.
func watch(t *testing.T, args ...string) *screen {
	t.Helper()
	out := &screen{}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := newCommand(out)
	cmd.SetArgs(append(args, "--listen", "127.0.0.1:0"))
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("an interrupt ends it with %v", err)
		}
	})
	return out
}

func script1(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	content := "description: A lost allocate\nfaults:\n- {name: lost, do: drop-answer, on: allocate, count: 1}\n- {name: a-restart, do: away, after: 1h, for: 30s}\n" +
		"- {name: at-once, do: lock, machine: machine-2}\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func allocate(t *testing.T, url string) error {
	t.Helper()
	client, err := maas.New(maas.Config{Endpoint: url, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Allocate(t.Context(), maas.AllocateParams{})
	return err
}

func TestCommandPlaysAScenarioAndTellsWhatStrikes(t *testing.T) {
	t.Parallel()
	out := watch(t, "--machines", "2", "--scenario", script1(t), "--control", ":0")
	url := out.waitFor(t, `URL +(\S+)`)
	control := out.waitFor(t, `Control +(http://127.0.0.1:\d+)\n`)
	out.waitFor(t, `  Scenario A lost allocate
    lost       drop-answer  on allocate, count 1
    a-restart  away         after 1h, for 30s
    at-once    lock         machine machine-2
\d\d:\d\d:\d\d at-once: machine-2: locked
`)
	if err := allocate(t, url); err == nil {
		t.Error("the answer of the allocate arrived")
	}
	out.waitFor(t, `\n\d\d:\d\d:\d\d lost: machines allocate of machine-1: committed, answer dropped\n`)
	resp, err := http.Post(control+"/clock/advance?by=61m", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	out.waitFor(t, `a-restart: region away for 30s\n(?s:.*)a-restart: region back\n`)
}

func TestQuietCommandTellsNoStrikes(t *testing.T) {
	t.Parallel()
	out := watch(t, "--machines", "1", "--scenario", script1(t), "--quiet")
	url := out.waitFor(t, `URL +(\S+)`)
	out.waitFor(t, "after 1h")
	if err := allocate(t, url); err == nil {
		t.Error("the answer of the allocate arrived")
	}
	if strings.Contains(out.String(), "lost:") {
		t.Errorf("it prints\n%s", out)
	}
}

func TestControlWithoutAScenario(t *testing.T) {
	t.Parallel()
	out := watch(t, "--machines", "1", "--control", "127.0.0.1:0")
	url := out.waitFor(t, `URL +(\S+)`)
	control := out.waitFor(t, `Control +(\S+)\n`)
	resp, err := http.Post(control+"/faults", "", strings.NewReader("{do: reset, on: allocate}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := allocate(t, url); resp.StatusCode != http.StatusOK || err == nil {
		t.Errorf("%s, then %v", resp.Status, err)
	}
	out.waitFor(t, "reset: machines allocate: not carried out, connection reset\n")
}

func TestCommandRefusesAScenarioInOneLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte("faults:\n- {name: x, do: drop-anser}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`s.yaml: faults[0] "x": do "drop-anser": no such fault`: {"--scenario", file},
		"read the scenario: ":    {"--scenario", file + "x"},
		"listen for --control: ": {"--control", "127.0.0.1:port", "--listen", "127.0.0.1:0"},
	} {
		cmd := newCommand(io.Discard)
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line with %q", args, err, want)
		}
	}
}
