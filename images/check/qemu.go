package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// qemuBoots is the name of the check that there is a boot at all.
const qemuBoots = "qemu-boot"

// qemuBoot are the checks of a boot as a machine.
func qemuBoot() []bootCheck {
	checks := []bootCheck{
		{"qemu-kernel", "the kernel of the image starts, with its initial RAM disk", judgeKernel},
		{"qemu-login", "it comes to the login prompt on the serial console", judgeLogin},
	}
	return append(append(checks, everyBoot("qemu")...), []bootCheck{
		{"qemu-network", "netplan and networkd set up the network by DHCP", judgeNetwork},
		{"qemu-kernel-settings", "modules and kernel settings of Kubernetes are in place, control groups are version 2, there is no swap", judgeKernelSettings},
		{"qemu-guards", "nothing that is for containers alone was done", judgeGuards},
	}...)
}

var (
	kernelStarted = regexp.MustCompile(`Linux version (\S+)`)
	loginPrompt   = regexp.MustCompile(`(?m)^\S+ login: `)
)

func judgeKernel(b boot) (string, error) {
	match := kernelStarted.FindStringSubmatch(b.console)
	if match == nil {
		return "", problemf("see "+b.log, "no word of a kernel on the console")
	}
	return match[1], nil
}

func judgeLogin(b boot) (string, error) {
	if !loginPrompt.MatchString(b.console) {
		return "", problemf("see "+b.log, "no login prompt; the last words are: %s", lastWords(b.console))
	}
	return strings.TrimSpace(loginPrompt.FindString(b.console)), nil
}

func judgeNetwork(b boot) (string, error) {
	// The network that qemu makes up.
	if !strings.Contains(b.fact("address"), " 10.0.2.") {
		return "", problemf("see "+b.log, "these addresses: %q", b.fact("address"))
	}
	for _, want := range []string{"systemd-networkd active", "systemd-resolved active"} {
		if !slices.Contains(b.facts["unit"], want) {
			return "", problemf("see "+b.log, "%s", b.fact("unit"))
		}
	}
	return strings.Join(strings.Fields(b.fact("address")), " "), nil
}

func judgeKernelSettings(b boot) (string, error) {
	for _, want := range []struct{ key, value string }{
		{"sysctl", "net.ipv4.ip_forward 1"}, {"sysctl", "net.bridge.bridge-nf-call-iptables 1"},
		{"module", "overlay yes"}, {"module", "br_netfilter yes"}, {"cgroup", "cgroup2fs"},
	} {
		if !slices.Contains(b.facts[want.key], want.value) {
			return "", problemf("see /etc/sysctl.d and /etc/modules-load.d", "%s: %s", want.key, b.fact(want.key))
		}
	}
	if swap := b.fact("swap"); swap != "" {
		return "", problemf("see /etc/fstab", "swap: %s", swap)
	}
	return "", nil
}

func judgeGuards(b boot) (string, error) {
	if b.fact("container-machine") != "no" {
		return "", problemf("see container-machine.service", "that container-machine.service did not leave it alone: %q", b.fact("container-machine"))
	}
	if laid := b.facts["laid"]; len(laid) > 0 {
		return "", problemf("see /usr/lib/container-machine/setup", "files that are for containers: %s", strings.Join(laid, ", "))
	}
	return "systemd-detect-virt says " + b.fact("virtualization"), nil
}

func qemuNeeds() []build.HostNeed {
	return []build.HostNeed{
		{What: "qemu for machines of the kind amd64", Program: qemuProgram, Debian: "qemu-system-x86"},
		{What: "mkfs.ext4", Program: "mkfs.ext4", Debian: "e2fsprogs"},
	}
}

// checkQEMU makes a disk of the image, and boots it with the image's own kernel.
func (s *session) checkQEMU(ctx context.Context) error {
	if err := s.needHost(ctx, qemuNeeds()); err != nil {
		return err
	}
	if err := s.unpack(ctx); err != nil {
		return err
	}
	guest, err := s.qemuGuest(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	b, err := guest.boot(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := time.Since(start)
	s.add(result("qemu", qemuBoots, "it boots, tells how it went, and switches itself off when asked", fmt.Sprintf("%.0f s", took.Seconds()), took, err))
	s.judgeBoot("qemu", qemuBoot(), b, 0)
	return nil
}

// qemuGuest is the machine, with a disk that is nothing but the image's file system.
func (s *session) qemuGuest(ctx context.Context) (*guest, error) {
	disk := s.scratch("disk.img")
	// Room to write, though it hardly does.
	const room = 2 << 30
	size := strconv.FormatInt((s.manifest.UnpackedSize*5/4+room)>>10, 10) + "k"
	mkfs := build.Process(ctx, "mkfs.ext4", "-q", "-F", "-L", instance, "-d", s.root(), disk, size)
	if _, err := output(ctx, mkfs); err != nil {
		return nil, fmt.Errorf("making a disk of the image: %w", err)
	}
	version, err := output(ctx, build.Process(ctx, qemuProgram, "--version"))
	if err != nil {
		return nil, fmt.Errorf("asking qemu for its version: %w", err)
	}
	if fields := strings.Fields(version); len(fields) > 3 {
		s.report.Versions["qemu"] = fields[3]
	}
	g, err := s.newGuest(s.log("qemu"))
	if err != nil {
		return nil, err
	}
	g.add("-drive", "file="+disk+",format=raw,if=virtio,cache=unsafe")
	// The image's own list of sources begins with MAAS, which would be waited for: ci.ds makes cloud-init's ds-identify decide for NoCloud.
	if err := g.addKernel(s, "root=/dev/vda rw console=ttyS0,115200 ci.ds=NoCloud systemd.show_status=true"); err != nil {
		return nil, err
	}
	return g, g.addSeed(s)
}
