package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/klauspost/pgzip"
)

// ErrDamaged is a file that is no whole .tar.gz: cut off, changed on its way, or something else altogether. Getting the file again
// may help.
var ErrDamaged = errors.New("not a whole .tar.gz file")

// eachEntry calls visit for every entry of an archive, in order. content is that of a regular file, and ends with the call. Files
// are checked to their very end.
func eachEntry(ctx context.Context, file string, progress func(done int64), visit func(header *tar.Header, content io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	source := &source{file: f, ended: ctx.Err, progress: progress}
	// It decompresses ahead, while we write.
	z, err := pgzip.NewReaderN(source, chunk, 4)
	if err != nil {
		return source.explain(err)
	}
	defer z.Close()
	content := contents{in: tar.NewReader(z), ended: ctx.Err, explain: source.explain}
	for {
		header, err := content.in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return source.explain(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := visit(header, content); err != nil {
			return err
		}
	}
	// The checksum comes after the last entry.
	if _, err := io.Copy(io.Discard, z); err != nil {
		return source.explain(err)
	}
	return nil
}

// source is the file itself: what has gone wrong here is no damage.
type source struct {
	file     *os.File
	ended    func() error
	progress func(int64)
	done     int64
	err      error
}

func (s *source) Read(b []byte) (int, error) {
	if s.err = s.ended(); s.err != nil {
		return 0, s.err
	}
	n, err := s.file.Read(b)
	if s.done += int64(n); s.progress != nil && n > 0 {
		s.progress(s.done)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// explain tells damage from trouble with reading. It is called only when the reader above gave up, so nothing else reads.
func (s *source) explain(err error) error {
	if ended := s.ended(); ended != nil {
		return ended
	}
	if s.err != nil && errors.Is(err, s.err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// contents reads the entry that an archive is at.
type contents struct {
	in      *tar.Reader
	ended   func() error
	explain func(error) error
}

func (c contents) Read(b []byte) (int, error) {
	// A sparse file may go on for ever without anything being read of the archive.
	if err := c.ended(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.explain(err)
	}
	return n, err
}

// errName is an entry that would end up elsewhere.
var errName = errors.New("its name leads out of the folder")

// longestName is that of the kernel's own calls. It also bounds how many folders are open at a time.
const longestName = 4095

// localName turns the name of an entry into a path below the root: "." or "etc/hosts".
func localName(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "/") || strings.Contains(name, "\x00") {
		return "", errName
	}
	if len(name) > longestName {
		return "", fmt.Errorf("its name is longer than %d bytes", longestName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", errName
		}
	}
	return path.Clean(name), nil
}
