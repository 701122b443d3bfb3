package host

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestStateAndBuildLieOnOneFileSystem(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	for name, test := range map[string]struct {
		build string
		fits  bool
	}{
		"beside each other, neither made yet": {filepath.Join(here, "_build"), true},
		"on another file system":              {"/proc", false},
	} {
		err := checkOneFileSystem(Layout{State: filepath.Join(here, ".sandbox"), Build: test.build})
		if fits := err == nil; fits != test.fits || !fits && !strings.Contains(err.Error(), "different file systems") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPathsThatMountsAndShellsMisreadAreRefused(t *testing.T) {
	t.Parallel()
	for root, fits := range map[string]bool{"/home/ann/capmaas": true, "/home/my files/capmaas": false, "/a:b": false, "/a,b": false, "/a'b": false} {
		l, err := NewLayout(root, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPaths(l); (err == nil) != fits || !fits && !strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v", root, err)
		}
	}
}
