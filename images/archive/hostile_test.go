package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hole packs a sparse file of 8 GiB in which nothing is written, as GNU tar does. The standard library only reads such.
func hole(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "hole", Mode: 0o644, Typeflag: tar.TypeReg, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	header := out.Bytes()[:512]
	header[156] = tar.TypeGNUSparse
	copy(header[483:495], "77777777777\x00")
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return out.Bytes()
}

func writeGzip(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar.gz")
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileWithoutEndIsLeftWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := eachEntry(ctx, writeGzip(t, hole(t)), nil, func(header *tar.Header, content io.Reader) error {
		if header.Size != 8<<30-1 {
			t.Errorf("the file has %d bytes", header.Size)
		}
		buffer := make([]byte, chunk)
		if _, err := content.Read(buffer); err != nil {
			t.Errorf("its beginning: %v", err)
		}
		cancel()
		if _, err := content.Read(buffer); !errors.Is(err, context.Canceled) {
			t.Errorf("once the context has ended: %v", err)
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestNamesThatTheKernelDoesNotTakeAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := localName(strings.Repeat("d/", 2047)); err != nil {
		t.Errorf("a long name: %v", err)
	}
	if _, err := localName(strings.Repeat("d/", 100000) + "f"); err == nil || len(err.Error()) > 200 {
		t.Errorf("too long a name: %v", err)
	}
}
