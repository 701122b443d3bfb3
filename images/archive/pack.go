// Package archive packs a root file system into a .tar.gz that is the same byte for byte for the same files, unpacks one, and tells
// two apart.
package archive

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Summary is what an archive holds.
type Summary struct {
	Files int   // entries of any kind, folders too
	Bytes int64 // content of regular files; hard links count once
}

// chunk is how much is read at a time: what a cancelled context waits for at most.
const chunk = 1 << 20

// Pack writes the folder root and all below it to out as a .tar.gz, whose names start with "./". The same files give the same bytes,
// whoever packs them, when, and on how many cores: entries are sorted, owners are numbers, and times have whole seconds and are
// never later than modified (SOURCE_DATE_EPOCH's rule: older times are content, newer ones tell only when the build ran).
//
// Hard links are kept among the names below root; a file with other names elsewhere is a plain file. ACLs and extended attributes
// are kept except those that belong to the host. Sockets are left out. A folder of another file system is an error: nobody wants a
// forgotten /proc in an image.
//
// The folder root itself is the first entry, so its mode and owner become those of /. progress, which may be nil, gets the bytes
// of content that were read so far. After an error out holds a beginning that no reader takes for a whole.
func Pack(ctx context.Context, root string, out io.Writer, modified time.Time, progress func(done int64)) (Summary, error) {
	return pack(ctx, root, out, modified, progress, runtime.GOMAXPROCS(0))
}

func pack(ctx context.Context, root string, out io.Writer, modified time.Time, progress func(int64), cores int) (Summary, error) {
	p := packer{root: root, modified: modified.Truncate(time.Second), progress: progress, names: map[inode]string{}, buffer: make([]byte, chunk)}
	err := compress(ctx, out, cores, func(w io.Writer) error {
		p.out = tar.NewWriter(w)
		if err := p.addRoot(ctx); err != nil {
			return err
		}
		return p.out.Close()
	})
	if err != nil {
		return Summary{}, fmt.Errorf("packing %s: %w", root, err)
	}
	return p.summary, nil
}

// inode tells files apart, whatever their names.
type inode struct{ device, number uint64 }

type packer struct {
	out      *tar.Writer
	root     string
	modified time.Time
	device   uint64           // of root
	names    map[inode]string // first name of each file that has several
	buffer   []byte
	progress func(int64)
	summary  Summary
}

func (p *packer) addRoot(ctx context.Context) error {
	var stat unix.Stat_t
	if err := unix.Stat(p.root, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.ENOTDIR
	}
	p.device = stat.Dev
	return p.addFolder(ctx, ".", &stat)
}

// addFolder adds a folder and what is in it, sorted by name. name is relative to root.
func (p *packer) addFolder(ctx context.Context, name string, stat *unix.Stat_t) error {
	if stat.Dev != p.device {
		return fmt.Errorf("%s is on another file system: unmount it first", name)
	}
	if err := p.addHeader(name, stat); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.path(name)) // sorted
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.add(ctx, filepath.Join(name, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) path(name string) string { return filepath.Join(p.root, name) }

func (p *packer) add(ctx context.Context, name string) error {
	var stat unix.Stat_t
	if err := unix.Lstat(p.path(name), &stat); err != nil {
		return fmt.Errorf("looking at %s: %w", name, err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		return nil // It means something only to the program that listens.
	case unix.S_IFDIR:
		return p.addFolder(ctx, name, &stat)
	}
	if stat.Nlink > 1 {
		id := inode{stat.Dev, stat.Ino}
		if first, ok := p.names[id]; ok {
			return p.addLink(name, first, &stat)
		}
		p.names[id] = name
	}
	if err := p.addHeader(name, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFREG {
		if err := p.addContent(ctx, name, stat.Size); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return nil
}

func (p *packer) addHeader(name string, stat *unix.Stat_t) error {
	header, err := describe(p.path(name), name, stat)
	if err != nil {
		return fmt.Errorf("describing %s: %w", name, err)
	}
	return p.write(header)
}

func (p *packer) addLink(name, first string, stat *unix.Stat_t) error {
	header := common(name, stat)
	header.Typeflag, header.Linkname = tar.TypeLink, entryName(first, false)
	return p.write(header)
}

func (p *packer) write(header *tar.Header) error {
	if header.ModTime.After(p.modified) {
		header.ModTime = p.modified
	}
	if err := p.out.WriteHeader(header); err != nil {
		return fmt.Errorf("writing %s: %w", header.Name, err)
	}
	p.summary.Files++
	return nil
}

// addContent copies exactly as much as the header said.
func (p *packer) addContent(ctx context.Context, name string, size int64) error {
	f, err := os.OpenFile(p.path(name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for left := size; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Read(p.buffer)
		if left -= int64(n); left < 0 || (err == io.EOF && left > 0) {
			return fmt.Errorf("its size changed from %d bytes while it was packed", size)
		}
		if _, err := p.out.Write(p.buffer[:n]); err != nil {
			return err
		}
		p.summary.Bytes += int64(n)
		if p.progress != nil && n > 0 {
			p.progress(p.summary.Bytes)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
