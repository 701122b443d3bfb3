package build

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAFingerprintFollowsNamesContentsAndPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "file")
	write(t, file, "content")
	steps := []step{{name: "s", files: []string{dir}, keep: notTest}}
	seen := make(map[string]string)
	same := ""
	for _, change := range []struct {
		what string
		do   func() error
		same bool
	}{
		{"the start", func() error { return nil }, false},
		{"nothing", func() error { return nil }, true},
		{"a test", func() error { return os.WriteFile(filepath.Join(dir, "x_test.go"), nil, 0o644) }, true},
		{"only who may read it", func() error { return os.Chmod(file, 0o600) }, true},
		{"who may run it", func() error { return os.Chmod(file, 0o755) }, false},
		{"its content", func() error { return os.WriteFile(file, []byte("CONTENT"), 0o755) }, false},
		{"its name", func() error { return os.Rename(file, file+"2") }, false},
		{"a link", func() error { return os.Symlink("a", filepath.Join(dir, "link")) }, false},
		{"the link's target", func() error {
			return replaceLink("b", filepath.Join(dir, "link"))
		}, false},
	} {
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		prints, err := fingerprints(steps)
		if err != nil {
			t.Fatal(err)
		}
		print := prints["s"]
		if change.same && print != same {
			t.Errorf("%s changed the fingerprint", change.what)
		}
		if before, found := seen[print]; !change.same && found {
			t.Errorf("%s has the fingerprint of %s", change.what, before)
		}
		seen[print], same = change.what, print
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
		t.Errorf("bin/run: %v, %v", info, err)
	}
}

func TestMountsOverFindsLayersBelowMachines(t *testing.T) {
	t.Parallel()
	const table = "36 35 0:50 / /m rw,relatime shared:1 - overlay overlay rw,lowerdir=/x:/out/rootfs,upperdir=/u,workdir=/w\n" +
		"37 35 0:51 / /n rw,relatime - overlay overlay rw,lowerdir+=/one,lowerdir+=/two,upperdir=/u,workdir=/w\n"
	for path, want := range map[string]bool{"/out/rootfs": true, "/two": true, "/x": true, "/out": true, "/out/root": false, "/u": false} {
		if got := mountsOver(table, path); got != want {
			t.Errorf("%s: %t", path, got)
		}
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

func TestFirstMirrorReadsBothFormsOfSources(t *testing.T) {
	t.Parallel()
	for sources, want := range map[string]string{
		"Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: x\n": "http://mirror.example/debian",
		"deb [signed-by=/k] https://mirror.example/d bookworm main\n":              "https://mirror.example/d",
		"# deb http://old.example/ x main\ndeb-src http://src.example/ x main\n":   "",
		"": "",
	} {
		if got := firstMirror(sources); got != want {
			t.Errorf("%q: %q, want %q", sources, got, want)
		}
	}
}

func TestModuleVersionIsWhatGoModRequires(t *testing.T) {
	t.Parallel()
	goMod := filepath.Join(t.TempDir(), "go.mod")
	write(t, goMod, "module x\n\nrequire example.com/one v1.2.3\n\nrequire (\n\texample.com/two/v2 v2.0.1 // indirect\n)\n\nreplace example.com/three => example.com/three v9.9.9\n")
	for module, want := range map[string]string{"example.com/one": "v1.2.3", "example.com/two/v2": "v2.0.1", "example.com/three": "", "example.com/two": ""} {
		got, err := moduleVersion(goMod, module)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", module, got, err)
		}
	}
}

// One cache of the compiler serves all modules only where they agree, and a cold build must not compile the same
// libraries twice.
func TestModulesAgreeOnTheVersionsOfSharedLibraries(t *testing.T) {
	t.Parallel()
	shared := regexp.MustCompile(`(?m)^\s+((?:k8s\.io|sigs\.k8s\.io|golang\.org/x|google\.golang\.org|go\.opentelemetry\.io|github\.com/go-openapi|github\.com/prometheus)/\S+) (v\S+)`)
	want := make(map[string]string)
	for _, goMod := range []string{"../components/kubernetes/go.mod", "../../go.mod", "../go.mod"} {
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

func TestStampVersionTellsAllParts(t *testing.T) {
	t.Parallel()
	got := stampVersion("v1.36.3", "p/version")
	want := " -X p/version.gitVersion=v1.36.3 -X p/version.gitMajor=1 -X p/version.gitMinor=36 -X p/version.gitTreeState=clean"
	if got != want {
		t.Errorf("%q", got)
	}
}
