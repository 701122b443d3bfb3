package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// qemuLimit bounds a boot under software emulation: three times the slowest that was seen, 364 s on two cores with four times as many busy
// processes. The login prompt came after 66 s at the quickest. The silence limit ends a guest that hangs much earlier.
const (
	qemuLimit   = 20 * time.Minute
	qemuSilence = 4 * time.Minute
)

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
	for key, wants := range map[string][]string{
		"sysctl": {"net.ipv4.ip_forward 1", "net.bridge.bridge-nf-call-iptables 1"}, "module": {"overlay yes", "br_netfilter yes"}, "cgroup": {"cgroup2fs"},
	} {
		for _, want := range wants {
			if !slices.Contains(b.facts[key], want) {
				return "", problemf("see /etc/sysctl.d and /etc/modules-load.d", "%s: %s", key, b.fact(key))
			}
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

// checkQEMU makes a disk of the image, and boots it with the image's own kernel.
func (s *session) checkQEMU(ctx context.Context) error {
	if err := s.needQEMU(ctx); err != nil {
		return err
	}
	if err := s.unpack(ctx); err != nil {
		return err
	}
	guest, err := s.newGuest(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	b, err := guest.boot(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	took := time.Since(start)
	s.add(result("qemu", "qemu-boot", "it boots, tells how it went, and switches itself off when asked", fmt.Sprintf("%.0f s", took.Seconds()), took, err))
	s.judgeBoot("qemu", qemuBoot(), b, 0)
	return nil
}

// guest is a machine under qemu.
type guest struct {
	argv                 []string
	console, report, log string
	// endsItself says that it need not be asked to.
	endsItself bool
}

func (s *session) newGuest(ctx context.Context) (*guest, error) {
	disk := s.scratch("disk.img")
	// Room to write, though it hardly does.
	const room = 2 << 30
	size := strconv.FormatInt((s.manifest.UnpackedSize*5/4+room)>>10, 10) + "k"
	mkfs := hostCommand(ctx, "mkfs.ext4", "-q", "-F", "-L", instance, "-d", s.root(), disk, size)
	if _, err := output(ctx, mkfs); err != nil {
		return nil, fmt.Errorf("making a disk of the image: %w", err)
	}
	seed := s.scratch("seed")
	if err := writeSeed(seed, userData(startReport)); err != nil {
		return nil, err
	}
	version, err := output(ctx, hostCommand(ctx, qemuProgram, "--version"))
	if err != nil {
		return nil, fmt.Errorf("asking qemu for its version: %w", err)
	}
	if fields := strings.Fields(version); len(fields) > 3 {
		s.report.Versions["qemu"] = fields[3]
	}
	g := &guest{console: s.log("qemu"), report: s.scratch("report"), log: s.log("qemu")}
	r := root{dir: s.root()}
	kernel, err := r.resolve("vmlinuz")
	if err != nil {
		return nil, err
	}
	initrd, err := r.resolve("initrd.img")
	if err != nil {
		return nil, err
	}
	g.argv = qemuCall(kernel, initrd, disk, seed, g.console, g.report)
	return g, nil
}

const qemuProgram = "qemu-system-x86_64"

// qemuCall is a machine without anything that it does not need. A Nehalem is the plainest processor that Debian's successors run on, and
// the quickest to emulate: more features mean more modules to load.
func qemuCall(kernel, initrd, disk, seed, console, report string) []string {
	return []string{
		qemuProgram, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "Nehalem", "-smp", "2", "-m", "2048",
		"-kernel", kernel, "-initrd", initrd,
		// The image's own list of sources begins with MAAS, which would be waited for: ci.ds makes cloud-init's ds-identify decide for NoCloud.
		"-append", "root=/dev/vda rw console=ttyS0,115200 ci.ds=NoCloud systemd.show_status=true",
		"-drive", "file=" + disk + ",format=raw,if=virtio,cache=unsafe",
		// A file system that qemu makes of a folder, with the label by which NoCloud knows its disk.
		"-drive", "file.driver=vvfat,file.dir=" + seed + ",file.label=CIDATA,format=raw,if=virtio,readonly=on",
		"-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci",
		"-serial", "file:" + console, "-serial", "file:" + report, "-chardev", "stdio,id=monitor", "-mon", "chardev=monitor",
	}
}

// boot runs the guest until it has told how it went and has switched itself off. The facts are those that there are, also after an error.
func (g *guest) boot(ctx context.Context, s *session) (boot, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := hostCommand(ctx, g.argv...)
	monitor, err := cmd.StdinPipe()
	if err != nil {
		return boot{}, err
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	exit, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		exit <- runPinned(cmd)
	}()
	err = g.watch(ctx, s, monitor, exit)
	cancel()
	<-ended
	if p, ok := errors.AsType[*problem](err); ok && said.Len() > 0 {
		p.found = oneLine(p.found + "; qemu said: " + lastWords(said.String()))
	}
	console, report := g.texts()
	// The report belongs to the log that stays.
	if appended := appendTo(g.log, "\n--- report ---\n"+report); appended != nil {
		err = errors.Join(err, appended)
	}
	return boot{manifest: s.manifest, facts: readFacts(report), console: console, log: g.log}, err
}

func (g *guest) texts() (console, report string) {
	// What is not there yet is empty.
	one, _ := os.ReadFile(g.console)
	two, _ := os.ReadFile(g.report)
	return string(one), string(two)
}

// watch returns nil when the guest has ended as it was asked to, and does not when it must be killed.
func (g *guest) watch(ctx context.Context, s *session, monitor io.Writer, exit <-chan error) error {
	look := "see " + g.log
	start, told, heard, known, asked := time.Now(), time.Now(), time.Now(), 0, false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-exit:
			if err == nil && (asked || g.endsItself) {
				return nil
			}
			return problemf(look, "that it ended by itself: %v", err)
		case <-time.After(200 * time.Millisecond):
		}
		console, report := g.texts()
		if size := len(console) + len(report); size != known {
			known, heard = size, time.Now()
		}
		if !asked && strings.Contains(report, "@end") && loginPrompt.MatchString(console) {
			// The button that MAAS has a power driver press for a soft power off.
			asked = true
			if _, err := io.WriteString(monitor, "system_powerdown\n"); err != nil {
				return fmt.Errorf("asking it to switch itself off: %w", err)
			}
		}
		switch {
		case time.Since(start) > qemuLimit:
			return problemf(look, "no end in %s; the last words are: %s", qemuLimit, plain(lastWords(console)))
		case time.Since(heard) > qemuSilence:
			return problemf(look, "silence for %s; the last words are: %s", qemuSilence, plain(lastWords(console)))
		case time.Since(told) > progressEvery:
			told = time.Now()
			s.say("  … %3.0f s: %s", time.Since(start).Seconds(), lastLine(console))
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]|\x1b[c()][0-9A-Z]?|[\x00-\x08\x0b-\x1f]")

// plain is a text without what terminals take for orders.
func plain(text string) string { return escapes.ReplaceAllString(text, "") }

// lastLine is what the guest last said, for progress.
func lastLine(console string) string {
	const longest = 100
	lines := strings.Split(strings.TrimSpace(plain(console)), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if line == "" {
		return "(the guest has not said anything yet)"
	}
	if len(line) > longest {
		line = strings.ToValidUTF8(line[:longest], "") + " …"
	}
	return line
}
