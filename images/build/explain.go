package build

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// hintFor says what a person can do about a program that failed, where its end or its last words tell; "" where they do not.
func hintFor(e *commandError) string {
	words := strings.ToLower(strings.Join(e.tail, "\n"))
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(words, part) {
				return true
			}
		}
		return false
	}
	exit, _ := errors.AsType[*exec.ExitError](e.err)
	killed := exit != nil && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	switch {
	case errors.Is(e.err, exec.ErrNotFound) && e.argv[0] == "go":
		return "Go is needed, and is not in PATH: https://go.dev/dl/"
	case errors.Is(e.err, exec.ErrNotFound):
		return fmt.Sprintf("the program %s is needed, and is not in PATH: install it, and run this again", e.argv[0])
	case killed, says("signal: killed"):
		return "something was killed while it ran, by the kernel if memory ran out: free some (linking Kubernetes alone takes more than 1 GiB), and run this again"
	case says("temporary failure resolving", "network is unreachable", "no such host", "connection refused", "i/o timeout",
		"could not resolve", "could not connect", "connection timed out", "server misbehaving"):
		return "the network, or a proxy of it, cannot be reached: a first build downloads Debian packages and Go modules. Run this again when it is up"
	case says("go.mod requires go >="):
		return "a newer Go is needed: https://go.dev/dl/"
	}
	return ""
}

// explainFullDisk says which disk is full, where that is what went wrong.
func explainFullDisk(err error, out string) error {
	if !errors.Is(err, syscall.ENOSPC) && !strings.Contains(strings.ToLower(err.Error()), "no space left on device") {
		return err
	}
	var places []string
	for _, dir := range []string{out, os.TempDir()} {
		var stat syscall.Statfs_t
		if syscall.Statfs(dir, &stat) == nil {
			places = append(places, fmt.Sprintf("%s has %d MiB left", dir, stat.Bavail*uint64(stat.Bsize)>>20))
		}
	}
	return fmt.Errorf("a disk is full (%s); a first build needs about 17 GiB, most of it for Go's caches (see `go env GOCACHE GOMODCACHE`): %w",
		strings.Join(places, ", "), err)
}

// explainFolder says what to do about an output folder that cannot be written to.
func explainFolder(err error, out string) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: choose a folder that can be written to with --build-dir", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: it belongs to another user, who built here before: build as that user, or choose another --build-dir", err)
	}
	return explainFullDisk(err, out)
}
