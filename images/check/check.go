// Package check looks whether a finished machine image is what MAAS, curtin and Kubernetes need: in its unpacked files, by programs run in
// a chroot, as a container with an init system, and as a machine under qemu. No check changes the image.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// Options say what to check, and where.
type Options struct {
	// Repo is the root of this project's checkout.
	Repo string
	// Image is the file, with its manifest beside it.
	Image string
	// Out is the folder of what is built. Logs, the scratch folder and the container runtime are in it.
	Out string
	// Log receives a line for each check, and progress.
	Log io.Writer
	// Only limits it to parts, or to single checks, by their names. Empty means all.
	Only []string
}

// part is a group of checks that share how they look at the image.
type part struct {
	name, title string
	// names of its checks.
	names []string
	run   func(s *session, ctx context.Context) error
}

// parts in the order in which they are done: what takes seconds first.
func parts() []part {
	return []part{
		{name: "file", title: "the file and its manifest", names: []string{fileCheck}, run: (*session).checkFile},
		{name: "chroot", title: "files and programs, in a chroot", names: staticNames(), run: (*session).checkStatic},
		{name: "container", title: "a boot as a container, as in the sandbox", names: append(bootNames(containerBoot()), containerBoots), run: (*session).checkContainer},
		{name: "qemu", title: "a boot as a machine, under qemu's software emulation", names: append(bootNames(qemuBoot()), qemuBoots), run: (*session).checkQEMU},
		{name: "install", title: "an installation as MAAS does it, and the start from that disk", names: installNames(), run: (*session).checkInstall},
	}
}

// Run checks an image. Failed checks are in the report, which is also written beside the manifest; an error means that it could not be
// looked at. Cancelling ctx ends all that was started.
func Run(ctx context.Context, options Options) (Report, error) {
	chosen, err := choose(parts(), options.Only)
	if err != nil {
		return Report{}, err
	}
	if os.Geteuid() != 0 {
		return Report{}, errors.New("checking an image takes root: its files have many owners, and it is run in namespaces of its own")
	}
	s, err := newSession(options)
	if err != nil {
		return Report{}, err
	}
	unlock, err := build.Lock(ctx, filepath.Join(s.out, ".check.lock"), func() { s.say("another check is running here; waiting for it to end") })
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	if err := s.clear(ctx); err != nil {
		return Report{}, err
	}
	err = s.runParts(ctx, chosen)
	// Also when ctx has ended: nothing is to be left.
	err = errors.Join(err, s.clear(context.WithoutCancel(ctx)))
	if err != nil {
		return s.report, err
	}
	return s.report, s.finish(len(options.Only) > 0)
}

// choose narrows the parts to those asked for, or that hold a check that was asked for.
func choose(all []part, only []string) ([]part, error) {
	known := make(map[string]bool)
	for _, p := range all {
		known[p.name] = true
		for _, name := range p.names {
			known[name] = true
		}
	}
	for _, name := range only {
		if !known[name] {
			return nil, fmt.Errorf("there is no check %q: choose from %s", name, strings.Join(allNames(all), ", "))
		}
	}
	if len(only) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(p part) bool {
		return !slices.Contains(only, p.name) && !slices.ContainsFunc(p.names, func(name string) bool { return slices.Contains(only, name) })
	}), nil
}

func allNames(all []part) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
		names = append(names, p.names...)
	}
	return names
}

// session is one call of Run.
type session struct {
	Options
	out      string
	manifest imagefile.Manifest
	report   Report
	// unpacked says that the image is in the scratch folder.
	unpacked bool
}

func newSession(options Options) (*session, error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	manifest, err := imagefile.Read(imagefile.ManifestPath(options.Image))
	if err != nil {
		return nil, fmt.Errorf("%w: make the image first, with `make image`", err)
	}
	out, err := filepath.Abs(options.Out)
	if err != nil {
		return nil, fmt.Errorf("finding the output folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(out, "logs"), 0o755); err != nil {
		return nil, fmt.Errorf("making the output folder: %w", err)
	}
	s := &session{Options: options, out: out, manifest: manifest}
	s.report = Report{
		Image: manifest.Name, File: filepath.Base(options.Image), SHA256: manifest.SHA256, Checked: time.Now().UTC().Truncate(time.Second),
		Versions: make(map[string]string),
	}
	return s, nil
}

// scratch is a place in the folder that vanishes with the session.
func (s *session) scratch(names ...string) string {
	return filepath.Join(append([]string{s.out, "check"}, names...)...)
}

// root is where the image is unpacked.
func (s *session) root() string { return s.scratch("root") }

// log is a log that stays, of a part.
func (s *session) log(name string) string {
	return filepath.Join(s.out, "logs", "image-check-"+name+".log")
}

// clear ends and removes what a session left, also one that was killed.
func (s *session) clear(ctx context.Context) error {
	if err := s.clearContainer(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(s.scratch()); err != nil {
		return fmt.Errorf("removing the scratch folder: %w", err)
	}
	return nil
}

func (s *session) runParts(ctx context.Context, chosen []part) error {
	if err := os.MkdirAll(s.scratch(), 0o755); err != nil {
		return fmt.Errorf("making the scratch folder: %w", err)
	}
	for _, p := range chosen {
		s.say("%s: %s", p.name, p.title)
		start := time.Now()
		err := p.run(s, ctx)
		s.report.Parts = append(s.report.Parts, Part{Name: p.name, Seconds: seconds(time.Since(start))})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// wanted says whether a check is to be done.
func (s *session) wanted(part, name string) bool {
	return len(s.Only) == 0 || slices.Contains(s.Only, part) || slices.Contains(s.Only, name)
}

// add takes the outcome of a check, and tells it.
func (s *session) add(r Result) {
	s.report.Checks = append(s.report.Checks, r)
	s.say("  %s", r)
}

func (s *session) say(format string, args ...any) { fmt.Fprintf(s.Log, format+"\n", args...) }
