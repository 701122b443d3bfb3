package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreign makes an archive of any entries, also those that no honest program writes. Files contain "evil".
func foreign(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, header := range headers {
		if header.Typeflag == tar.TypeXGlobalHeader {
			must(t, w.WriteHeader(&header))
			continue
		}
		header.Uid, header.Gid, header.ModTime = os.Getuid(), os.Getgid(), older
		if header.Mode == 0 {
			header.Mode = 0o755
		}
		if header.Typeflag == tar.TypeReg {
			header.Size = 4
		}
		must(t, w.WriteHeader(&header))
		if header.Typeflag == tar.TypeReg {
			_, err := w.Write([]byte("evil"))
			must(t, err)
		}
	}
	must(t, w.Close())
	must(t, z.Close())
	path := filepath.Join(t.TempDir(), "foreign.tar.gz")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

func TestNoArchiveWritesOutsideOfItsFolder(t *testing.T) {
	t.Parallel()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	folder := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeDir, Name: name} }
	symlink := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	link := func(name, to string) tar.Header { return tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: to} }
	cases := map[string]struct {
		entries []tar.Header
		says    string
	}{
		"absolute name":                        {[]tar.Header{file("OUTSIDE/evil")}, "leads out"},
		"name that goes up":                    {[]tar.Header{file("./../outside/evil")}, "leads out"},
		"name that goes up in its middle":      {[]tar.Header{folder("a"), file("a/../../outside/evil")}, "leads out"},
		"folder that goes up":                  {[]tar.Header{folder("..")}, "leads out"},
		"file below a symlink":                 {[]tar.Header{symlink("way", "OUTSIDE"), file("way/evil")}, "symbolic link"},
		"file below a relative symlink":        {[]tar.Header{symlink("way", "../outside"), file("way/evil")}, "symbolic link"},
		"file below two symlinks":              {[]tar.Header{symlink("way", "on"), symlink("on", "OUTSIDE"), file("way/evil")}, "symbolic link"},
		"file in the place of a symlink":       {[]tar.Header{symlink("way", "OUTSIDE/evil"), file("way")}, "file exists"},
		"folder in the place of a symlink":     {[]tar.Header{symlink("way", "OUTSIDE"), folder("way")}, "symbolic link"},
		"folder below a symlink":               {[]tar.Header{symlink("way", "OUTSIDE"), folder("way/evil")}, "symbolic link"},
		"folder that a symlink replaces":       {[]tar.Header{folder("way"), symlink("way", "OUTSIDE"), file("way/evil")}, "file exists"},
		"hard link to outside":                 {[]tar.Header{link("way", "../outside/victim")}, "leads out"},
		"hard link through a symlink":          {[]tar.Header{symlink("on", "OUTSIDE"), link("way", "on/victim")}, "symbolic link"},
		"hard link to a symlink, then written": {[]tar.Header{symlink("on", "OUTSIDE/victim"), link("way", "on"), file("way")}, "file exists"},
		"hard link below a symlink":            {[]tar.Header{file("a"), symlink("on", "OUTSIDE"), link("on/evil", "a")}, "symbolic link"},
		"root that is a symlink":               {[]tar.Header{symlink("./", "OUTSIDE")}, "root must be a folder"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			outside, dir := filepath.Join(base, "outside"), filepath.Join(base, "root")
			put(t, outside, "victim", "innocent", 0o600)
			before := listing(t, outside)
			for i := range c.entries {
				c.entries[i].Name = strings.ReplaceAll(c.entries[i].Name, "OUTSIDE", outside)
				c.entries[i].Linkname = strings.ReplaceAll(c.entries[i].Linkname, "OUTSIDE", outside)
			}
			err := Unpack(t.Context(), foreign(t, c.entries...), dir, nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
			sameListing(t, before, listing(t, outside))
			wantEmpty(t, dir)
		})
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("%s still has %v", dir, entries)
	}
}

func TestArchivesOfOthersAreUnpackedToo(t *testing.T) {
	t.Parallel()
	dir := unpacked(t, foreign(t,
		tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}},
		tar.Header{Typeflag: tar.TypeReg, Name: "b/without/parents"},
		tar.Header{Typeflag: tar.TypeDir, Name: "b/", Mode: 0o700},
		tar.Header{Typeflag: tar.TypeReg, Name: "a"},
		tar.Header{Typeflag: tar.TypeDir, Name: "b/", Mode: 0o750},
	))
	content, err := os.ReadFile(pathIn(dir, "b/without/parents"))
	must(t, err)
	info, err := os.Stat(pathIn(dir, "b"))
	must(t, err)
	if string(content) != "evil" || info.Mode().Perm() != 0o750 || !info.ModTime().Equal(older) {
		t.Errorf("got %q, folder with mode %s and time %s", content, info.Mode(), info.ModTime())
	}
}

func TestADamagedFileIsToldAndLeavesNothing(t *testing.T) {
	t.Parallel()
	whole := packBytes(t, sampleTree(t))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0x10
	wrongSum := bytes.Clone(whole)
	wrongSum[len(wrongSum)-8] ^= 1
	cases := map[string][]byte{
		"empty": nil, "no gzip": []byte("<html>not found</html>"), "header only": whole[:10], "half": whole[:len(whole)/2],
		"last byte missing": whole[:len(whole)-1], "a bit changed": flipped, "wrong checksum": wrongSum,
		"something after it": append(bytes.Clone(whole), "more than a header"...),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, dir := filepath.Join(t.TempDir(), "image.tar.gz"), filepath.Join(t.TempDir(), "root")
			must(t, os.WriteFile(file, content, 0o600))
			if err := Unpack(t.Context(), file, dir, nil); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v", err)
			}
			wantEmpty(t, dir)
		})
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	file, dir := packFile(t, sampleTree(t)), filepath.Join(t.TempDir(), "root")
	ctx, cancel := context.WithCancel(t.Context())
	err := Unpack(ctx, file, dir, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	wantEmpty(t, dir)
}

func TestUnpackKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "precious", "x", 0o600)
	if err := Unpack(t.Context(), packFile(t, sampleTree(t)), dir, nil); err == nil {
		t.Error("it unpacked over other files")
	}
	if _, err := os.Stat(pathIn(dir, "precious")); err != nil {
		t.Error(err)
	}
}

func TestUnpackTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	file := packFile(t, sampleTree(t))
	info, err := os.Stat(file)
	must(t, err)
	var last int64
	dir := filepath.Join(t.TempDir(), "root")
	must(t, Unpack(t.Context(), file, dir, func(done int64) { last = done }))
	unlock(t, dir)
	if last != info.Size() {
		t.Errorf("told %d in the end, want %d", last, info.Size())
	}
}
