package roots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capmaas/cluster-api-provider-maas/images/archive"
)

// digest is how a sha256 is written.
var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// hold returns with a lock that keeps the root from being removed, when it is there. Whoever makes or removes a root has the lock for
// itself alone.
func (c *Cache) hold(ctx context.Context, r *root, file, sha256 string) (int, error) {
	if !digest.MatchString(sha256) {
		return 0, fmt.Errorf("%q is not a checksum of an image", sha256)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return 0, fmt.Errorf("making the folder of unpacked images: %w", err)
	}
	for spoilt := 0; ; {
		lock, err := tryLock(c.path(sha256)+lockSuffix, unix.LOCK_SH)
		if err == nil {
			if c.has(sha256) {
				return keep(lock)
			}
			lock.Close()
			err = c.make(ctx, r, file, sha256)
		}
		switch {
		case err == nil:
		case !errors.Is(err, errBusy):
			return 0, err
		default:
			// Whoever is at it may be making it, and keep it then: so from the beginning.
			time.Sleep(200 * time.Millisecond)
			// Whoever holds what cannot be used may do so for ever.
			if spoilt++; !c.isSpoilt(sha256) {
				spoilt = 0
			}
			if spoilt > 15 {
				return 0, fmt.Errorf("%s does not belong to root any more, and another sandbox runs from it: stop that one first", c.path(sha256))
			}
		}
	}
}

// make unpacks the image, unless somebody else was faster. The error is errBusy if somebody else has the lock.
func (c *Cache) make(ctx context.Context, r *root, file, sha256 string) error {
	lock, err := tryLock(c.path(sha256)+lockSuffix, unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	if c.has(sha256) {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("looking at the image: %w", err)
	}
	r.total.Store(info.Size())
	if err := compare(file, sha256); err != nil {
		return err
	}
	// What has the name and is not whole any more goes too.
	if err := c.clear(sha256); err != nil {
		return fmt.Errorf("clearing what is left of an unpacked image: %w", err)
	}
	scratch := c.scratch(sha256)
	err = c.unpack(ctx, file, scratch, r)
	if err == nil {
		err = checkRoot(scratch)
	}
	if err == nil {
		err = isStill(file, info)
	}
	if err == nil {
		err = commit(scratch, c.path(sha256))
	}
	if err != nil {
		return errors.Join(explain(err), os.RemoveAll(scratch))
	}
	return nil
}

// unpack unpacks the image, as long as the disk is not full: what was uploaded may be of any size.
func (c *Cache) unpack(ctx context.Context, file, scratch string, r *root) error {
	ctx, stop := whileFree(ctx, c.dir, c.reserve)
	defer stop()
	err := archive.Unpack(ctx, file, scratch, r.done.Store)
	if full, ok := errors.AsType[*fullError](context.Cause(ctx)); ok && err != nil {
		return full
	}
	return err
}

// isStill makes sure that what was unpacked is what was compared before, and not what another upload or build put in its place.
func isStill(file string, before os.FileInfo) error {
	after, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("looking at the image: %w", err)
	}
	if !os.SameFile(before, after) || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return fmt.Errorf("the image %s was changed while it was unpacked", file)
	}
	return nil
}

// compare makes sure that the file is what the root will be named for.
func compare(file, want string) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("opening the image: %w", err)
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return fmt.Errorf("reading the image: %w", err)
	}
	if have := hex.EncodeToString(sum.Sum(nil)); have != want {
		return fmt.Errorf("the image %s has the checksum %s and not %s: it was changed meanwhile", file, have, want)
	}
	return nil
}

// errNoMachine is an image from which no machine can boot.
var errNoMachine = errors.New("it holds no /sbin/init, so it is not the root file system of a machine")

func checkRoot(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// /sbin and /sbin/init are links in a usual system, the latter an absolute one.
	if _, err := root.Stat("sbin"); err != nil {
		return errNoMachine
	}
	if _, err := root.Lstat(filepath.Join("sbin", "init")); err != nil {
		return errNoMachine
	}
	if !isOurs(dir) {
		return errors.New("its outermost folder does not belong to root: pack it as root, or by tar --numeric-owner --owner=0")
	}
	return nil
}

// commit gives a finished root its name, once all of it is on disk: a power cut must not leave empty files under it.
func commit(scratch, path string) error {
	dir, err := os.Open(scratch)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("writing an unpacked image to disk: %w", err)
	}
	return os.Rename(scratch, path)
}

func explain(err error) error {
	if errors.Is(err, archive.ErrDamaged) {
		return fmt.Errorf("the image is no root file system in a .tar.gz (file type tgz), which is all that the sandbox boots: %w", err)
	}
	return err
}
