package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path"
	"slices"
	"strings"
)

// bootChecks are about the way from firmware to a running system.
func bootChecks() []static {
	return []static{
		{"kernel", "one kernel, with the initial RAM disk and the modules of the same version, and links to them", lookKernel},
		{"modules", "the modules that machines, containers and Kubernetes need", lookModules},
		{"initrd", "the initial RAM disk has the drivers of disks, file systems and LVM", lookInitrd},
		{"grub-bios", "GRUB for BIOS can be installed", lookGRUBForBIOS},
		{"grub-uefi", "GRUB for UEFI can be installed, with Secure Boot", lookGRUBForUEFI},
		{"storage", "the programs for MAAS's storage layouts", lookStorage},
		{"ssh", "sshd takes its settings, once it has a key", lookSSH},
		{"units", "what a machine runs is switched on", lookUnits},
	}
}

// kernelVersion is that of the only kernel, as in vmlinuz-6.1.0-50-amd64.
func kernelVersion(r *root) (string, error) {
	kernels := r.matching("boot/vmlinuz-*")
	if len(kernels) != 1 {
		return "", problemf("see packages.txt: one linux-image", "%d kernels in /boot: %s", len(kernels), paths(kernels))
	}
	return strings.TrimPrefix(kernels[0].path, "boot/vmlinuz-"), nil
}

func lookKernel(_ context.Context, r *root) (string, error) {
	version, err := kernelVersion(r)
	if err != nil {
		return "", err
	}
	if err := checkKernelFile(r, version); err != nil {
		return "", err
	}
	if err := r.there(addPackage+": initramfs-tools", "boot/initrd.img-"+version); err != nil {
		return "", err
	}
	if found := r.matching("usr/lib/modules/*"); len(found) != 1 || path.Base(found[0].path) != version {
		return "", problemf("see packages.txt: one linux-image", "modules in %s for the kernel %s", paths(found), version)
	}
	// Debian's hook of update-grub, and whoever starts the kernel by hand, look here.
	for _, link := range []string{"vmlinuz", "initrd.img"} {
		want := "boot/" + link + "-" + version
		at, err := r.resolve(link)
		if err != nil {
			return "", err
		}
		if wanted, err := r.resolve(want); err != nil || at != wanted {
			return "", problemf("see packages.txt: linux-image makes the link", "that /%s does not lead to /%s", link, want)
		}
	}
	r.versions["kernel"] = version
	return version, nil
}

