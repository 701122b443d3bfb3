package recipe

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolveInNeverLeavesTheRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "usr/lib/real"), "x")
	for name, target := range map[string]string{
		"lib": "usr/lib", "absolute": "/lib/real", "relative": "lib/../lib/real", "up": "../../../usr/lib/real", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"usr/lib/real", "lib/real", "absolute", "relative", "up", "/absolute"} {
		if got, err := resolveIn(root, name); err != nil || got != filepath.Join(root, "usr/lib/real") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"loop", "missing"} {
		if got, err := resolveIn(root, name); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
