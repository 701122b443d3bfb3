package check

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// installer is the program that stands in for MAAS's installer.
//
//go:embed install.sh
var installer string

// curtinConfig is what MAAS sends curtin, as far as the image's hook reads it, with Ubuntu's package sources, which must stay out.
// MAAS 3.5: preseed.py, compose_preseed.py, preseed_storage.py.
const curtinConfig = `storage:
  version: 1
  config:
  - {id: vda, name: vda, type: disk, ptable: gpt, model: QEMU, serial: image-check, grub_device: true, wipe: superblock}
  - {id: vda-part1, name: vda-part1, type: partition, device: vda}
  - {id: vda-part1_format, type: format, fstype: ext4, volume: vda-part1}
cloudconfig:
  maas-datasource: {path: /etc/cloud/cloud.cfg.d/90_maas_datasource.cfg, content: "datasource_list: [ MAAS ]"}
  maas-cloud-config:
    path: /etc/cloud/cloud.cfg.d/90_maas_cloud_config.cfg
    content: "#cloud-config\ndatasource:\n  MAAS: {consumer_key: a, metadata_url: 'http://192.0.2.1:5248/MAAS/metadata/', token_key: b, token_secret: c}\n"
debconf_selections:
  grub2: grub2   grub2/update_nvram  boolean false
  maas: |
    cloud-init   cloud-init/datasources  multiselect MAAS
    cloud-init   cloud-init/local-cloud-config  string manage_etc_hosts: true\nmanual_cache_clean: true\n
apt: {preserve_sources_list: false, primary: [{arches: [default], uri: "http://archive.example/ubuntu"}]}
`

// networkConfig names the interface as nothing else would.
const networkConfig = `network:
  version: 2
  ethernets:
    maas0: {match: {macaddress: "52:54:00:12:34:56"}, set-name: maas0, dhcp4: true}
`

// firmware is how a machine starts.
type firmware struct {
	name string
	// code is its program, and variables what it remembers at first; empty for the BIOS that qemu has by itself.
	code, variables string
}

func firmwares() []firmware {
	return []firmware{
		{name: "bios"},
		{name: "uefi", code: "/usr/share/OVMF/OVMF_CODE_4M.fd", variables: "/usr/share/OVMF/OVMF_VARS_4M.fd"},
	}
}

func installNames() []string {
	var names []string
	for _, f := range firmwares() {
		names = append(names, "install-"+f.name+"-hook")
		names = append(names, bootNames(installedBoot(f))...)
	}
	return names
}

// installedBoot are the checks of the first start from the disk.
func installedBoot(f firmware) []bootCheck {
	prefix := "install-" + f.name
	return []bootCheck{
		{prefix + "-login", "the disk starts by itself, by GRUB, to the login prompt", judgeLogin},
		{prefix + "-systemd", "systemd is running, and no unit failed", judgeSystemd},
		{prefix + "-cloud-init", "the kernel parameters that MAAS gives reach cloud-init", judgeCloudInit},
		{prefix + "-network", "the network is what MAAS says", judgeInstalledNetwork},
	}
}

func judgeInstalledNetwork(b boot) (string, error) {
	address := strings.Join(strings.Fields(b.fact("address")), " ")
	if !strings.HasPrefix(address, "maas0 UP 10.0.2.") {
		return "", problemf("see "+b.log, "these addresses: %q", address)
	}
	return address, nil
}

func installNeeds() []build.HostNeed {
	return append(qemuNeeds(), []build.HostNeed{
		{What: "firmware for qemu (OVMF)", File: firmwares()[1].code, Debian: "ovmf"},
		{What: "sgdisk", Program: "sgdisk", Debian: "gdisk"},
		{What: "mkfs.vfat", Program: "mkfs.vfat", Debian: "dosfstools"},
		{What: "debugfs", Program: "debugfs", Debian: "e2fsprogs"},
	}...)
}

