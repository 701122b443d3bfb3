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

// GoProgram is one call of the Go compiler.
type GoProgram struct {
	// Module is the folder of the go.mod file that the packages are found from.
	Module   string
	Packages []string
	Tags     string
	Linker   string
	CGO      bool
	// Place says where each binary goes, by the name the compiler gives it.
	Place map[string]string
	// Links are other names of the first package's binary, made beside it.
	Links []string
}

// Outputs are the binaries.
func (g GoProgram) Outputs() []string {
	return slices.Sorted(maps.Values(g.Place))
}

// Build compiles, then puts all binaries in place.
func (g GoProgram) Build(ctx context.Context, s *Session) error {
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	argv := []string{"go", "build", "-v", "-ldflags", "-s -w" + g.Linker, "-o", dir + "/"}
	if g.Tags != "" {
		argv = append(argv, "-tags", g.Tags)
	}
	packages := 0
	err = s.Exec(ctx, Command{
		Argv: append(argv, g.Packages...),
		Dir:  g.Module,
		Env:  g.environment(),
		OnLine: func(line string) {
			switch {
			case strings.HasPrefix(line, "go: downloading"):
				s.Progress("downloading modules")
			case !strings.Contains(line, " "):
				packages++
				s.Progress("%d packages compiled", packages)
			}
		},
	})
	if err != nil {
		return err
	}
	for name, target := range g.Place {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, name), target); err != nil {
			return fmt.Errorf("putting %s in place: %w", name, err)
		}
	}
	return g.link()
}

func (g GoProgram) link() error {
	if len(g.Links) == 0 {
		return nil
	}
	program := g.Place[filepath.Base(g.Packages[0])]
	for _, name := range g.Links {
		if err := ReplaceLink(filepath.Base(program), filepath.Join(filepath.Dir(program), name)); err != nil {
			return err
		}
	}
	return nil
}

// environment makes every build the same: paths do not matter, nothing but the go.mod file does, and all builds share
// the compiler's cache.
func (g GoProgram) environment() []string {
	cgo := "CGO_ENABLED=0"
	if g.CGO {
		cgo = "CGO_ENABLED=1"
	}
	return []string{"GOFLAGS=-trimpath -buildvcs=false", "GOWORK=off", "GOOS=", "GOARCH=", cgo}
}

// ModuleFolder is where Go keeps the sources of a module; they are downloaded if need be. The module of the folder from requires it.
func (s *Session) ModuleFolder(ctx context.Context, from, module string) (string, error) {
	env := GoProgram{}.environment()
	if err := s.Exec(ctx, Command{Argv: []string{"go", "mod", "download", module}, Dir: from, Env: env}); err != nil {
		return "", err
	}
	out, err := s.Output(ctx, Command{Argv: []string{"go", "list", "-m", "-f", "{{.Dir}}", module}, Dir: from, Env: env})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out), nil
}
