package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// hostNeed is something of the host that the build or the sandbox uses.
type hostNeed struct {
	what    string // in words, for hosts that are not Debian
	program string // found in PATH, or
	file    string // found under this path
	debian  string // the Debian package that has it
}

func hostNeeds() []hostNeed {
	return []hostNeed{
		{what: "debootstrap", program: "debootstrap", debian: "debootstrap"},
		{what: "the pkg-config program", program: "pkg-config", debian: "pkg-config"},
		{what: "libseccomp with its headers and its static library", file: "/usr/include/seccomp.h", debian: "libseccomp-dev"},
	}
}

// compilerNeeds are what C is compiled with. A machine with Go mostly has them.
func compilerNeeds() []hostNeed {
	return []hostNeed{
		{what: "gcc", program: "gcc", debian: "gcc"},
		{what: "the C library's headers and static library", file: "/usr/include/stdio.h", debian: "libc6-dev"},
	}
}

func (n hostNeed) missing() bool {
	if n.program != "" {
		_, err := exec.LookPath(n.program)
		return err != nil
	}
	_, err := os.Stat(n.file)
	return err != nil
}

// packages installs what the host lacks. It says so before it changes the host.
func (p *project) packages() step {
	var facts, outputs []string
	for _, need := range hostNeeds() {
		facts = append(facts, need.debian)
		outputs = append(outputs, need.output())
	}
	// Not among the facts, on which all depends that is made with debootstrap.
	for _, need := range compilerNeeds() {
		outputs = append(outputs, need.output())
	}
	return step{
		name:    packagesStep,
		title:   "Debian packages",
		lane:    assembling,
		facts:   facts,
		outputs: outputs,
		run:     installMissing,
	}
}

// output is the file by which one sees that it is there. A program that goes away later is found missing by this.
func (n hostNeed) output() string {
	if n.program == "" {
		return n.file
	}
	if path, err := exec.LookPath(n.program); err == nil {
		return path
	}
	return "/usr/sbin/" + n.program
}

func installMissing(ctx context.Context, s *session) error {
	var words, names []string
	for _, need := range append(hostNeeds(), compilerNeeds()...) {
		if need.missing() {
			words = append(words, need.what)
			names = append(names, need.debian)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this system has no apt-get: install these by hand, then run it again: %s", strings.Join(words, "; "))
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("missing, and only root can install them: run `apt-get install %s` as root", strings.Join(names, " "))
	}
	s.say("installing the Debian packages %s on this machine", strings.Join(names, " "))
	err := s.install(ctx, names)
	if failed, ok := errors.AsType[*commandError](err); ok {
		failed.hint = fmt.Sprintf("is the network up, and no other installation at work? By hand: apt-get update && apt-get install %s", strings.Join(names, " "))
	}
	return err
}

// install has apt-get install packages. Downloads may be stopped at any time; what changes the system may not, for half an
// installation would stay.
func (s *session) install(ctx context.Context, names []string) error {
	apt := func(ctx context.Context, lasting bool, args ...string) error {
		// Another one may be at work, as on a machine that was just started.
		argv := append([]string{"apt-get", "-q", "-o", "DPkg::Lock::Timeout=120"}, args...)
		return s.exec(ctx, command{argv: argv, env: []string{"DEBIAN_FRONTEND=noninteractive"}, lasting: lasting})
	}
	install := append([]string{"install", "-y", "--no-install-recommends"}, names...)
	download := append([]string{"--download-only"}, install...)
	err := apt(ctx, false, download...)
	if _, failed := errors.AsType[*commandError](err); failed {
		// A machine that is fresh or was not used for long has no, or an old, list of packages.
		if err = apt(ctx, false, "update"); err == nil {
			err = apt(ctx, false, download...)
		}
	}
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.say("stopping when the packages are installed, which takes a few seconds") })
	defer stop()
	if err := apt(context.WithoutCancel(ctx), true, install...); err != nil {
		return err
	}
	return ctx.Err()
}
