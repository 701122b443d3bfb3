package main

import (
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
		// One that a build is just replacing, or that is damaged, tells of no image that could be used.
		if m, err := imagefile.Read(path); err == nil {
			built = append(built, m.SHA256)
		}
	}
	return roots.Prune(l.Roots(), built)
}
