package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Needs are what the sandbox wants of the machine it runs on.
type Needs struct {
	// ControlPlanes and Workers are the machines that will run.
	ControlPlanes, Workers int
	// Built says that the build's results are there already, which saves the disk space for making them.
	Built bool
	// Image is the size of the machine image that was built, in bytes, and Unpacked what it takes to unpack it: 0 if it is unpacked.
	Image, Unpacked int64
}

// What one sandbox takes, measured with room to spare.
const (
	mib           = 1 << 20
	gib           = 1 << 30
	baseMemory    = 1500 * mib
	machineMemory = 600 * mib
	baseDisk      = 1 * gib
	machineDisk   = 600 * mib
	buildDisk     = 17 * gib
)

// Check finds out whether this machine has what the sandbox needs, without changing anything. All that is wrong is said at once.
// Limits that can be raised are the business of CheckLimits.
func Check(l Layout, needs Needs) error {
	scarce := Crowded(l, errors.Join(checkDisk(l, needs), checkMemory(needs)))
	return errors.Join(checkPaths(l), checkOneFileSystem(l), checkFileSystem(l), checkCgroups(), scarce)
}

// RequireRoot says why, when the caller is not root.
func RequireRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("the sandbox makes namespaces, mounts and cgroups: run this as root (sudo)")
	}
	return nil
}

func checkDisk(l Layout, needs Needs) error {
	// MAAS keeps what was uploaded.
	want := uint64(baseDisk + (needs.ControlPlanes+needs.Workers)*machineDisk + int(needs.Image) + int(needs.Unpacked))
	why := "for the machine image and the machines' disks"
	if !needs.Built {
		want += buildDisk
		why = "for building everything, and for the machine image and the machines' disks"
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

// checkPaths: the kernel takes the layers of a disk in one text, with commas and colons between, and the build gives its folders to shells.
func checkPaths(l Layout) error {
	for _, path := range []string{l.Root, l.State, l.Build} {
		if i := strings.IndexAny(path, " \t\n,:\\\"'"); i >= 0 {
			return fmt.Errorf("the path %s holds the character %q, which mounts and shells take for something else: use a path without it", path, path[i])
		}
	}
	return nil
}

// checkOneFileSystem: the machines' disks begin as hard links to the image that was unpacked.
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

// checkFileSystem: machines' disks are overlays, whose upper layer cannot lie on every file system.
func checkFileSystem(l Layout) error {
	dir := existing(l.State)
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("looking at the file system under %s: %w", dir, err)
	}
	kind, unfit := map[int64]string{
		unix.OVERLAYFS_SUPER_MAGIC: "an overlay, as in most containers", unix.NFS_SUPER_MAGIC: "NFS", unix.V9FS_MAGIC: "9p",
		unix.FUSE_SUPER_MAGIC: "FUSE", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	}[int64(stat.Type)]
	if unfit {
		return fmt.Errorf("%s lies on a file system (%s) that cannot hold machines' disks: choose --dir and --build-dir on a local disk or a volume", l.State, kind)
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

func size(bytes uint64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/gib) }
