package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ProcessTable is the host's process table, seen from inside the sandbox's process namespace: a /proc that was opened before.
type ProcessTable struct{ dir *os.File }

// NewProcessTable reads the /proc that dir is open on.
func NewProcessTable(dir *os.File) *ProcessTable { return &ProcessTable{dir: dir} }

// HostPid translates the number of a process from the caller's namespace to the host's.
func (t *ProcessTable) HostPid(pid int) (int, error) {
	// The way through our own open file leads to the old /proc, although another one is mounted over it by now.
	root := fmt.Sprintf("/proc/self/fd/%d", t.dir.Fd())
	dirs, err := os.ReadDir(root)
	if err != nil {
		return 0, fmt.Errorf("reading the host's processes: %w", err)
	}
	own := namespacePids(filepath.Join(root, "self"))
	namespace, err := os.Readlink(filepath.Join(root, "self", "ns", "pid"))
	if err != nil {
		return 0, fmt.Errorf("reading the host's processes: %w", err)
	}
	for _, entry := range dirs {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		dir := filepath.Join(root, entry.Name())
		ids := namespacePids(dir)
		if len(ids) != len(own) || slices.Index(ids, pid) < 0 || ids[len(ids)-1] != pid {
			continue
		}
		if other, err := os.Readlink(filepath.Join(dir, "ns", "pid")); err == nil && other == namespace {
			return ids[0], nil
		}
	}
	return 0, fmt.Errorf("process %d is not there", pid)
}
