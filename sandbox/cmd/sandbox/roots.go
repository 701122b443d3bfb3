package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

// removeOldRoots removes unpacked images, but for those of images that were built, which the next start wants, and those that a sandbox
// runs from.
func removeOldRoots(l host.Layout) error {
	paths, err := filepath.Glob(filepath.Join(l.Images(), "*.manifest.json"))
	if err != nil {
		return err
	}
	var built []string
	for _, path := range paths {
		m, err := imagefile.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // A build has just replaced it.
		}
		if err != nil {
			return err
		}
		built = append(built, m.SHA256)
	}
	return roots.Prune(l.Roots(), built)
}
