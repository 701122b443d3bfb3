package build

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// debianRelease is what machines run.
const debianRelease = "bookworm"

// base is a bare Debian with the packages of a machine. It is apart from what we add, because it takes minutes.
func (p *project) base() step {
	list := p.image("packages.txt")
	return step{
		name:    baseStep,
		title:   "Debian " + debianRelease + " for the machines",
		lane:    assembling,
		needs:   []string{packagesStep},
		files:   []string{list},
		facts:   []string{debianRelease},
		outputs: []string{p.path("machine", "base", "sbin", "init")},
		root:    true,
		run: func(ctx context.Context, s *session) error {
			names, err := readList(list)
			if err != nil {
				return err
			}
			return s.bootstrap(ctx, names)
		},
	}
}

func (s *session) bootstrap(ctx context.Context, packages []string) error {
	dir, remove, err := s.scratch()
	if err != nil {
		return err
	}
	defer remove()
	cache := s.path("cache", "debian")
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
			s.progress("%s", strings.ToLower(strings.TrimRight(step, ".")))
		}
	}
	// Without waiting for the disk after each file: a half-made system is thrown away anyhow.
	env := []string{"DEBIAN_FRONTEND=noninteractive", "DPKG_FORCE=unsafe-io"}
	if err := s.exec(ctx, command{argv: argv, ownMounts: true, ownProcesses: true, onLine: onLine, env: env}); err != nil {
		return err
	}
	if err := makeAnonymous(root); err != nil {
		return fmt.Errorf("removing what belongs to one machine: %w", err)
	}
	return replaceTree(root, s.path("machine", "base"))
}

// makeAnonymous removes what must differ between machines, and what only the installation needed.
func makeAnonymous(root string) error {
	patterns := []string{
		"etc/ssh/ssh_host_*", "etc/hostname", "etc/resolv.conf", "var/lib/dbus/machine-id", "var/lib/systemd/random-seed",
		"var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/lib/apt/lists/*", "var/log/*.log", "var/log/apt", "var/log/bootstrap.log",
		"usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*",
	}
	for _, pattern := range patterns {
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
	return replaceFile(filepath.Join(root, "etc", "machine-id"), nil, 0o444)
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

// root is the machines' root file system: the base, the programs of a node, and our files.
func (p *project) root() step {
	return step{
		name:    rootStep,
		title:   "root file system of the machines",
		lane:    assembling,
		needs:   []string{baseStep, kubernetesStep, containerdStep, runcStep, pluginsStep, crictlStep},
		files:   []string{p.image("root"), p.recipes()},
		keep:    notTest,
		outputs: []string{p.path("machine", "rootfs", "usr", "bin", "kubelet")},
		run: func(ctx context.Context, s *session) error {
			images, err := s.kubeadmImages(ctx)
			if err != nil {
				return err
			}
			return s.assembleRoot(ctx, images)
		},
	}
}

func (s *session) assembleRoot(ctx context.Context, images []string) error {
	dir, remove, err := s.scratch()
	if err != nil {
		return err
	}
	defer remove()
	root := filepath.Join(dir, "rootfs")
	// Hard links: no file of the base is ever written to, only replaced.
	if err := s.exec(ctx, command{argv: []string{"cp", "-al", s.path("machine", "base"), root}}); err != nil {
		return err
	}
	if err := s.addPrograms(root); err != nil {
		return err
	}
	pause, err := imageOf(images, "pause")
	if err != nil {
		return err
	}
	if err := overlayTree(s.image("root"), root, map[string]string{"@PAUSE_IMAGE@": pause}); err != nil {
		return err
	}
	return replaceTree(root, s.path("machine", "rootfs"))
}

func (s *session) addPrograms(root string) error {
	programs := map[string]string{
		s.bin("kube"):                     "usr/bin/kube",
		s.bin("runc"):                     "usr/local/bin/runc",
		s.node("containerd"):              "usr/local/bin/containerd",
		s.node("containerd-shim-runc-v2"): "usr/local/bin/containerd-shim-runc-v2",
		s.node("ctr"):                     "usr/local/bin/ctr",
		s.node("crictl"):                  "usr/local/bin/crictl",
	}
	plugins, err := filepath.Glob(s.plugin("*"))
	if err != nil {
		return err
	}
	for _, plugin := range plugins {
		programs[plugin] = filepath.Join("opt/cni/bin", filepath.Base(plugin))
	}
	for from, to := range programs {
		target := filepath.Join(root, to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Link(from, target); err != nil {
			return fmt.Errorf("adding %s: %w", to, err)
		}
	}
	for _, name := range []string{"kubelet", "kubeadm", "kubectl"} {
		if err := replaceLink("kube", filepath.Join(root, "usr/bin", name)); err != nil {
			return err
		}
	}
	return nil
}

// overlayTree lays our files over a root file system, with words replaced in them. Folders that exist stay as they are.
func overlayTree(from, root string, words map[string]string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(root, relative)
		if entry.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return replaceLink(link, target)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for word, value := range words {
			content = bytes.ReplaceAll(content, []byte(word), []byte(value))
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return replaceFile(target, content, mode)
	})
}

// readList reads a file of one name a line; # starts a comment.
func readList(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(content)) {
		name, _, _ := strings.Cut(line, "#")
		names = append(names, strings.Fields(name)...)
	}
	return names, nil
}
