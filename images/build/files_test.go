package build

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFingerprintFollowsNamesContentsAndPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "file")
	write(t, file, "content")
	steps := []Step{{Name: "s", Files: []string{dir}, Keep: NotTest}}
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
			return ReplaceLink("b", filepath.Join(dir, "link"))
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

func TestModuleVersionIsWhatGoModRequires(t *testing.T) {
	t.Parallel()
	goMod := filepath.Join(t.TempDir(), "go.mod")
	write(t, goMod, "module x\n\nrequire example.com/one v1.2.3\n\nrequire (\n\texample.com/two/v2 v2.0.1 // indirect\n)\n\nreplace example.com/three => example.com/three v9.9.9\n")
	for module, want := range map[string]string{"example.com/one": "v1.2.3", "example.com/two/v2": "v2.0.1", "example.com/three": "", "example.com/two": ""} {
		got, err := ModuleVersion(goMod, module)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", module, got, err)
		}
	}
}

func TestStampVersionTellsAllParts(t *testing.T) {
	t.Parallel()
	got := StampVersion("v1.36.3", "p/version")
	want := " -X p/version.gitVersion=v1.36.3 -X p/version.gitMajor=1 -X p/version.gitMinor=36 -X p/version.gitTreeState=clean"
	if got != want {
		t.Errorf("%q", got)
	}
}
