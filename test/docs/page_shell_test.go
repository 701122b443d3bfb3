package docs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/test/ports"
)

// commandPatience is how long one block of a page may take.
const commandPatience = 60 * time.Second

// shell is one terminal in which the blocks of a page run, one after the other, in a folder where the checkout seems to be. Programs of the
// checkout are built before, and addresses of the page stand for ports that are free.
type shell struct {
	dir    string // where commands run
	kept   string // scripts and outputs
	ports  map[string]string
	stdin  io.WriteCloser
	lines  chan string
	end    func()
	blocks int
	server bool
}

var (
	address      = regexp.MustCompile(`(?:127\.0\.0\.1|localhost):([0-9]{4,5})\b`)
	number       = regexp.MustCompile(`\b[0-9]{4,5}\b`)
	startsServer = regexp.MustCompile(`(?m)^((?:[A-Z_]+=\S+ +)*)((?:go run \./cmd/|\S*/)?maas-simulator\b)`)
	runsProgram  = regexp.MustCompile(`(?:go run \./cmd/|_build/bin/)(maas-simulator|capmaas)\b`)
)

// defaultPort is where maas-simulator listens unless it is told otherwise.
const defaultPort = "5240"

// newShell opens a terminal for a page. programs is the folder of the checkout's programs.
func newShell(t *testing.T, page, programs string) *shell {
	t.Helper()
	s := &shell{dir: t.TempDir(), kept: t.TempDir(), ports: map[string]string{}, lines: make(chan string, 1)}
	s.ports[defaultPort] = ports.Take(t)
	for _, match := range address.FindAllStringSubmatch(page, -1) {
		if s.ports[match[1]] == "" {
			s.ports[match[1]] = ports.Take(t)
		}
	}
	top, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.Symlink(filepath.Join(top, entry.Name()), filepath.Join(s.dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	// It listens at another port than the page says, unless it is told to.
	inPlace := "#!/bin/bash\nexec " + filepath.Join(programs, "maas-simulator") + " --listen 127.0.0.1:" + s.ports[defaultPort] + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(s.kept, "maas-simulator"), []byte(inPlace), 0o700); err != nil {
		t.Fatal(err)
	}
	if curl, err := exec.LookPath("curl"); err == nil {
		strict := "#!/bin/bash\nexec " + curl + " ${STRICT:+--fail-with-body} \"$@\"\n"
		if err := os.WriteFile(filepath.Join(s.kept, "curl"), []byte(strict), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.open(t, s.kept+":"+programs)
	return s
}

// open starts the shell.
func (s *shell) open(t *testing.T, path string) {
	t.Helper()
	bash := exec.Command("bash", "--norc", "--noprofile")
	bash.Dir = s.dir
	bash.Env = []string{"PATH=" + path + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "LC_ALL=C.UTF-8"}
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	s.end = sync.OnceFunc(func() {
		// All that it started is in its process group.
		_ = syscall.Kill(-bash.Process.Pid, syscall.SIGKILL)
		for range s.lines { // until it is closed
		}
		_ = bash.Wait()
	})
	t.Cleanup(s.end)
	// A command that fails in the middle of a block is as bad as the last one.
	s.send("set -E -o pipefail; trap 'status=$?; [[ $BASH_COMMAND == \"source " + s.kept + "/\"* ]] || failed+=\" $BASH_COMMAND (status $status);\"' ERR")
}

func (s *shell) send(line string) { _, _ = io.WriteString(s.stdin, line+"\n") }

// run runs a block, and compares what it prints with what the page shows.
func (s *shell) run(c command) error {
	before, server := splitServer(c.text)
	var got string
	if strings.TrimSpace(before) != "" {
		_, wanted := c.marks[markFails]
		if c.output == nil && !wanted {
			// Nobody looks at what MAAS answers here, so that it must be no error.
			s.send("export STRICT=1")
			defer s.send("unset STRICT")
		}
		var failed string
		var err error
		if got, failed, err = s.perform(before); err != nil {
			return err
		}
		switch {
		case failed != "" && !wanted:
			return fmt.Errorf("failed:%s it printed\n%s", failed, got)
		case failed == "" && wanted && server == "":
			return fmt.Errorf("did not fail, as the page says; it printed\n%s", got)
		}
	}
	if server != "" {
		return s.serve(server, c.output)
	}
	if c.output == nil {
		return nil
	}
	return compareOutput(c.output.text, got)
}

// splitServer cuts off the command that starts a simulator in the foreground, which stays there.
func splitServer(text string) (before, server string) {
	at := startsServer.FindStringSubmatchIndex(text)
	if at == nil || strings.HasSuffix(strings.TrimSpace(text), "&") || strings.Contains(text[at[0]:], "--help") {
		return text, ""
	}
	return text[:at[0]], text[at[0]:at[3]] + "exec " + text[at[4]:]
}

// perform runs commands to their end. failed names those that failed.
func (s *shell) perform(text string) (output, failed string, err error) {
	script, out := s.script(text)
	s.send("failed=; source " + script + " >" + out + " 2>&1 </dev/null; status=$?\n" +
		"[ $status = 0 ] || [ -n \"$failed\" ] || failed=\" status $status;\"; echo \"done$failed\"")
	timer := time.NewTimer(commandPatience)
	defer timer.Stop()
	select {
	case line, ok := <-s.lines:
		if !ok {
			return "", "", fmt.Errorf("it ended the shell; it printed\n%s", s.read(out))
		}
		return s.read(out), s.asOnPage(strings.TrimPrefix(line, "done")), nil
	case <-timer.C:
		return "", "", fmt.Errorf("it did not end within %v; it printed\n%s", commandPatience, s.read(out))
	}
}

// serve starts a simulator in the place of the one before, and waits until it printed what the page shows.
func (s *shell) serve(text string, shown *block) error {
	if s.server {
		if _, _, err := s.perform("kill $server; wait $server || true"); err != nil {
			return err
		}
	}
	script, out := s.script(text)
	s.send("source " + script + " >" + out + " 2>&1 </dev/null & server=$!")
	s.server = true
	err := errors.New("it did not start")
	var listens time.Time
	for began := time.Now(); time.Since(began) < commandPatience/2; time.Sleep(20 * time.Millisecond) {
		got := s.read(out)
		if _, problem, serr := s.perform("kill -0 $server"); serr != nil || problem != "" {
			return fmt.Errorf("it ended; it printed\n%s", s.read(out))
		}
		// It prints its keys when it listens.
		if !strings.Contains(got, "API key") {
			continue
		}
		if shown == nil {
			return nil
		}
		if listens.IsZero() {
			listens = time.Now()
		}
		// The rest of what it prints follows, on a busy machine not at once.
		if err = compareOutput(shown.text, got); err == nil || time.Since(listens) > 5*time.Second {
			return err
		}
	}
	return err
}

// script writes commands as they can run here.
func (s *shell) script(text string) (script, out string) {
	s.blocks++
	script = filepath.Join(s.kept, fmt.Sprintf("block-%d.sh", s.blocks))
	text = runsProgram.ReplaceAllString(s.translate(text, s.ports), "$1")
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return script, os.DevNull // and the shell finds no script
	}
	return script, script + ".out"
}

// read returns what a block printed, with the page's ports.
func (s *shell) read(out string) string {
	content, err := os.ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	return s.asOnPage(string(content))
}

func (s *shell) asOnPage(text string) string {
	back := map[string]string{}
	for shown, real := range s.ports {
		back[real] = shown
	}
	return s.translate(text, back)
}

func (s *shell) translate(text string, ports map[string]string) string {
	return number.ReplaceAllStringFunc(text, func(n string) string {
		if other := ports[n]; other != "" {
			return other
		}
		return n
	})
}

// write puts a file of the page where commands find it.
func (s *shell) write(name, text string) error {
	path := filepath.Join(s.dir, name)
	if !strings.HasPrefix(path, s.dir+string(filepath.Separator)) {
		return fmt.Errorf("the file %s is not in the folder of the page", name)
	}
	return os.WriteFile(path, []byte(s.translate(text, s.ports)), 0o600)
}

// needs fails the test, and says so plainly, when a program is missing that the commands of a page use.
func needs(t *testing.T, commands []command, programs ...string) {
	t.Helper()
	for _, program := range programs {
		used := slices.ContainsFunc(commands, func(c command) bool {
			_, untested := c.marks[markUntested]
			return !untested && regexp.MustCompile(`\b`+program+`\b`).MatchString(c.text)
		})
		if _, err := exec.LookPath(program); used && err != nil {
			t.Fatalf("the page's commands use %s, which this machine does not have: install it (Debian: apt-get install %s)", program, program)
		}
	}
}
