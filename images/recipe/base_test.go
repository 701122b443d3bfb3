package recipe

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOverlayTreeReplacesWordsAndLeavesHardLinkedFilesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, base, root := filepath.Join(dir, "from"), filepath.Join(dir, "base"), filepath.Join(dir, "root")
	write(t, filepath.Join(from, "etc", "config"), "image=@IMAGE@\n")
	write(t, filepath.Join(from, "bin", "run"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(from, "bin", "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("config", filepath.Join(from, "etc", "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(base, "config"), "old")
	write(t, filepath.Join(root, "etc", "other"), "stays")
	if err := os.Link(filepath.Join(base, "config"), filepath.Join(root, "etc", "config")); err != nil {
		t.Fatal(err)
	}
	if err := overlayTree(from, root, map[string]string{"@IMAGE@": "pause:1"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"root/etc/config": "image=pause:1\n", "root/etc/link": "image=pause:1\n", "root/etc/other": "stays", "base/config": "old",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "bin", "run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("bin/Run: %v, %v", info, err)
	}
}

func TestMakeAnonymousLeavesNothingOfOneMachine(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, path := range []string{"etc/machine-id", "etc/hostname", "etc/resolv.conf", "etc/ssh/ssh_host_rsa_key", "etc/ssh/sshd_config"} {
		write(t, filepath.Join(root, path), "x")
	}
	if err := makeAnonymous(root); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, pattern := range []string{"etc/*", "etc/ssh/*"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			left = append(left, strings.TrimPrefix(path, root+"/"))
		}
	}
	if want := []string{"etc/machine-id", "etc/ssh", "etc/ssh/sshd_config"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if id, err := os.ReadFile(filepath.Join(root, "etc/machine-id")); err != nil || len(id) != 0 {
		t.Errorf("machine-id %q, %v", id, err)
	}
}

func TestThePackagesComeFromTheHostsMirrors(t *testing.T) {
	t.Parallel()
	const list = "# machines\ndeb http://deb.example/debian bookworm main # all\ndeb http://deb.example/debian-security bookworm-security main contrib\n"
	for _, test := range []struct{ name, host, main, security string }{
		{
			"a host with sources in the new form",
			"Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: x\n\nTypes: deb\nURIs: http://mirror.example/debian-security\nSuites: y\n",
			"http://mirror.example/debian", "http://mirror.example/debian-security",
		},
		{
			"a host with sources in the old form",
			"deb [signed-by=/k] https://mirror.example/d bookworm main\ndeb http://other.example/security/ x main\n",
			"https://mirror.example/d", "http://other.example/security/",
		},
		{"a host with one mirror", "deb http://mirror.example/debian bookworm main\n", "http://mirror.example/debian", "http://deb.example/debian-security"},
		{"a host that says nothing", "# deb http://old.example/ x main\ndeb-src http://src.example/ x main\n", "http://deb.example/debian", "http://deb.example/debian-security"},
	} {
		want := []string{"deb " + test.main + " bookworm main", "deb " + test.security + " bookworm-security main contrib"}
		if got := onMirrors(list, mirrorsIn(test.host)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}

// One cache of the compiler serves all modules only where they agree, and a cold build must not compile the same
// libraries twice.
func TestModulesAgreeOnTheVersionsOfSharedLibraries(t *testing.T) {
	t.Parallel()
	shared := regexp.MustCompile(`(?m)^\s+((?:k8s\.io|sigs\.k8s\.io|golang\.org/x|google\.golang\.org|go\.opentelemetry\.io|github\.com/go-openapi|github\.com/prometheus)/\S+) (v\S+)`)
	want := make(map[string]string)
	for _, goMod := range []string{"../components/kubernetes/go.mod", "../../go.mod", "../../sandbox/go.mod"} {
		content, err := os.ReadFile(goMod)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range shared.FindAllStringSubmatch(string(content), -1) {
			module, version := match[1], match[2]
			if before, found := want[module]; found && before != version && before != "v0.0.0" {
				t.Errorf("%s has %s %s, and Kubernetes is built with %s", goMod, module, version, before)
			} else if !found && strings.Contains(goMod, "kubernetes") {
				want[module] = version
			}
		}
	}
	if len(want) < 20 {
		t.Errorf("only %d shared libraries were found: is the pattern right?", len(want))
	}
}

func TestAPackageListMayKeepANameToOneArchitecture(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "packages.txt")
	write(t, list, "# all\none # why\n\ntwo [amd64]\nthree [arm64]\n")
	for architecture, want := range map[string]string{"amd64": "one two", "arm64": "one three"} {
		names, err := readPackages(list, architecture)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v", architecture, got, err)
		}
	}
}
