package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// qemuLimit bounds a boot under software emulation: twice the slowest that was seen, 535 s on two cores with nearly ten times as many busy
// processes. The login prompt came after 66 s at the quickest. The silence limit ends a guest that hangs much earlier.
const (
	qemuLimit   = 20 * time.Minute
	qemuSilence = 4 * time.Minute
)

const qemuProgram = "qemu-system-x86_64"

// guest is a machine under qemu.
type guest struct {
	argv []string
	// log is what it says on its console; report is what it says of itself.
	log, report string
	// endsItself says that it need not be asked to.
	endsItself bool
}

// newGuest is a machine without a disk, and without anything that it does not need. A Nehalem is the plainest processor that Debian's
// successors run on, and the quickest to emulate: more features mean more modules to load.
func (s *session) newGuest(log string) (*guest, error) {
	g := &guest{log: log, report: s.scratch("report")}
	if err := errors.Join(os.RemoveAll(g.log), os.RemoveAll(g.report)); err != nil {
		return nil, err
	}
	g.argv = []string{
		qemuProgram, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "Nehalem", "-smp", "2", "-m", "2048",
		"-netdev", "user,id=net,restrict=on", "-device", "virtio-net-pci,netdev=net,mac=52:54:00:12:34:56,romfile=", "-device", "virtio-rng-pci",
		"-serial", "file:" + g.log, "-serial", "file:" + g.report, "-chardev", "stdio,id=monitor", "-mon", "chardev=monitor",
	}
	return g, nil
}

func (g *guest) add(flags ...string) { g.argv = append(g.argv, flags...) }

// addKernel has it start from the image's own kernel, with these parameters.
func (g *guest) addKernel(s *session, parameters string) error {
	r := root{dir: s.root()}
	kernel, err := r.resolve("vmlinuz")
	if err != nil {
		return err
	}
	initrd, err := r.resolve("initrd.img")
	if err != nil {
		return err
	}
	g.add("-kernel", kernel, "-initrd", initrd, "-append", parameters)
	return nil
}

// addSeed gives it data for cloud-init, by which it starts the report: a file system that qemu makes of a folder, with the label by which
// NoCloud knows its disk.
func (g *guest) addSeed(s *session) error {
	seed := s.scratch("seed")
	if err := writeSeed(seed, userData(startReport)); err != nil {
		return err
	}
	g.add("-drive", "file.driver=vvfat,file.dir="+seed+",file.label=CIDATA,format=raw,if=virtio,readonly=on")
	return nil
}

// boot runs the guest until it has told how it went and has switched itself off. The facts are those that there are, also after an error.
func (g *guest) boot(ctx context.Context, s *session) (boot, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := build.Process(ctx, g.argv...)
	monitor, err := cmd.StdinPipe()
	if err != nil {
		return boot{}, err
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	exit, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		exit <- build.RunProcess(cmd)
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
	one, _ := os.ReadFile(g.log)
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
