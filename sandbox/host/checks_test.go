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
