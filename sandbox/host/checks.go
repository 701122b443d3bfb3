package host

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Needs are what the sandbox wants of the machine it runs on.
type Needs struct {
	// ControlPlanes and Workers are the machines that will run.
	ControlPlanes, Workers int
	// Built says that the build's results are there already, which saves the disk space for making them.
	Built bool
}

// What one sandbox takes, measured with room to spare.
const (
	mib           = 1 << 20
	gib           = 1 << 30
	baseMemory    = 1500 * mib
	machineMemory = 600 * mib
	baseDisk      = 1 * gib
	machineDisk   = 600 * mib
	buildDisk     = 14 * gib
	// Instances of inotify: systemd, containerd, kubelet and the pods each have some.
	baseInotify         = 6
	controlPlaneInotify = 25
	workerInotify       = 16
	inotifyLimit        = "/proc/sys/fs/inotify/max_user_instances"
)

// Check finds out whether this machine has what the sandbox needs, without changing anything. All that is wrong is said at once.
// Limits that can be raised are the business of CheckLimits.
func Check(l Layout, needs Needs) error {
	return errors.Join(checkDisk(l, needs), checkOneFileSystem(l), checkMemory(needs), checkCgroups())
}

// RequireRoot says why, when the caller is not root.
func RequireRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("the sandbox makes namespaces, mounts and cgroups: run this as root")
	}
	return nil
}

func checkDisk(l Layout, needs Needs) error {
	want := uint64(baseDisk + (needs.ControlPlanes+needs.Workers)*machineDisk)
	why := "for the machines' disks"
	if !needs.Built {
		want += buildDisk
		why = "for building everything and for the machines' disks"
	}
	dir := existing(l.State)
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("looking at the disk under %s: %w", dir, err)
	}
	free := stat.Bavail * uint64(stat.Bsize)
	if free < want {
		return fmt.Errorf("the disk under %s has %s free, and %s are needed %s", dir, size(free), size(want), why)
	}
	return nil
}

// checkOneFileSystem: the machines' disks begin as hard links to the image store that was built.
func checkOneFileSystem(l Layout) error {
	var state, build unix.Stat_t
	if err := errors.Join(unix.Stat(existing(l.State), &state), unix.Stat(existing(l.Build), &build)); err != nil {
		return fmt.Errorf("looking at %s and %s: %w", l.State, l.Build, err)
	}
	if state.Dev != build.Dev {
		return fmt.Errorf("%s and %s lie on different file systems: choose --dir and --build-dir on one", l.State, l.Build)
	}
	return nil
}

// existing is the folder itself, or the nearest above it that exists.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func checkMemory(needs Needs) error {
	want := uint64(baseMemory + (needs.ControlPlanes+needs.Workers)*machineMemory)
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("looking at the memory: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		kib, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return fmt.Errorf("looking at the memory: %w", err)
		}
		if kib*1024 < want {
			return fmt.Errorf("%s of memory are available, and %s are needed for %d machines at work", size(kib*1024), size(want), needs.ControlPlanes+needs.Workers)
		}
		return nil
	}
	return lines.Err()
}

func checkCgroups() error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	if len(roots) == 0 {
		return errors.New("no cgroup hierarchy is mounted under /sys/fs/cgroup: machines need one")
	}
	return nil
}

// LimitError is a limit of the host that is too low.
type LimitError struct {
	Name       string
	Have, Want int
	// path of the file that holds the limit.
	path string
}

// Error says what would help.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the host limit %s is %d, and %d are needed: run with SANDBOX_TUNE_HOST=1 to have it raised until the sandbox goes down, "+
		"or raise it yourself (sysctl -w %s=%d)", e.Name, e.Have, e.Want, e.Name, e.Want)
}

// CheckLimits returns a *LimitError when a limit is too low for the machines.
func CheckLimits(needs Needs) error {
	have, err := readLimit(inotifyLimit)
	if err != nil {
		return err
	}
	want := inotifyInUse() + baseInotify + needs.ControlPlanes*controlPlaneInotify + needs.Workers*workerInotify
	if have < want {
		return &LimitError{Name: "fs.inotify.max_user_instances", Have: have, Want: want, path: inotifyLimit}
	}
	return nil
}

// Shortage says which limit of the host is used up, or nearly; "" when none is. Programs that meet one fail in ways that do not
// tell why.
func Shortage() string {
	limit, err := readLimit(inotifyLimit)
	if err != nil {
		return ""
	}
	if used := inotifyInUse(); used+3 >= limit {
		return fmt.Sprintf("%d of the %d inotify instances that this host allows are in use: see SANDBOX_TUNE_HOST=1", used, limit)
	}
	return ""
}

// inotifyInUse counts the instances of inotify that root has already.
func inotifyInUse() int {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0
	}
	count := 0
	for _, link := range links {
		// Processes end while we look.
		if target, err := os.Readlink(link); err != nil || target != "anon_inode:inotify" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(filepath.Dir(link))); err == nil && ownedByRoot(info) {
			count++
		}
	}
	return count
}

func ownedByRoot(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}

func readLimit(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("reading a host limit: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func size(bytes uint64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/gib) }
