package recipe

import (
	"os"
	"path/filepath"
	"testing"
)

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
