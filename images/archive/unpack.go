package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Unpack unpacks a .tar.gz into dir, which must be empty or missing: a scratch folder, that the caller renames afterwards. Owners,
// modes, times, ACLs, extended attributes, hard links and devices are as they were, so this needs root. Nothing is ever written
// outside of dir, whatever the archive holds.
//
// After any error dir is empty again. A file that is cut off or was changed is ErrDamaged. progress, which may be nil, gets the bytes
// of the file that were read so far.
func Unpack(ctx context.Context, file, dir string, progress func(done int64)) (err error) {
	if err := emptyFolder(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("unpacking %s: %w", file, err), removeContent(dir))
		}
	}()
	open, err := openFolders(dir)
	if err != nil {
		return err
	}
	defer open.close()
	u := unpacker{folders: open, buffer: make([]byte, chunk)}
	if err := eachEntry(ctx, file, progress, u.entry); err != nil {
		return err
	}
	return u.finishFolders(ctx)
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Mkdir(dir, 0o700)
	}
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: unpack into an empty folder", dir)
	}
	return err
}

func removeContent(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	return err
}

type unpacker struct {
	*folders
	buffer  []byte
	pending []finish // in the archive's order
}

// finish is what a folder gets when all is in it: a default ACL would pass to its files, and each of them changes its time.
type finish struct {
	name       string
	properties properties
}

// properties are what all kinds of files have.
type properties struct {
	uid, gid   int
	mode       uint32
	modified   time.Time
	attributes map[string]string
}

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	if err := u.place(header, content); err != nil {
		return fmt.Errorf("%.200s: %w", header.Name, err)
	}
	return nil
}

func (u *unpacker) place(header *tar.Header, content io.Reader) error {
	name, err := localName(header.Name)
	if err != nil {
		return err
	}
	attributes, err := fromRecords(header.PAXRecords)
	if err != nil {
		return err
	}
	p := properties{header.Uid, header.Gid, uint32(header.Mode) & 0o7777, header.ModTime, attributes}
	if header.Typeflag == tar.TypeDir {
		return u.placeFolder(name, p)
	}
	if name == "." {
		return errors.New("the root must be a folder")
	}
	if header.Typeflag == tar.TypeLink {
		return u.placeLink(name, header.Linkname)
	}
	above, base, err := u.parent(name, true)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.placeFile(above, base, p, content)
	case tar.TypeSymlink:
		if err := unix.Symlinkat(header.Linkname, above, base); err != nil {
			return err
		}
		return p.apply(above, base, true)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return placeNode(above, base, p, header)
	}
	return fmt.Errorf("entries of type %q are not known", header.Typeflag)
}

// placeFolder makes a folder that only we can enter, until all is in it.
func (u *unpacker) placeFolder(name string, p properties) error {
	u.pending = append(u.pending, finish{name, p})
	if name == "." {
		return nil
	}
	above, base, err := u.parent(name, true)
	if err != nil {
		return err
	}
	err = unix.Mkdirat(above, base, 0o700)
	if errors.Is(err, unix.EEXIST) {
		// Made on the way to something in it, or named twice. Anything else is refused here.
		_, err = u.enter(name, false)
	}
	return err
}

func (u *unpacker) placeLink(name, target string) error {
	original, err := localName(target)
	if err != nil {
		return fmt.Errorf("link to %s: %w", target, err)
	}
	// Opened apart from those that we work in, which are next in use again.
	root, err := unix.Dup(u.open[0].fd)
	if err != nil {
		return err
	}
	others := folders{open: []folder{{fd: root}}}
	defer others.close()
	from, fromBase, err := others.parent(original, false)
	if err != nil {
		return fmt.Errorf("link to %s: %w", target, err)
	}
	above, base, err := u.parent(name, true)
	if err != nil {
		return err
	}
	if err := unix.Linkat(from, fromBase, above, base, 0); err != nil {
		return fmt.Errorf("link to %s: %w", target, err)
	}
	return nil
}

func (u *unpacker) placeFile(above int, base string, p properties, content io.Reader) error {
	fd, err := unix.Openat(above, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), base)
	// Without the file's own way of copying, which would not use our buffer.
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, content, u.buffer)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return p.apply(above, base, false)
}

func placeNode(above int, base string, p properties, header *tar.Header) error {
	kind := map[byte]uint32{tar.TypeChar: unix.S_IFCHR, tar.TypeBlock: unix.S_IFBLK, tar.TypeFifo: unix.S_IFIFO}[header.Typeflag]
	device := unix.Mkdev(uint32(header.Devmajor), uint32(header.Devminor))
	if err := unix.Mknodat(above, base, kind|0o600, int(device)); err != nil {
		return fmt.Errorf("making a device or pipe: %w", err)
	}
	return p.apply(above, base, false)
}

// finishFolders gives folders their properties, the lowest first: each may take from us the right to enter.
func (u *unpacker) finishFolders(ctx context.Context) error {
	finished := map[string]bool{}
	for _, f := range slices.Backward(u.pending) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if finished[f.name] {
			continue // Named twice: the last entry counts.
		}
		finished[f.name] = true
		fd, err := u.enter(f.name, false)
		if err == nil {
			err = f.properties.apply(fd, ".", false)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// apply sets what a file has beside its content. The order matters: a new owner takes capabilities and the set-user-ID bit away, and
// a mode changes an ACL.
func (p properties) apply(above int, base string, symlink bool) error {
	if err := unix.Fchownat(above, base, p.uid, p.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting its owner: %w", err)
	}
	if !symlink {
		// It follows symbolic links, but what is here was made by us a moment ago.
		if err := unix.Fchmodat(above, base, p.mode, 0); err != nil {
			return fmt.Errorf("setting its mode: %w", err)
		}
	}
	for name, value := range p.attributes {
		// Attributes have no calls that start from an open folder.
		path := fmt.Sprintf("/proc/self/fd/%d/%s", above, base)
		if err := unix.Lsetxattr(path, name, []byte(value), 0); err != nil {
			return fmt.Errorf("setting its attribute %s: %w", name, err)
		}
	}
	modified, err := unix.TimeToTimespec(p.modified)
	if err != nil {
		return fmt.Errorf("setting its time: %w", err)
	}
	if err := unix.UtimesNanoAt(above, base, []unix.Timespec{modified, modified}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("setting its time: %w", err)
	}
	return nil
}
