package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// root is an unpacked image, as static checks see it.
type root struct {
	dir      string
	manifest imagefile.Manifest
	// entries are all files and folders, but for what is inside of containerd's store.
	entries []entry
	// run starts a program in the image and returns what it prints, or all that it says when it fails.
	run func(ctx context.Context, argv ...string) (string, error)
	// buildHost is the name of the machine that this runs on, mostly that which made the image.
	buildHost string
	// versions that were seen.
	versions map[string]string
}

// entry is a file of the image.
type entry struct {
	path     string // such as usr/bin/env
	mode     fs.FileMode
	uid, gid uint32
	size     int64
}

const imageStore = "var/lib/containerd"

// list finds all entries.
func (r *root) list() error {
	return filepath.WalkDir(r.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.dir, at)
		if err != nil {
			return err
		}
		e := entry{path: name, mode: info.Mode(), size: info.Size()}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			e.uid, e.gid = owner.Uid, owner.Gid
		}
		r.entries = append(r.entries, e)
		if d.IsDir() && name == imageStore {
			return filepath.SkipDir
		}
		return nil
	})
}

// matching are the entries whose paths match a pattern of package path, in order. A pattern that ends in /** matches all below a folder.
func (r *root) matching(patterns ...string) []entry {
	var found []entry
	for _, e := range r.entries {
		if slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, e.path) }) {
			found = append(found, e)
		}
	}
	return found
}

func matches(pattern, name string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/**"); ok {
		return strings.HasPrefix(name, folder+"/")
	}
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// resolve follows symbolic links as the image's own programs would, and returns a path of this machine.
func (r *root) resolve(name string) (string, error) {
	rest := strings.Split(path.Clean("/"+name), "/")
	at := "/"
	for links := 0; len(rest) > 0; {
		at, rest = path.Join(at, rest[0]), rest[1:]
		target, err := os.Readlink(filepath.Join(r.dir, at))
		if err != nil {
			// Not a link, or not there, which whoever opens it will see.
			continue
		}
		if links++; links > 40 {
			return "", fmt.Errorf("/%s: too many symbolic links", strings.TrimPrefix(name, "/"))
		}
		if at = path.Dir(at); path.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return filepath.Join(r.dir, at), nil
}

func (r *root) stat(name string) (fs.FileInfo, error) {
	at, err := r.resolve(name)
	if err != nil {
		return nil, err
	}
	return os.Stat(at)
}

func (r *root) read(name string) (string, error) {
	at, err := r.resolve(name)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(at)
	return string(content), err
}

// hasProgram says whether a program is in one of the usual places.
func (r *root) hasProgram(name string) bool {
	for _, dir := range []string{"usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin"} {
		if info, err := r.stat(path.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// there says whether a file is there and not empty. A remedy goes with what is missing.
func (r *root) there(do string, names ...string) error {
	var missing []string
	for _, name := range names {
		info, err := r.stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
			missing = append(missing, "/"+name)
		}
	}
	if len(missing) > 0 {
		return problemf(do, "nothing at %s", strings.Join(missing, ", "))
	}
	return nil
}

// paths names entries, a few of them when there are many.
func paths(entries []entry) string {
	const most = 5
	var names []string
	for _, e := range entries {
		names = append(names, "/"+e.path)
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}
