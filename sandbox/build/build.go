// Package build makes everything the sandbox runs, from Debian packages and Go modules alone: the programs of
// Kubernetes and Cluster API, our own, the root file system of the machines, and a store with the container images
// that a cluster needs. It is a list of steps; each one is skipped when what it was made from has not changed.
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
	// Only limits the build to these steps and what they need: names of steps, or Assets. Empty means everything.
	Only []string
}

// Assets is the name, for Options.Only, of what tests against a real API server need: etcd, kube-apiserver and kubectl.
const Assets = "assets"

// Run brings everything that was asked for up to date. Nothing half-made is ever left under a final name, a second
// build waits for the first, and cancelling ctx ends every program that was started.
func Run(ctx context.Context, options Options) error {
	p, err := newProject(options)
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(p.out, ".lock"), p.log)
	if err != nil {
		return err
	}
	defer unlock()
	steps, err := selectSteps(p.steps(), options.Only)
	if err != nil {
		return err
	}
	return newSchedule(p, steps).run(ctx)
}

// project is what every step needs to know.
type project struct {
	repo, out string
	log       *lineWriter
}

func newProject(options Options) (*project, error) {
	repo, err := filepath.Abs(options.Repo)
	if err != nil {
		return nil, fmt.Errorf("finding the project: %w", err)
	}
	if _, err := os.Stat(filepath.Join(repo, "sandbox", "components")); err != nil {
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
	p := &project{repo: repo, out: out, log: &lineWriter{w: log}}
	for _, dir := range []string{p.bin(), p.path(".stamps"), p.path("logs"), p.path("machine")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, explainFolder(fmt.Errorf("making the output folder: %w", err), out)
		}
	}
	return p, nil
}

// path is a place under the output folder.
func (p *project) path(elements ...string) string {
	return filepath.Join(append([]string{p.out}, elements...)...)
}

// bin is a program, or without a name the folder of programs.
func (p *project) bin(name ...string) string {
	return p.path(append([]string{"bin"}, name...)...)
}

// component is a place under sandbox/components.
func (p *project) component(elements ...string) string {
	return filepath.Join(append([]string{p.repo, "sandbox", "components"}, elements...)...)
}

// image is a place under sandbox/image.
func (p *project) image(elements ...string) string {
	return filepath.Join(append([]string{p.repo, "sandbox", "image"}, elements...)...)
}
