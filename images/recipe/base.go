package recipe

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// debianRelease is what machines run.
const debianRelease = "bookworm"

// base is a bare Debian with the packages of a machine. It is apart from what we add, because it takes minutes.
func (r *Recipe) base() build.Step {
	list := r.Source("images", distribution, "packages.txt")
	return build.Step{
		Name:    baseStep,
		Title:   "Debian " + debianRelease + " for the machines",
		Lane:    build.Assembling,
		Needs:   []string{PackagesStep},
		Files:   []string{list},
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

func (r *Recipe) bootstrap(ctx context.Context, s *build.Session, packages []string) error {
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	cache := s.Path("cache", "debian")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	root := filepath.Join(dir, "base")
	argv := []string{
		"debootstrap", "--variant=minbase", "--cache-dir=" + cache, "--include=" + strings.Join(packages, ","), debianRelease, root,
	}
	if mirror := hostMirror(); mirror != "" {
		argv = append(argv, mirror)
	}
	onLine := func(line string) {
		if step, ok := strings.CutPrefix(line, "I: "); ok {
			s.Progress("%s", strings.ToLower(strings.TrimRight(step, ".")))
		}
	}
	// Without waiting for the disk after each file: a half-made system is thrown away anyhow. The times in an initial RAM disk and in
	// compiled Python follow the last variable.
	env := []string{"DEBIAN_FRONTEND=noninteractive", "DPKG_FORCE=unsafe-io", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch().Unix())}
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

// hostMirror is where a Debian host gets its packages from; empty elsewhere, where debootstrap knows a mirror.
func hostMirror() string {
	if release, err := os.ReadFile("/etc/os-release"); err != nil || !bytes.Contains(release, []byte("\nID=debian\n")) {
		return ""
	}
	for _, path := range []string{"/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"} {
		if content, err := os.ReadFile(path); err == nil {
			if mirror := firstMirror(string(content)); mirror != "" {
				return mirror
			}
		}
	}
	return ""
}

// firstMirror finds the first web address in a list of package sources, in apt's new or old form.
func firstMirror(sources string) string {
	for line := range strings.Lines(sources) {
		fields := strings.Fields(line)
		if len(fields) < 2 || (fields[0] != "URIs:" && fields[0] != "deb") {
			continue
		}
		for _, field := range fields[1:] {
			if strings.HasPrefix(field, "http://") || strings.HasPrefix(field, "https://") {
				return field
			}
		}
	}
	return ""
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
