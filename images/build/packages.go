package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// HostNeed is something that this machine has to have.
type HostNeed struct {
	What    string // in words, for hosts that are not Debian
	Program string // found in PATH, or
	File    string // found under this path
	Debian  string // the Debian package that has it
}

// Missing says whether this machine lacks it.
func (n HostNeed) Missing() bool {
	if n.Program != "" {
		_, err := exec.LookPath(n.Program)
		return err != nil
	}
	_, err := os.Stat(n.File)
	return err != nil
}

// Install is a step that installs what the host lacks. It says so before it changes the host.
func Install(name string, needs []HostNeed) Step {
	var facts, outputs []string
	for _, need := range needs {
		outputs = append(outputs, need.output())
		facts = append(facts, need.Debian)
	}
	return Step{
		Name:    name,
		Title:   "Debian packages",
		Lane:    Assembling,
		Facts:   facts,
		Outputs: outputs,
		Run:     func(ctx context.Context, s *Session) error { return s.installMissing(ctx, needs) },
	}
}

// output is the file by which one sees that it is there. A program that goes away later is found missing by this.
func (n HostNeed) output() string {
	if n.Program == "" {
		return n.File
	}
	if path, err := exec.LookPath(n.Program); err == nil {
		return path
	}
	return "/usr/sbin/" + n.Program
}

func (s *Session) installMissing(ctx context.Context, needs []HostNeed) error {
	var words, names []string
	for _, need := range needs {
		if need.Missing() {
			words = append(words, need.What)
			names = append(names, need.Debian)
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
	s.Say("installing the Debian packages %s on this machine", strings.Join(names, " "))
	err := s.install(ctx, names)
	if failed, ok := errors.AsType[*commandError](err); ok {
		failed.hint = fmt.Sprintf("is the network up, and no other installation at work? By hand: apt-get update && apt-get install %s", strings.Join(names, " "))
	}
	return err
}

// install has apt-get install packages. Downloads may be stopped at any time; what changes the system may not, for half an
// installation would stay.
func (s *Session) install(ctx context.Context, names []string) error {
	apt := func(ctx context.Context, lasting bool, args ...string) error {
		// Another one may be at work, as on a machine that was just started.
		argv := append([]string{"apt-get", "-q", "-o", "DPkg::Lock::Timeout=120"}, args...)
		return s.Exec(ctx, Command{Argv: argv, Env: []string{"DEBIAN_FRONTEND=noninteractive"}, Lasting: lasting})
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
	stop := context.AfterFunc(ctx, func() { s.Say("stopping when the packages are installed, which takes a few seconds") })
	defer stop()
	if err := apt(context.WithoutCancel(ctx), true, install...); err != nil {
		return err
	}
	return ctx.Err()
}
