package container

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// create makes the machine's container, up to but without starting its init system, and returns the process that will become it.
func (r *Runtime) create(ctx context.Context, m Machine) (int, error) {
	// The runtime goes into the bundle before it connects, and the path of a socket must be short.
	if err := r.runc(ctx, "create", "--bundle", m.Dir, "--pid-file", pidFile(m.Dir), "--console-socket", consoleSocket, m.Name); err != nil {
		return 0, err
	}
	return firstProcess(m.Dir)
}

// remove ends the machine's container. One that is not there is fine.
func (r *Runtime) remove(ctx context.Context, name string) error {
	if _, err := os.Stat(filepath.Join(r.cfg.State, name)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// With many processes the kernel takes a while, during which the cgroup cannot be removed.
	var err error
	for range 20 {
		if err = r.runc(ctx, "delete", "--force", name); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(250 * time.Millisecond):
		}
	}
	return err
}

func (r *Runtime) runc(ctx context.Context, args ...string) error {
	return run(ctx, r.cfg.Runc, append([]string{"--root", r.cfg.State}, args...)...)
}

// writeSpec writes the container's description to where the runtime looks for it.
func writeSpec(dir string, spec any) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return fmt.Errorf("describing the machine: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600); err != nil {
		return fmt.Errorf("describing the machine: %w", err)
	}
	return nil
}

// awaitEnd delivers that a process has ended, and not how: that is for its parent to know. It has to be called while the process is
// there.
func awaitEnd(pid int) <-chan syscall.WaitStatus {
	done := make(chan syscall.WaitStatus, 1)
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		// It has ended already.
		done <- 0
		return done
	}
	go func() {
		defer func() { _ = unix.Close(fd) }()
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, unix.EINTR) {
				done <- 0
				return
			}
		}
	}()
	return done
}

// run runs a program, and adds what it said to the error.
func run(ctx context.Context, program string, args ...string) error {
	//nolint:gosec // The programs are ours or the system's, and the arguments paths of ours.
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, lastBytes(output, 600))
	}
	return nil
}

// runOutput is run for a program whose output is wanted.
func runOutput(ctx context.Context, program string, args ...string) (string, error) {
	//nolint:gosec // As above.
	cmd := exec.CommandContext(ctx, program, args...)
	var output, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &trouble
	if err := cmd.Run(); err != nil {
		return output.String(), fmt.Errorf("%w: %s", err, bytes.TrimSpace(lastBytes(trouble.Bytes(), 600)))
	}
	return output.String(), nil
}

func lastBytes(text []byte, n int) []byte {
	if len(text) > n {
		return text[len(text)-n:]
	}
	return text
}
