package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Prune removes the root file systems of a folder that no process holds, but for those of the images to keep, by sha256. What was left
// half-made goes too.
func Prune(dir string, keep []string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for unpacked images: %w", err)
	}
	var failed []error
	var seen []string
	for _, entry := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(entry.Name(), scratchSuffix), lockSuffix)
		if !digest.MatchString(name) || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		failed = append(failed, New(dir).remove(name, slices.Contains(keep, name)))
	}
	return errors.Join(failed...)
}

// clear removes a root, and what is half-made of it. The caller has the lock for itself alone.
func (c *Cache) clear(sha256 string) error {
	err := os.RemoveAll(c.scratch(sha256))
	if err != nil {
		return err
	}
	// Never half a root under its name.
	err = os.Rename(c.path(sha256), c.scratch(sha256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.RemoveAll(c.scratch(sha256)))
}

// remove removes a root that nobody holds, or, if it is to be kept, only what is half-made of it.
func (c *Cache) remove(sha256 string, keep bool) error {
	path := c.path(sha256)
	lock, err := tryLock(path+lockSuffix, unix.LOCK_EX)
	if errors.Is(err, errBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	failed := os.RemoveAll(c.scratch(sha256))
	if failed == nil && !keep {
		failed = c.clear(sha256)
	}
	if _, err := os.Stat(path); err != nil && failed == nil {
		failed = os.Remove(path + lockSuffix)
	}
	if failed != nil {
		return fmt.Errorf("removing the unpacked image %s: %w", filepath.Base(path), failed)
	}
	return nil
}
