package recipe

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

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
			return build.ReplaceLink(link, target)
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
		return build.ReplaceFile(target, content, mode)
	})
}
