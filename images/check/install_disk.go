package check

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// A disk as curtin makes it, for both kinds of firmware: what GRUB needs for BIOS, the EFI partition, the root file system. All is
// written as a plain file: nothing is mounted, so the host needs neither loop devices nor a kernel that knows such file systems.
const (
	sector    = 512
	espFirst  = 4096
	espLast   = espFirst + (512<<20)/sector - 1
	rootFirst = espLast + 1
	rootID    = "5b6f0a3e-9d0e-4a41-8f5e-6d0c1a2b3c4d"
)

type disk struct{ path string }

// newDisk unpacks the image on an empty disk, and adds the stand-in for the installer.
func (s *session) newDisk(ctx context.Context) (disk, error) {
	d := disk{path: s.scratch("install.img")}
	// Room for a new RAM disk, logs and what is made at the first start.
	const room, tail = 2 << 30, 1 << 20
	size := (s.manifest.UnpackedSize*5/4 + room) &^ (1<<20 - 1)
	f, err := os.Create(d.path)
	if err != nil {
		return d, fmt.Errorf("making a disk: %w", err)
	}
	if err := f.Truncate(rootFirst*sector + size + tail); err != nil {
		_ = f.Close()
		return d, fmt.Errorf("making a disk: %w", err)
	}
	if err := f.Close(); err != nil {
		return d, fmt.Errorf("making a disk: %w", err)
	}
	folder := s.scratch("installer")
	commands, err := writeInstaller(folder)
	if err != nil {
		return d, err
	}
	offset := strconv.Itoa(rootFirst * sector)
	for _, argv := range [][]string{
		{"sgdisk", "--new=1:2048:" + strconv.Itoa(espFirst-1), "--typecode=1:ef02",
			fmt.Sprintf("--new=2:%d:%d", espFirst, espLast), "--typecode=2:ef00",
			fmt.Sprintf("--new=3:%d:%d", rootFirst, rootFirst+size/sector-1), "--typecode=3:8300", "--partition-guid=3:" + rootID, d.path},
		{"mkfs.vfat", "-F", "32", "-n", "ESP", "--offset", strconv.Itoa(espFirst), d.path, strconv.Itoa((espLast - espFirst + 1) * sector >> 10)},
		{"mkfs.ext4", "-q", "-F", "-L", "root", "-d", s.root(), "-E", "offset=" + offset, d.path, strconv.FormatInt(size>>10, 10) + "k"},
		{"debugfs", "-w", "-f", commands, d.path + "?offset=" + offset},
	} {
		if _, err := output(ctx, build.Process(ctx, argv...)); err != nil {
			return d, fmt.Errorf("making a disk of the image with %s: %w", argv[0], err)
		}
	}
	return d, nil
}

// writeInstaller writes the stand-in's files, and a list of commands that bring them into a file system that is not mounted.
func writeInstaller(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("writing the installer: %w", err)
	}
	var commands strings.Builder
	commands.WriteString("mkdir image-check\n")
	for _, file := range []struct{ name, to, content string }{
		{"install", "image-check/install", installer},
		{"curtin.yaml", "image-check/curtin.yaml", curtinConfig},
		{"network.yaml", "image-check/network.yaml", networkConfig},
		// A RAM disk takes minutes to make under emulation, and is the same as the image's. In a chroot it is made in seconds.
		{"update-initramfs.conf", "etc/initramfs-tools/update-initramfs.conf", "update_initramfs=no\n"},
	} {
		path := folder + "/" + file.name
		if err := os.WriteFile(path, []byte(file.content), 0o755); err != nil {
			return "", fmt.Errorf("writing the installer: %w", err)
		}
		fmt.Fprintf(&commands, "rm %s\nwrite %s %s\n", file.to, path, file.to)
	}
	commands.WriteString("set_inode_field image-check/install mode 0100755\n")
	list := folder + "/commands"
	if err := os.WriteFile(list, []byte(commands.String()), 0o644); err != nil {
		return "", fmt.Errorf("writing the installer: %w", err)
	}
	return list, nil
}
