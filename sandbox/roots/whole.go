package roots

import (
	"os"
	"syscall"
)

// has says whether a root is there, with the owners that it was unpacked with: a chown of the whole output folder, which is what people do
// after they worked as root, would leave machines whose programs do not trust their own files.
func (c *Cache) has(sha256 string) bool { return isOurs(c.path(sha256)) }

// isSpoilt says whether a root is there, and cannot be used.
func (c *Cache) isSpoilt(sha256 string) bool {
	_, err := os.Stat(c.path(sha256))
	return err == nil && !c.has(sha256)
}

// isOurs says whether a folder is there and belongs to the user who runs this, as the outermost folder of a root does.
func isOurs(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
