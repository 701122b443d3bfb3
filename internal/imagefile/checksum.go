package imagefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Check reads an image and says how it differs from its manifest. Checked, if set, hears how many bytes were read.
func (m Manifest) Check(ctx context.Context, image string, checked func(done, total int64)) error {
	file, err := openImage(image)
	if err != nil {
		return err
	}
	defer file.Close()
	if m.SHA256 == "" || m.Size == 0 {
		return fmt.Errorf("the manifest of %s has no size or no checksum", filepath.Base(image))
	}
	_, err = m.measured(ctx, file, checked)
	return err
}

// measured compares size and checksum of the file with those of the manifest, and fills in those that it does not have.
func (m Manifest) measured(ctx context.Context, file *os.File, checked func(done, total int64)) (Manifest, error) {
	name := filepath.Base(file.Name())
	info, err := file.Stat()
	switch {
	case err != nil:
		return m, fmt.Errorf("look at the image: %w", err)
	case !info.Mode().IsRegular():
		return m, fmt.Errorf("%s is not a file", file.Name())
	case info.Size() == 0:
		return m, fmt.Errorf("%s is empty", file.Name())
	case m.Size != 0 && m.Size != info.Size():
		return m, notAsDescribed(name, fmt.Sprintf("has %d bytes, and its manifest says %d", info.Size(), m.Size))
	}
	sum := sha256.New()
	if err := copied(ctx, sum, io.NewSectionReader(file, 0, info.Size()), info.Size(), checked); err != nil {
		return m, fmt.Errorf("read %s: %w", name, err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if m.SHA256 != "" && !strings.EqualFold(m.SHA256, digest) {
		return m, notAsDescribed(name, fmt.Sprintf("has the checksum %s, and its manifest says %s", digest, strings.ToLower(m.SHA256)))
	}
	m.File, m.Size, m.SHA256 = name, info.Size(), digest
	return m, nil
}

func notAsDescribed(name, how string) error {
	return fmt.Errorf("%s %s: the two are not of one build, or the file is damaged; build or copy both again", name, how)
}

// copied reads total bytes, and tells how far it came.
func copied(ctx context.Context, to io.Writer, from io.Reader, total int64, tell func(done, total int64)) error {
	buffer := make([]byte, 1<<20)
	var done int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := from.Read(buffer)
		_, _ = to.Write(buffer[:n]) // a hash takes everything
		if done += int64(n); n > 0 && tell != nil {
			tell(done, total)
		}
		switch {
		case errors.Is(err, io.EOF) && done < total:
			return errChanged
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// errChanged means that the image is not what it was when it was first read.
var errChanged = errors.New("the file changed while it was read: wait until nothing writes it any more, and run this again")

// openImage is os.Open with words about a file that is not there.
func openImage(path string) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no image %s: make image makes one, in _build/images: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the image: %w", err)
	}
	return file, nil
}
