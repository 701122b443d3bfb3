package archive

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	built = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	older = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
)

func pathIn(root, name string) string { return filepath.Join(root, name) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, root, name, content string, mode fs.FileMode) {
	t.Helper()
	path := pathIn(root, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o600))
	must(t, os.Chmod(path, mode))
	must(t, os.Chtimes(path, older, older))
}

// sampleTree has everything that needs no root: files, an old one, links, a pipe, modes, names of all kinds.
func sampleTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	must(t, os.Chmod(root, 0o755))
	put(t, root, "etc/hosts", "127.0.0.1 localhost\n", 0o644)
	put(t, root, "etc/shadow", "root:*:\n", 0o600)
	put(t, root, "etc.d/after", "a name that sorts between etc and etc/hosts\n", 0o644)
	put(t, root, "usr/bin/sudo", "program", fs.ModeSetuid|0o755)
	put(t, root, "usr/share/"+string(bytes.Repeat([]byte("long-name-"), 20))+"/ünïcode", "", 0o444)
	put(t, root, "var/big", string(bytes.Repeat([]byte("0123456789abcdef"), 200_000)), 0o644)
	must(t, os.Link(pathIn(root, "usr/bin/sudo"), pathIn(root, "usr/bin/zudo")))
	must(t, os.Symlink("/usr/bin", pathIn(root, "bin")))
	must(t, os.Symlink("nowhere", pathIn(root, "etc/dangling")))
	must(t, unix.Mkfifo(pathIn(root, "var/pipe"), 0o620))
	must(t, os.Mkdir(pathIn(root, "var/tmp"), 0o755))
	must(t, os.Chmod(pathIn(root, "var/tmp"), fs.ModeSticky|0o777))
	must(t, os.Mkdir(pathIn(root, "var/locked"), 0o755))
	put(t, root, "var/locked/inside", "x", 0o600)
	must(t, os.Chmod(pathIn(root, "var/locked"), 0o550))
	unlock(t, root)
	return root
}

// packFile packs a tree into a file.
func packFile(t *testing.T, root string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar.gz")
	must(t, os.WriteFile(path, packBytes(t, root), 0o600))
	return path
}

func packBytes(t *testing.T, root string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := Pack(t.Context(), root, &out, built, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpacked unpacks an archive into a new folder.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	must(t, Unpack(t.Context(), file, dir, nil))
	unlock(t, dir)
	return dir
}

// unlock lets a test that is not run by root remove a sample tree in the end.
func unlock(t *testing.T, root string) {
	t.Helper()
	t.Cleanup(func() { _ = os.Chmod(pathIn(root, "var/locked"), 0o700) })
}

// listing describes every file below root; times later than built count as built.
func listing(t *testing.T, root string) []string {
	t.Helper()
	first := map[uint64]string{}
	var lines []string
	must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		must(t, err)
		name, _ := filepath.Rel(root, path)
		var stat unix.Stat_t
		must(t, unix.Lstat(path, &stat))
		modified := min(stat.Mtim.Sec, built.Unix())
		line := fmt.Sprintf("%s %o %d:%d %d", name, stat.Mode, stat.Uid, stat.Gid, modified)
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			content, err := os.ReadFile(path)
			must(t, err)
			line += fmt.Sprintf(" %d %x", len(content), content[:min(len(content), 8)])
			if first[stat.Ino] != "" {
				line += " = " + first[stat.Ino]
			}
			first[stat.Ino] = name
		case unix.S_IFLNK:
			target, err := os.Readlink(path)
			must(t, err)
			line += " -> " + target
		case unix.S_IFCHR, unix.S_IFBLK:
			line += fmt.Sprintf(" %#x", stat.Rdev)
		}
		attributes, err := readAttributes(path)
		must(t, err)
		names := make([]string, 0, len(attributes))
		for name, value := range attributes {
			names = append(names, fmt.Sprintf(" %s=%x", name, value))
		}
		slices.Sort(names)
		lines = append(lines, line+fmt.Sprint(names))
		return nil
	}))
	return lines
}

func sameListing(t *testing.T, want, got []string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing:    %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("unexpected: %s", line)
		}
	}
}

// needRoot skips what only root may do.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it sets owners, capabilities and devices")
	}
}
