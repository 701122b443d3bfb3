package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrRunning says that a sandbox runs, or is being started, in this state folder.
var ErrRunning = errors.New("a sandbox runs already")

// Lock takes the state folder for a sandbox that starts. Whoever holds the file open holds the lock, so it passes to the
// processes that inherit the file, and is free again when the last of them ends, however it ends.
func Lock(l Layout) (*os.File, error) { return lock(l, unix.LOCK_EX) }

func lock(l Layout, how int) (*os.File, error) {
	if err := os.MkdirAll(l.State, 0o755); err != nil {
		return nil, fmt.Errorf("making the sandbox's folder: %w (choose another one with --dir)", err)
	}
	file, err := os.OpenFile(l.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		file.Close()
		return nil, ErrRunning
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("taking the lock: %w", err)
	}
	return file, nil
}

// Running says whether a sandbox runs, or is being started. Any number may ask at once: they are not taken for one another.
func Running(l Layout) (bool, error) {
	if _, err := os.Stat(l.lock()); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	file, err := lock(l, unix.LOCK_SH)
	if errors.Is(err, ErrRunning) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	file.Close()
	return false, nil
}

// holder is a process that holds the lock.
type holder struct {
	pid int
	// initial says that it is the first process of the sandbox's own process namespace: everything in there ends with it.
	initial bool
}

// holders finds the processes that hold the lock. Looking at open files needs no file with a process ID in it, which could be
// lost, or be another's by now.
func holders(l Layout) ([]holder, error) {
	want, err := os.Stat(l.lock())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the lock: %w", err)
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var found []holder
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() || !opens(dir, want) {
			continue
		}
		found = append(found, holder{pid: pid, initial: firstOfNamespace(dir)})
	}
	return found, nil
}

// opens says whether the process has the file open. Processes come and go while we look.
func opens(dir string, file os.FileInfo) bool {
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		info, err := os.Stat(filepath.Join(dir, "fd", fd.Name()))
		if err == nil && os.SameFile(info, file) {
			return true
		}
	}
	return false
}

// firstOfNamespace says whether the process is number 1 in a process namespace below ours.
func firstOfNamespace(dir string) bool {
	ids := namespacePids(dir)
	return len(ids) > 1 && ids[len(ids)-1] == 1
}

// namespacePids lists the numbers of a process: ours first, that in its innermost namespace last.
func namespacePids(dir string) []int {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(status)) {
		rest, ok := strings.CutPrefix(line, "NSpid:")
		if !ok {
			continue
		}
		var ids []int
		for _, field := range strings.Fields(rest) {
			id, err := strconv.Atoi(field)
			if err != nil {
				return nil
			}
			ids = append(ids, id)
		}
		return ids
	}
	return nil
}

// gone says whether a process has ended; one that nobody waits for has ended too.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	// The state follows the name, which is in parentheses and may hold any character.
	_, rest, ok := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), ") ")
	return ok && (strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X"))
}

// InitPid finds the first process of the running sandbox, as the host counts; 0 when none runs.
func InitPid(l Layout) (int, error) {
	found, err := holders(l)
	if err != nil {
		return 0, err
	}
	for _, h := range found {
		if h.initial {
			return h.pid, nil
		}
	}
	return 0, nil
}
