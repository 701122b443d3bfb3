package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// checkMemory compares what the machines take with what is left: in the whole machine, and in the cgroup that we run in, for
// /proc/meminfo tells of the former even in a container.
func checkMemory(needs Needs) error {
	want := uint64(baseMemory + (needs.ControlPlanes+needs.Workers)*machineMemory)
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("looking at the memory: %w", err)
	}
	defer file.Close()
	free, err := availableMemory(file)
	if err != nil {
		return fmt.Errorf("looking at the memory: %w", err)
	}
	where := ""
	if allowed, dir := cgroupMemory(); dir != "" && allowed < free {
		free, where = allowed, " under the limit of the cgroup "+dir
	}
	if free < want {
		return fmt.Errorf("%s of memory are available%s, and %s are needed for %d machines at work: free some, or make a smaller cluster (--workers 1)",
			size(free), where, size(want), needs.ControlPlanes+needs.Workers)
	}
	return nil
}

// availableMemory reads, from the text of /proc/meminfo, how many bytes programs could still get.
func availableMemory(meminfo io.Reader) (uint64, error) {
	lines := bufio.NewScanner(meminfo)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "MemAvailable:" {
			kib, err := strconv.ParseUint(fields[1], 10, 64)
			return kib * 1024, err
		}
	}
	return 0, errors.Join(lines.Err(), errors.New("it tells of no MemAvailable"))
}

// cgroupMemory is what the cgroups that we run in still allow, in bytes, and the one that allows least; "" when none has a limit.
func cgroupMemory() (free uint64, dir string) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, ""
	}
	roots, err := cgroupRoots()
	if err != nil {
		return 0, ""
	}
	for _, root := range roots {
		for at := filepath.Join(root, ownCgroup(string(own), filepath.Base(root))); strings.HasPrefix(at, root); at = filepath.Dir(at) {
			if left, limited := memoryLeft(at); limited && (dir == "" || left < free) {
				free, dir = left, at
			}
		}
	}
	return free, dir
}

// ownCgroup finds the path of a process's cgroup in the text of /proc/self/cgroup: that of a hierarchy of version 1 which has the
// controller, or else that of version 2.
func ownCgroup(text, controller string) string {
	unified := ""
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			switch name {
			case controller:
				return parts[2]
			case "":
				unified = parts[2]
			}
		}
	}
	return unified
}

// memoryLeft is what one cgroup still allows, in bytes. Of what it uses, files that nobody works with do not count.
func memoryLeft(dir string) (uint64, bool) {
	for _, names := range [][2]string{{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"}} {
		limit, err := readNumber(filepath.Join(dir, names[0]))
		// Version 1 writes a number near the largest for "no limit", version 2 a word.
		if err != nil || limit > 1<<60 {
			continue
		}
		used, err := readNumber(filepath.Join(dir, names[1]))
		if err != nil {
			continue
		}
		used -= min(used, inactiveFiles(filepath.Join(dir, "memory.stat")))
		return limit - min(limit, used), true
	}
	return 0, false
}

func inactiveFiles(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var total uint64
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "inactive_file" || key == "total_inactive_file" {
			if bytes, err := strconv.ParseUint(value, 10, 64); err == nil {
				total = bytes
			}
		}
	}
	return total
}

func readNumber(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}
