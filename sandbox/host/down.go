package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Down ends the sandbox, if one runs, and removes all it left: cgroups, raised limits, and its state but for the logs. It may be
// called at any time, and any number of times. ran says whether something was running.
func Down(ctx context.Context, l Layout) (ran bool, err error) {
	if _, err := os.Stat(l.State); errors.Is(err, os.ErrNotExist) {
		// The folder may have been removed by hand, but not the cgroups.
		return false, removeCgroups(ctx, l)
	}
	if ran, err = end(ctx, l); err != nil {
		return ran, err
	}
	lock, err := Lock(l)
	if err != nil {
		return ran, fmt.Errorf("another command has to end first: %w", err)
	}
	defer lock.Close()
	return ran, Clean(ctx, l)
}

// Clean removes what a sandbox that ended left behind. The caller holds the lock.
func Clean(ctx context.Context, l Layout) error {
	return errors.Join(removeCgroups(ctx, l), RestoreLimits(l), removeState(l))
}

// end ends every process that holds the lock. A command that is still starting the sandbox is asked first, for it cleans up
// itself; the first process of the namespaces is killed: the kernel ends all others with it.
func end(ctx context.Context, l Layout) (bool, error) {
	ran := false
	deadline := time.Now().Add(30 * time.Second)
	asked := map[int]time.Time{}
	for {
		found, err := holders(l)
		if err != nil {
			return ran, err
		}
		if len(found) == 0 {
			return ran, nil
		}
		ran = true
		if time.Now().After(deadline) {
			return ran, fmt.Errorf("process %d does not end", found[0].pid)
		}
		for _, h := range found {
			first, again := asked[h.pid]
			switch {
			case h.initial:
				if err := kill(ctx, h.pid); err != nil {
					return ran, err
				}
			case !again:
				asked[h.pid] = time.Now()
				_ = syscall.Kill(h.pid, syscall.SIGTERM)
			case time.Since(first) > 15*time.Second:
				_ = syscall.Kill(h.pid, syscall.SIGKILL)
			}
		}
		time.Sleep(100 * time.Millisecond)
		if ctx.Err() != nil {
			return ran, ctx.Err()
		}
	}
}

// kill ends the first process of a namespace and waits until all processes in it have ended: only then does it count as gone.
func kill(ctx context.Context, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending process %d: %w", pid, err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for !gone(pid) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("process %d does not end", pid)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// removeState clears the state folder, but for the logs, the machines' consoles and the lock that is held.
func removeState(l Layout) error {
	entries, err := os.ReadDir(l.State)
	if err != nil {
		return fmt.Errorf("clearing the sandbox's folder: %w", err)
	}
	var failed []error
	for _, entry := range entries {
		path := filepath.Join(l.State, entry.Name())
		switch path {
		case l.Logs(), l.lock(), l.tuned():
		case l.Machines():
			failed = append(failed, removeDisks(path))
		default:
			failed = append(failed, os.RemoveAll(path))
		}
	}
	return errors.Join(failed...)
}

// removeDisks removes what machines had, and keeps their console logs.
func removeDisks(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("removing the machines' disks: %w", err)
	}
	var failed []error
	for _, entry := range entries {
		if entry.IsDir() {
			failed = append(failed, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(failed...)
}
