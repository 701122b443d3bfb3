package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// hostCommand is a program on this machine. It and its children end when ctx does, and with this process, however that ends, provided that
// it is run by runPinned.
func hostCommand(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// A group of its own, so that the whole of it can be killed, and Ctrl-C does not reach it before us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// runPinned keeps the thread that started the program: the kernel's "parent died" signal is about threads.
func runPinned(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}

// output runs a program, and returns what it says on its standard output. When it fails, that is all that it says, and the error has the
// end of it.
func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	var all lockedBuffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, &all), &all
	if err := runPinned(cmd); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return all.String(), fmt.Errorf("%w: %s", err, lastWords(all.String()))
	}
	return out.String(), nil
}

// lockedBuffer takes what comes from two sides at once.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// lastWords of a program.
func lastWords(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	const most = 3
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}

// lockFile waits until nobody else holds the lock. The kernel lets go of it however we end.
func lockFile(ctx context.Context, path string, say func(string, ...any)) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the checks: %w", err)
	}
	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
		}
		if !waiting {
			say("another check is running here; waiting for it to end")
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
