package build

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Command is a program to run.
type Command struct {
	Argv []string
	// Dir is where it runs; empty means the checkout.
	Dir string
	// Env is added to our own environment.
	Env []string
	// OwnMounts gives the program a mount namespace, so that what it mounts vanishes with it. It takes root.
	OwnMounts bool
	// OwnProcesses gives it a process namespace, so that all it starts ends with it, even if we are killed.
	OwnProcesses bool
	// Gentle programs are asked to end when ctx does, and killed only if they take long.
	Gentle bool
	// Lasting programs run to their end even if we are killed. Their lines are not seen while they run.
	Lasting bool
	// OnLine, when set, sees every line of output.
	OnLine func(line string)
	// Stdout, when set, receives the standard output instead of the log.
	Stdout io.Writer
}

// commandError is a program that did not succeed, with the end of what it wrote.
type commandError struct {
	argv []string
	dir  string
	tail []string
	log  string
	err  error
	// hint, when set, is what a person can do.
	hint string
}

func (e *commandError) Error() string {
	if errors.Is(e.err, exec.ErrNotFound) {
		return hintFor(e)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.call(), e.err)
	for _, line := range e.tail {
		b.WriteString("\n    | " + line)
	}
	fmt.Fprintf(&b, "\n    it ran in %s; all of its output is in %s", e.dir, e.log)
	if hint := cmp.Or(e.hint, hintFor(e)); hint != "" {
		b.WriteString("\n" + hint)
	}
	return b.String()
}

// call is the program with its arguments, without those that only make it long.
func (e *commandError) call() string {
	const longest = 100
	text := strings.Join(e.argv, " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

func (e *commandError) Unwrap() error { return e.err }

// tailLines is how much of a failing program's output is shown.
const tailLines = 12

// Exec runs a program to its end, with its output in the step's log. When ctx ends, it and its children are killed.
func (s *Session) Exec(ctx context.Context, c Command) error {
	path := s.logFile()
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	fmt.Fprintf(log, "+ %s\n", strings.Join(c.Argv, " "))
	if c.Dir == "" {
		c.Dir = s.Repo
	}
	lines, err := run(newCommand(ctx, c), c, log)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &commandError{argv: c.Argv, dir: c.Dir, tail: lines, log: path, err: err}
	}
	return nil
}

// run returns the last lines that the program wrote.
func run(cmd *exec.Cmd, c Command, log *os.File) ([]string, error) {
	if c.Lasting {
		// Without us in between, for nobody would read what it writes.
		cmd.Stdout, cmd.Stderr = log, log
		err := cmd.Run()
		return lastLines(log.Name()), err
	}
	reader, writer := io.Pipe()
	cmd.Stderr = writer
	if c.Stdout == nil {
		cmd.Stdout = writer
	}
	tail := make(chan []string, 1)
	go func() { tail <- readLines(reader, log, c.OnLine) }()
	err := RunProcess(cmd)
	_ = writer.Close()
	return <-tail, err
}

// lastLines reads the end of a log.
func lastLines(path string) []string {
	log, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer log.Close()
	return readLines(log, io.Discard, nil)
}

func newCommand(ctx context.Context, c Command) *exec.Cmd {
	cmd := Process(ctx, c.Argv...)
	cmd.Dir = c.Dir
	cmd.Env = append(cmd.Environ(), c.Env...)
	cmd.Stdout = c.Stdout
	if c.Lasting {
		cmd.SysProcAttr.Pdeathsig = 0
	}
	if c.OwnMounts {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	if c.OwnProcesses {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	}
	if c.Gentle {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	}
	return cmd
}

// readLines copies lines to the log until there are no more, and returns the last ones. It reads on when the log's disk is full:
// the program would wait for ever otherwise.
func readLines(r io.Reader, log io.Writer, onLine func(string)) []string {
	var tail []string
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		_, _ = io.WriteString(log, line)
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			if onLine != nil {
				onLine(line)
			}
			if tail = append(tail, line); len(tail) > tailLines {
				tail = tail[1:]
			}
		}
		if err != nil {
			return tail
		}
	}
}

// Output runs a program and returns what it wrote to its standard output.
func (s *Session) Output(ctx context.Context, c Command) (string, error) {
	var out strings.Builder
	c.Stdout = &out
	err := s.Exec(ctx, c)
	return out.String(), err
}
