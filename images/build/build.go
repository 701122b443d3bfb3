// Package build makes things from Debian packages, Go modules and files of this project. What is to be made is a list of steps; each
// one is skipped when what it was made from has not changed.
package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Options say what to build and where.
type Options struct {
	// Repo is the root of this project's checkout.
	Repo string
	// Out is where everything built goes; empty means _build in Repo.
	Out string
	// Log receives progress, one line at a time.
	Log io.Writer
	// Only limits the build to the steps of these names and what they need. Empty means all steps.
	Only []string
}

// Run brings everything that was asked for up to date. Nothing half-made is ever left under a final name, a second build waits for
// the first, and cancelling ctx ends every program that was started. The steps come from list, each after those it needs.
func Run(ctx context.Context, options Options, list func(*Project) ([]Step, error)) error {
	p, err := newProject(options)
	if err != nil {
		return err
	}
	unlock, err := Lock(ctx, p.Path(".lock"), func() { p.log.printf("another build is running here; waiting for it to end") })
	if err != nil {
		return err
	}
	defer unlock()
	all, err := list(p)
	if err != nil {
		return err
	}
	steps, err := selectSteps(all, options.Only)
	if err != nil {
		return err
	}
	return newSchedule(p, steps).run(ctx)
}

// Project is what every step needs to know: where things are.
type Project struct {
	// Repo is the root of the checkout, Out the output folder; both are absolute.
	Repo, Out string
	log       *lineWriter
}

func newProject(options Options) (*Project, error) {
	repo, err := filepath.Abs(options.Repo)
	if err != nil {
		return nil, fmt.Errorf("finding the project: %w", err)
	}
	if _, err := os.Stat(filepath.Join(repo, "images", "components")); err != nil {
		return nil, fmt.Errorf("%s is not this project's checkout: %w", repo, err)
	}
	out := options.Out
	if out == "" {
		out = filepath.Join(repo, "_build")
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, fmt.Errorf("finding the output folder: %w", err)
	}
	log := options.Log
	if log == nil {
		log = io.Discard
	}
	p := &Project{Repo: repo, Out: out, log: &lineWriter{w: log}}
	for _, dir := range []string{p.Bin(), p.Path(".stamps"), p.Path("logs")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, explainFolder(fmt.Errorf("making the output folder: %w", err), out)
		}
	}
	return p, nil
}

// Path is a place under the output folder.
func (p *Project) Path(elements ...string) string {
	return filepath.Join(append([]string{p.Out}, elements...)...)
}

// Bin is a program, or without a name the folder of programs.
func (p *Project) Bin(name ...string) string {
	return p.Path(append([]string{"bin"}, name...)...)
}

// Source is a place in the checkout.
func (p *Project) Source(elements ...string) string {
	return filepath.Join(append([]string{p.Repo}, elements...)...)
}

// Component is a place under images/components, where the versions of what is compiled are pinned.
func (p *Project) Component(elements ...string) string {
	return p.Source(append([]string{"images", "components"}, elements...)...)
}

// Version is the version of a module that a component requires. The title of a step can do without it.
func (p *Project) Version(component, module string) string {
	version, err := ModuleVersion(p.Component(component, "go.mod"), module)
	if err != nil {
		return "of unknown version"
	}
	return version
}
