package recipe

import (
	"os"
	"path/filepath"
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