// checkInstall installs the image on an empty disk as MAAS does, and starts that, once with each kind of firmware.
func (s *session) checkInstall(ctx context.Context) error {
	if err := s.unpack(ctx); err != nil {
		return err
	}
	if err := s.needHost(ctx, installNeeds()); err != nil {
		return err
	}
	for _, f := range firmwares() {
		names := append(bootNames(installedBoot(f)), "install-"+f.name+"-hook")
		if !slices.ContainsFunc(names, func(name string) bool { return s.wanted("install", name) }) {
			continue
		}
		if err := s.installWith(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) installWith(ctx context.Context, f firmware) error {
	d, err := s.newDisk(ctx)
	if err != nil {
		return err
	}
	defer os.Remove(d.path)
	log := s.log("install-" + f.name)
	start := time.Now()
	detail, err := s.runInstaller(ctx, d, f, log)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.add(result("install", "install-"+f.name+"-hook", "the hook makes a disk start by itself, on a machine with "+strings.ToUpper(f.name), detail,
		time.Since(start), err))
	if err != nil {
		// Nothing to start.
		for _, check := range installedBoot(f) {
			s.add(result("install", check.name, check.what, "", 0, problemf("see "+log, "that the installation failed")))
		}
		return nil
	}
	g, err := s.installedGuest(d, f)
	if err != nil {
		return err
	}
	start = time.Now()
	b, err := g.boot(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.say("  the start ended otherwise than asked: %v", err)
	}
	s.judgeBoot("install", installedBoot(f), b, time.Since(start))
	return nil
}

// runInstaller starts the installer's stand-in from the image's own kernel, and judges what it tells.
func (s *session) runInstaller(ctx context.Context, d disk, f firmware, log string) (string, error) {
	g, err := s.newInstallGuest(d, f, log)
	if err != nil {
		return "", err
	}
	g.endsItself = true
	// Behind the dashes is what MAAS gives for the installed system: here, to look for cloud-init's data elsewhere, and to talk.
	err = g.addKernel(s, "root=PARTUUID="+rootID+" rw init=/image-check/install console=ttyS0,115200 BOOTIF=01 --- ci.ds=NoCloud systemd.show_status=true")
	if err != nil {
		return "", err
	}
	b, err := g.boot(ctx, s)
	if err != nil {
		return "", err
	}
	return judgeInstall(b, f)
}

// newInstallGuest is a machine with that firmware, and with the disk by the serial number that MAAS knows.
func (s *session) newInstallGuest(d disk, f firmware, log string) (*guest, error) {
	flags, err := s.firmwareFlags(f)
	if err != nil {
		return nil, err
	}
	g, err := s.newGuest(log)
	if err != nil {
		return nil, err
	}
	g.add(flags...)
	g.add("-drive", "file="+d.path+",format=raw,if=none,id=disk,cache=unsafe",
		"-device", "virtio-blk-pci,drive=disk,serial=image-check,bootindex=1")
	return g, nil
}

func judgeInstall(b boot, f firmware) (string, error) {
	look := "see " + b.log
	switch {
	case b.fact("firmware") != strings.ToUpper(f.name):
		return "", problemf(look, "that the installer did not start with %s: %q", f.name, b.fact("firmware"))
	case b.fact("hook") != "0":
		return "", problemf(mendHooks, "that the hook ended with %q: %s", b.fact("hook"), plain(lastWords(b.console)))
	case len(b.facts["validated"]) != 2:
		return "", problemf(look, "that MAAS's own checks pass only here: %s", b.fact("validated"))
	case b.fact("left") != "":
		return "", problemf(mendHooks, "%s on the installed disk", b.fact("left"))
	case b.fact("mounts") != "0":
		return "", problemf(mendHooks, "%s mounts that the hook left", b.fact("mounts"))
	}
	for _, config := range b.facts["config"] {
		if !strings.HasPrefix(config, "600 ") {
			return "", problemf(mendHooks, "a key of MAAS that everybody may read: %s", config)
		}
	}
	// MAAS 3.5: config.local.amd64.template starts this one.
	if f.code != "" && !slices.Contains(b.facts["esp"], "./EFI/BOOT/BOOTX64.EFI") {
		return "", problemf(mendHooks, "no /EFI/BOOT/BOOTX64.EFI on the EFI partition, but %s", b.fact("esp"))
	}
	if slices.Contains(b.facts["esp"], "./EFI/BOOT/fbx64.efi") {
		return "", problemf(mendHooks, "/EFI/BOOT/fbx64.efi, which would put the disk before the network")
	}
	return "cloud-init and netplan answer; nothing of the installation is left", nil
}

// installedGuest is the machine that starts from the disk alone. With UEFI its firmware remembers nothing, as if its battery was empty.
func (s *session) installedGuest(d disk, f firmware) (*guest, error) {
	g, err := s.newInstallGuest(d, f, s.log("install-"+f.name+"-start"))
	if err != nil {
		return nil, err
	}
	return g, g.addSeed(s)
}

// firmwareFlags give it a memory of its own, which is as new each time.
func (s *session) firmwareFlags(f firmware) ([]string, error) {
	if f.code == "" {
		return nil, nil
	}
	content, err := os.ReadFile(f.variables)
	if err != nil {
		return nil, fmt.Errorf("reading the firmware's memory: %w", err)
	}
	variables := s.scratch(filepath.Base(f.variables))
	if err := os.WriteFile(variables, content, 0o600); err != nil {
		return nil, fmt.Errorf("writing the firmware's memory: %w", err)
	}
	return []string{
		"-drive", "if=pflash,format=raw,readonly=on,file=" + f.code, "-drive", "if=pflash,format=raw,file=" + variables,
	}, nil
}
