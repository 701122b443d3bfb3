package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// cgroupParent holds the cgroups of all sandboxes of this machine.
const cgroupParent = "capmaas-sandbox"

// removeCgroups removes this sandbox's cgroups from every hierarchy, once their processes are gone.
func removeCgroups(ctx context.Context, l Layout) error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	var failed []error
	for _, root := range roots {
		parent := filepath.Join(root, cgroupParent)
		if err := removeCgroup(ctx, filepath.Join(parent, l.CgroupName())); err != nil {
			failed = append(failed, err)
		}
		removeAbandoned(parent)
		// The parent stays as long as another sandbox uses it.
		_ = os.Remove(parent)
	}
	return errors.Join(failed...)
}

// removeAbandoned removes cgroups of other sandboxes that ended without being taken down, as in a container that was killed: those
// with no process in them. A sandbox that runs without machines makes its cgroups anew when it needs them.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if entry.IsDir() && abandoned(dir) {
			// What is in use after all cannot be removed.
			_ = removeTree(dir)
		}
	}
}

func abandoned(dir string) bool {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		processes, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err == nil && len(processes) > 0 {
			err = errInUse
		}
		return err
	})
	return err == nil
}

var errInUse = errors.New("in use")

// cgroupRoots lists where the cgroup hierarchies of this machine are mounted.
func cgroupRoots() ([]string, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	defer file.Close()
	roots, err := cgroupMounts(file)
	if err != nil {
		return nil, fmt.Errorf("reading the mounts: %w", err)
	}
	return roots, nil
}

// cgroupMounts lists where cgroup hierarchies of either version are mounted, from the text of mountinfo. Hierarchies that are
// mounted twice appear once.
func cgroupMounts(mountinfo io.Reader) ([]string, error) {
	var roots []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 {
			continue
		}
		kind, _, _ := strings.Cut(after, " ")
		device, root, point := fields[2], fields[3], fields[4]
		if (kind != "cgroup" && kind != "cgroup2") || root != "/" || seen[device] {
			continue
		}
		seen[device] = true
		roots = append(roots, unescapeMount(point))
	}
	return roots, lines.Err()
}

// unescapeMount undoes what the kernel does to blanks in mountinfo.
func unescapeMount(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// removeCgroup removes a cgroup and those inside it, deepest first. Processes that were just killed may hold it for a moment.
func removeCgroup(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := removeTree(dir)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("removing cgroup %s: %w", dir, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	// A cgroup's files go with it: only the folder can be removed.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
