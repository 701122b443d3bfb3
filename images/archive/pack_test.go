package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func headers(t *testing.T, packed []byte) []*tar.Header {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	if z.Name != "" || !z.ModTime.IsZero() {
		t.Errorf("the gzip header tells name %q and time %s, want none", z.Name, z.ModTime)
	}
	var all []*tar.Header
	for in := tar.NewReader(z); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, header)
	}
}

func TestWhatWasPackedComesBack(t *testing.T) {
	t.Parallel()
	root := sampleTree(t)
	sameListing(t, listing(t, root), listing(t, unpacked(t, packFile(t, root))))
}

func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	first := packBytes(t, sampleTree(t))
	if second := packBytes(t, sampleTree(t)); !bytes.Equal(first, second) {
		t.Error("two trees with the same files, made one after the other, are packed differently")
	}
	again := unpacked(t, packFile(t, sampleTree(t)))
	if third := packBytes(t, again); !bytes.Equal(first, third) {
		t.Error("a tree that was packed and unpacked is packed differently")
	}
	for _, cores := range []int{1, 2, 7} {
		var out bytes.Buffer
		_, err := pack(t.Context(), sampleTree(t), &out, built, nil, cores)
		must(t, err)
		if !bytes.Equal(first, out.Bytes()) {
			t.Errorf("with %d cores the result differs", cores)
		}
	}
}

func TestOnlyTimesAfterTheBuildAreSet(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "old", "", 0o644)
	put(t, root, "new", "", 0o644)
	fraction := built.Add(time.Nanosecond)
	must(t, os.Chtimes(pathIn(root, "new"), fraction, fraction))
	put(t, root, "now", "", 0o644)
	must(t, os.Chtimes(pathIn(root, "now"), time.Time{}, time.Now().Add(time.Hour)))
	for _, header := range headers(t, packBytes(t, root)) {
		want := built
		if header.Name == "./old" {
			want = older
		}
		if !header.ModTime.Equal(want) {
			t.Errorf("%s has time %s, want %s", header.Name, header.ModTime, want)
		}
	}
}

func TestEntriesAreNamedAsTarNamesThem(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "etc/hosts", "", 0o644)
	put(t, root, "a b", "", 0o644)
	var names []string
	for _, header := range headers(t, packBytes(t, root)) {
		names = append(names, header.Name)
		if header.Uname != "" || header.Gname != "" {
			t.Errorf("%s names its owner %q, group %q; both are numbers", header.Name, header.Uname, header.Gname)
		}
	}
	if got := strings.Join(names, "|"); got != "./|./a b|./etc/|./etc/hosts" {
		t.Errorf("entries are %s", got)
	}
}

func TestAFileLinkedToOutsideIsPlain(t *testing.T) {
	t.Parallel()
	base, root := t.TempDir(), t.TempDir()
	put(t, base, "shared", "content", 0o644)
	must(t, os.Link(pathIn(base, "shared"), pathIn(root, "b")))
	must(t, os.Link(pathIn(base, "shared"), pathIn(root, "a")))
	put(t, base, "other", "content", 0o644)
	must(t, os.Link(pathIn(base, "other"), pathIn(root, "c")))
	var kinds []string
	for _, header := range headers(t, packBytes(t, root))[1:] {
		kinds = append(kinds, header.Name+" "+string(header.Typeflag)+header.Linkname)
	}
	if got := strings.Join(kinds, ", "); got != "./a 0, ./b 1./a, ./c 0" {
		t.Errorf("entries are %s", got)
	}
}

func TestSocketsAreLeftOut(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "sock")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	listener, err := net.Listen("unix", filepath.Join(root, "s"))
	must(t, err)
	defer listener.Close()
	if all := headers(t, packBytes(t, root)); len(all) != 1 {
		t.Errorf("there are %d entries, want only the root", len(all))
	}
}

func TestPackCountsAndTells(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "a", "12345", 0o644)
	put(t, root, "b", "123", 0o644)
	must(t, os.Link(pathIn(root, "a"), pathIn(root, "c")))
	var told int64
	summary, err := Pack(t.Context(), root, io.Discard, built, func(done int64) { told = done })
	must(t, err)
	if want := (Summary{Files: 4, Bytes: 8}); summary != want || told != want.Bytes {
		t.Errorf("got %+v and told %d, want %+v", summary, told, want)
	}
}

func TestPackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	_, err := Pack(ctx, sampleTree(t), &out, built, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "half.tar.gz")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	if err := Unpack(t.Context(), path, filepath.Join(t.TempDir(), "root"), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("what was written so far passes for a whole: %v", err)
	}
}

type fullDisk struct{ left int }

var errFull = errors.New("disk full")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestPackTellsWhatTheDiskSaid(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 10, 1000} {
		if _, err := Pack(t.Context(), sampleTree(t), &fullDisk{left}, built, nil); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", left, err)
		}
	}
}
