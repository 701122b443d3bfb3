package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Enter is the command line that runs a program in a container, with these variables and no others. dir is the machine's folder; the
// command has to be run where the machine was started from. It asks for the container's root by the container's first process:
// entering the mount namespace alone, as the container runtime does it, leads past the root that a host itself was given by chroot.
func Enter(dir string, env, argv []string) ([]string, error) {
	pid, err := firstProcess(dir)
	if err != nil {
		return nil, err
	}
	enter := []string{
		"nsenter", "--target", strconv.Itoa(pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", "--",
		"/usr/bin/env", "--ignore-environment", "PATH=" + searchPath, "HOME=/root",
	}
	return append(append(enter, env...), argv...), nil
}

// searchPath is where programs of a machine are.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// firstProcess is that of the machine's container, as whoever started it sees it.
func firstProcess(dir string) (int, error) {
	text, err := os.ReadFile(pidFile(dir))
	if err != nil {
		return 0, fmt.Errorf("reading the machine's process: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func pidFile(dir string) string { return filepath.Join(dir, "pid") }
