package recipe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// debianRelease is what machines run.
const debianRelease = "bookworm"

// base is a bare Debian with the packages of a machine. It is apart from what we add, because it takes minutes.
func (r *Recipe) base() build.Step {
	list := r.data("packages.txt")
	return build.Step{
		Name:    baseStep,
		Title:   "Debian " + debianRelease + " for the machines",
		Lane:    build.Assembling,
		Needs:   []string{packagesStep},
		Files:   []string{list, r.sources(), r.data("hooks"), r.refreshed(), r.code("base.go"), r.code("sources.go")},
		Facts:   append([]string{debianRelease}, traces()...),
		Outputs: []string{filepath.Join(r.baseRoot(), "sbin", "init")},
		Root:    true,
		Run: func(ctx context.Context, s *build.Session) error {
			names, err := readPackages(list, runtime.GOARCH)
			if err != nil {
				return err
			}
			return r.bootstrap(ctx, s, names)
		},
	}
}

// refreshed holds the time at which Debian's newest packages were last asked for by somebody.
func (r *Recipe) refreshed() string { return r.Path("images", "parts", "refreshed") }

// Refresh has the next build take Debian's newest packages, in place of those it took before.
func (r *Recipe) Refresh() error {
	return build.ReplaceFile(r.refreshed(), fmt.Appendln(nil, time.Now().UTC().Format(time.RFC3339)), 0o644)
}

func (r *Recipe) bootstrap(ctx context.Context, s *build.Session, packages []string) error {
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	sources, err := r.debianSources()
	if err != nil {
		return err
	}
	hooks, err := r.debianHooks()
	if err != nil {
		return err
	}
	root := filepath.Join(dir, "base")
	argv := slices.Concat(
		// Without waiting for the disk after each file: a half-made system is thrown away anyhow.
		[]string{"mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory", "--dpkgopt=force-unsafe-io"},
		[]string{"--include=" + strings.Join(packages, ",")},
		hooks,
		[]string{debianRelease, root},
		sources,
	)
	onLine := func(line string) {
		if step, ok := strings.CutPrefix(line, "I: "); ok {
			s.Progress("%s", strings.ToLower(strings.TrimRight(step, ".")))
		}
	}
	// The times in an initial RAM disk and in compiled Python follow the variable.
	env := []string{
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch().Unix()),
		// What it leaves when it is killed goes with the rest.
		"TMPDIR=" + dir,
		// By name, because a path may hold what means something to a shell.
		packageCache + "=" + s.Path("cache", "debian"),
	}
	if err := s.Exec(ctx, build.Command{Argv: argv, OwnMounts: true, OwnProcesses: true, OnLine: onLine, Env: env}); err != nil {
		return err
	}
	if err := makeAnonymous(root); err != nil {
		return fmt.Errorf("removing what belongs to one machine: %w", err)
	}
	return build.ReplaceTree(root, r.baseRoot())
}

// traces are what must differ between machines, and what only the installation needed.
func traces() []string {
	return []string{
		"etc/ssh/ssh_host_*", "etc/hostname", "etc/resolv.conf", "var/lib/dbus/machine-id", "var/lib/systemd/random-seed",
		"var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/lib/apt/lists/*", "var/log/*.log", "var/log/apt", "var/log/bootstrap.log",
		"usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*", "var/cache/debconf/*-old", "var/lib/dpkg/*-old", "run/*", "tmp/*", "var/tmp/*",
		// Python of the packages' own scripts, compiled by whichever ran first: not the same each time.
		"usr/share/python3/debpython/__pycache__",
	}
}

// makeAnonymous removes them.
func makeAnonymous(root string) error {
	for _, pattern := range traces() {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	// Empty, not missing: systemd then makes one at each machine's first boot.
	return build.ReplaceFile(filepath.Join(root, "etc", "machine-id"), nil, 0o444)
}

// readPackages reads a list of one package a line; # starts a comment, and [amd64] behind a name keeps it to that architecture.
func readPackages(path, architecture string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields) > 1 && !slices.Contains(fields[1:], "["+architecture+"]") {
			continue
		}
		names = append(names, fields[0])
	}
	return names, nil
}
