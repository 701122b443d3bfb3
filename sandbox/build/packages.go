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
		// A program that goes away later is found missing by this.
		if path, err := exec.LookPath(need.program); err == nil {
			outputs = append(outputs, path)
		} else if need.program != "" {
			outputs = append(outputs, "/usr/sbin/"+need.program)
		} else {
			outputs = append(outputs, need.file)
		}
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

func installMissing(ctx context.Context, s *session) error {
	var words, names []string
	for _, need := range hostNeeds() {
		if need.missing() {
			words = append(words, need.what)
			names = append(names, need.debian)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this system has no apt-get, so please install by hand: %s", strings.Join(words, "; "))
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("missing, and only root can install them: run `apt-get install %s` as root", strings.Join(names, " "))
	}
	s.say("installing the Debian packages %s on this machine", strings.Join(names, " "))
	install := command{
		argv: append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, names...),
		env:  []string{"DEBIAN_FRONTEND=noninteractive"},
	}
	err := s.exec(ctx, install)
	var failed *commandError
	if errors.As(err, &failed) {
		// A machine that is fresh or was not used for long has no, or an old, list of packages.
		if err := s.exec(ctx, command{argv: []string{"apt-get", "update"}}); err != nil {
			return err
		}
		err = s.exec(ctx, install)
	}
	return err
}
