package build

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goProgram is one call of the Go compiler.
type goProgram struct {
	// module is the folder of the go.mod file that the packages are found from.
	module   string
	packages []string
	tags     string
	linker   string
	cgo      bool
	// place says where each binary goes, by the name the compiler gives it.
	place map[string]string
	// links are other names of the first package's binary, made beside it.
	links []string
}

func (g goProgram) outputs() []string {
	return slices.Sorted(maps.Values(g.place))
}

// build compiles, then puts all binaries in place.
func (g goProgram) build(ctx context.Context, s *session) error {
	dir, remove, err := s.scratch()
	if err != nil {
		return err
	}
	defer remove()
	argv := []string{"go", "build", "-v", "-ldflags", "-s -w" + g.linker, "-o", dir + "/"}
	if g.tags != "" {
		argv = append(argv, "-tags", g.tags)
	}
	packages := 0
	err = s.exec(ctx, command{
		argv: append(argv, g.packages...),
		dir:  g.module,
		env:  g.environment(),
		onLine: func(line string) {
			switch {
			case strings.HasPrefix(line, "go: downloading"):
				s.progress("downloading modules")
			case !strings.Contains(line, " "):
				packages++
				s.progress("%d packages compiled", packages)
			}
		},
	})
	if err != nil {
		return err
	}
	for name, target := range g.place {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, name), target); err != nil {
			return fmt.Errorf("putting %s in place: %w", name, err)
		}
	}
	return g.link()
}

func (g goProgram) link() error {
	if len(g.links) == 0 {
		return nil
	}
	program := g.place[filepath.Base(g.packages[0])]
	for _, name := range g.links {
		if err := replaceLink(filepath.Base(program), filepath.Join(filepath.Dir(program), name)); err != nil {
			return err
		}
	}
	return nil
}

// environment makes every build the same: paths do not matter, nothing but the go.mod file does, and all builds share
// the compiler's cache.
func (g goProgram) environment() []string {
	cgo := "CGO_ENABLED=0"
	if g.cgo {
		cgo = "CGO_ENABLED=1"
	}
	return []string{"GOFLAGS=-trimpath -buildvcs=false", "GOWORK=off", "GOOS=", "GOARCH=", cgo}
}

// oneAfterTheOther joins two runs into one step.
func oneAfterTheOther(runs ...func(context.Context, *session) error) func(context.Context, *session) error {
	return func(ctx context.Context, s *session) error {
		for _, run := range runs {
			if err := run(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// replaceLink makes a symbolic link in the place of whatever has that name.
func replaceLink(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := os.Symlink(target, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// pause is the program that holds a pod's namespaces open. In C, because every pod runs one and it must be tiny.
func (p *project) pause() step {
	source := p.image("pause.c")
	return step{
		name:    pauseStep,
		title:   "pause",
		lane:    compiling,
		files:   []string{source},
		outputs: []string{p.node("pause")},
		run: func(ctx context.Context, s *session) error {
			dir, remove, err := s.scratch()
			if err != nil {
				return err
			}
			defer remove()
			binary := filepath.Join(dir, "pause")
			if err := s.exec(ctx, command{argv: []string{"gcc", "-Os", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", binary, source}}); err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(p.node("pause")), 0o755); err != nil {
				return err
			}
			return os.Rename(binary, p.node("pause"))
		},
	}
}