// checkKernelFile looks for Linux/x86's boot protocol in the file, and for the version that it tells.
func checkKernelFile(r *root, version string) error {
	const again = "make the image again, with an empty cache of packages"
	at, err := r.resolve("boot/vmlinuz-" + version)
	if err != nil {
		return err
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer f.Close()
	// Documentation/arch/x86/boot.rst: the mark at 0x202, the version's text at 0x200 after the offset at 0x20e.
	head := make([]byte, 32<<10)
	n, err := f.Read(head)
	if err != nil {
		return problemf(again, "a kernel that cannot be read: %v", err)
	}
	if head = head[:n]; len(head) < 0x210 || string(head[0x202:0x206]) != "HdrS" {
		return problemf(again, "a file that is no kernel at /boot/vmlinuz-%s", version)
	}
	offset := int(binary.LittleEndian.Uint16(head[0x20e:])) + 0x200
	if offset >= len(head) || !bytes.HasPrefix(head[offset:], []byte(version+" ")) {
		return problemf(again, "that the kernel at /boot/vmlinuz-%s says of itself that it is another version", version)
	}
	return nil
}

func lookModules(ctx context.Context, r *root) (string, error) {
	version, err := kernelVersion(r)
	if err != nil {
		return "", err
	}
	wanted := []string{
		"overlay", "br_netfilter", "nf_conntrack", "nf_nat", "ip_vs", "vxlan", "wireguard", "veth", // containers and their networks
		"ext4", "xfs", "vfat", "dm_mod", "raid1", "bonding", "8021q", "bridge", // what MAAS sets up
		"ahci", "nvme", "megaraid_sas", "mpt3sas", "virtio_blk", "virtio_net", "ixgbe", "i40e", "mlx5_core", "bnxt_en", // hardware
	}
	for _, name := range wanted {
		if _, err := r.run(ctx, "modinfo", "--set-version", version, name); err != nil {
			return "", problemf("take the kernel for all hardware, linux-image-amd64", "no module %s", name)
		}
	}
	return "", nil
}

func lookInitrd(ctx context.Context, r *root) (string, error) {
	version, err := kernelVersion(r)
	if err != nil {
		return "", err
	}
	said, err := r.run(ctx, "lsinitramfs", "/boot/initrd.img-"+version)
	if err != nil {
		return "", problemf(addPackage+": initramfs-tools, zstd", "that the initial RAM disk cannot be read: %v", err)
	}
	files := make(map[string]bool)
	for name := range strings.FieldsSeq(said) {
		base, _, _ := strings.Cut(path.Base(name), ".ko")
		files[base] = true
	}
	for _, wanted := range []string{"ext4", "xfs", "ahci", "sd_mod", "nvme", "megaraid_sas", "mpt3sas", "virtio_blk", "virtio_scsi", "dm-mod", "lvm"} {
		if !files[wanted] {
			return "", problemf("see packages.txt (lvm2) and initramfs.conf (MODULES=most)", "no %s in the initial RAM disk", wanted)
		}
	}
	return "", nil
}

func lookGRUBForBIOS(ctx context.Context, r *root) (string, error) {
	err := r.there(addPackage+": grub2-common, grub-pc-bin", "usr/sbin/grub-install", "usr/sbin/update-grub", "usr/sbin/grub-mkconfig",
		"usr/lib/grub/i386-pc/boot.img", "usr/lib/grub/i386-pc/modinfo.sh", "usr/lib/grub/i386-pc/lvm.mod", "usr/lib/grub/i386-pc/part_gpt.mod")
	if err != nil {
		return "", err
	}
	// The core image of a disk, as grub-install makes it.
	const try = "grub-mkimage -O i386-pc -p /boot/grub -o /tmp/core.img biosdisk part_gpt part_msdos ext2 lvm && test -s /tmp/core.img && grub-install --version"
	said, err := r.run(ctx, "sh", "-c", try)
	if err != nil {
		return "", problemf(addPackage+": grub-pc-bin", "that GRUB's image for BIOS cannot be made: %v", err)
	}
	fields := strings.Fields(said)
	r.versions["grub"] = fields[len(fields)-1]
	return r.versions["grub"], nil
}

func lookGRUBForUEFI(ctx context.Context, r *root) (string, error) {
	err := r.there(addPackage+": grub-efi-amd64-bin, grub-efi-amd64-signed, shim-signed, efibootmgr", "usr/bin/efibootmgr",
		"usr/lib/grub/x86_64-efi/modinfo.sh", "usr/lib/grub/x86_64-efi/lvm.mod", "usr/lib/grub/x86_64-efi/part_gpt.mod",
		"usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed", "usr/lib/shim/shimx64.efi.signed")
	if err != nil {
		return "", err
	}
	const try = "grub-mkimage -O x86_64-efi -p /boot/grub -o /tmp/grub.efi part_gpt fat ext2 lvm && test -s /tmp/grub.efi && efibootmgr --version"
	if _, err := r.run(ctx, "sh", "-c", try); err != nil {
		return "", problemf(addPackage+": grub-efi-amd64-bin, efibootmgr", "that GRUB's image for UEFI cannot be made: %v", err)
	}
	return "", nil
}

func lookStorage(ctx context.Context, r *root) (string, error) {
	for _, call := range [][]string{
		{"lvm", "version", "--driverloaded", "n"}, {"mdadm", "--version"}, {"mkfs.ext4", "-V"}, {"mkfs.xfs", "-V"}, {"mkfs.vfat", "--help"},
		{"sfdisk", "--version"}, {"sgdisk", "--version"}, {"growpart", "--help"}, {"resize2fs"},
	} {
		if !r.hasProgram(call[0]) {
			return "", problemf(addPackage, "no program %s", call[0])
		}
		// Without a disk some of them end with an error, and still show that they have their libraries.
		if said, err := r.run(ctx, call...); err != nil && (said == "" || strings.Contains(said, "shared librar")) {
			return "", problemf(addPackage, "that %s does not work: %v", call[0], err)
		}
	}
	return "", nil
}

func lookSSH(ctx context.Context, r *root) (string, error) {
	// The key vanishes with the layer over the image.
	const try = "ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key && sshd -t && sshd -T"
	said, err := r.run(ctx, "sh", "-c", try)
	if err != nil {
		return "", problemf(mendFiles+"/etc/ssh, or "+addPackage+": openssh-server", "that sshd refuses its settings: %v", err)
	}
	settings := strings.Split(said, "\n")
	for _, bad := range []string{"permitrootlogin yes", "permitemptypasswords yes"} {
		if slices.Contains(settings, bad) {
			return "", problemf(mendFiles+"/etc/ssh", "%q in what sshd -T says", bad)
		}
	}
	return "", nil
}

func lookUnits(ctx context.Context, r *root) (string, error) {
	// Not networkd: netplan switches it on at each boot where it has a network for it.
	units := []string{"containerd.service", "kubelet.service", "ssh.service", "systemd-resolved.service", "systemd-timesyncd.service"}
	for _, unit := range units {
		said, err := r.run(ctx, "systemctl", "is-enabled", unit)
		if err != nil {
			return "", problemf("enable it in images/debian-12/root/etc/systemd", "that %s is not enabled: %s", unit, oneLine(said))
		}
	}
	said, err := r.run(ctx, "systemctl", "get-default")
	if err != nil {
		return "", err
	}
	if target := strings.TrimSpace(said); target != "multi-user.target" && target != "graphical.target" {
		return "", problemf(mendFiles+"/etc/systemd", "%s as the default target", target)
	}
	version, err := r.run(ctx, "systemctl", "--version")
	if err != nil {
		return "", err
	}
	if fields := strings.Fields(version); len(fields) > 1 {
		r.versions["systemd"] = fields[1]
	}
	return strings.Join(units, ", "), nil
}
