package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Instances of inotify: systemd, containerd, kubelet and the pods each have some.
const (
	baseInotify         = 6
	controlPlaneInotify = 25
	workerInotify       = 16
	inotifyLimit        = "/proc/sys/fs/inotify/max_user_instances"
)

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

// CheckLimits returns a *LimitError when a limit is too low for the machines, those of other sandboxes counted that are not up yet.
func CheckLimits(l Layout, needs Needs) error {
	have, err := readLimit(inotifyLimit)
	if err != nil {
		return err
	}
	want := max(inotifyInUse(), reserved(Others(l))) + needs.inotify()
	if have < want {
		return &LimitError{Name: "fs.inotify.max_user_instances", Have: have, Want: want, path: inotifyLimit}
	}
	return nil
}

// inotify is how many instances all machines take together.
func (n Needs) inotify() int {
	return baseInotify + n.ControlPlanes*controlPlaneInotify + n.Workers*workerInotify
}

// Reserve notes what the sandbox takes once all its machines run, for others that start meanwhile.
func Reserve(l Layout, needs Needs) error {
	if err := os.WriteFile(l.reservation(), []byte(strconv.Itoa(needs.inotify())), 0o600); err != nil {
		return fmt.Errorf("noting what the sandbox takes: %w", err)
	}
	return nil
}

// reserved is what these sandboxes take once all their machines run.
func reserved(sandboxes []Layout) int {
	total := 0
	for _, l := range sandboxes {
		// One that says nothing is being taken down.
		if count, err := readLimit(l.reservation()); err == nil {
			total += count
		}
	}
	return total
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
