package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// keepBlobs removes what half-done downloads left, and all content without a record. dir is the content store's.
func keepBlobs(dir string, meta *bucket) error {
	if err := emptyFolder(filepath.Join(dir, "ingest")); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, namespace := range meta.at(version).names() {
		for _, digest := range meta.at(version, namespace, "content", "blob").names() {
			algorithm, sum, _ := strings.Cut(digest, ":")
			path := filepath.Join(dir, "blobs", algorithm, sum)
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("looking for blob %s: %w", digest, err)
			}
			known[path] = true
		}
	}
	return filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || known[path] {
			return err
		}
		return os.Remove(path)
	})
}

// emptyFolder removes all in a folder, which may be missing.
func emptyFolder(dir string) error {
	return removeOthers(dir)
}

// removeOthers removes all in a folder but what is named.
func removeOthers(dir string, keep ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, entry := range entries {
		if slices.Contains(keep, entry.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// clampTimes sets the times of all files that changed after at.
func clampTimes(dir string, at time.Time) error {
	spec, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || !info.ModTime().After(at) {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{spec, spec}, unix.AT_SYMLINK_NOFOLLOW)
	})
}
