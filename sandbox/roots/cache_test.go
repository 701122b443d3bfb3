package roots

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// file writes content to a file and returns its path and checksum.
func file(t *testing.T, content []byte) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "image.tar.gz")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return path, hex.EncodeToString(sum[:])
}

// image packs files with these names, owned by whoever runs the test.
func image(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range names {
		header := &tar.Header{Name: "./" + name, Mode: 0o755, Uid: os.Getuid(), Gid: os.Getgid(), Typeflag: tar.TypeReg, Size: int64(len(name))}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func ignore(int64, int64) {}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range all {
		names = append(names, entry.Name())
	}
	return names
}

func TestAnImageIsUnpackedOnceForAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, digest := file(t, image(t, "sbin/init", "etc/hostname"))
	// What an interrupted attempt left is no obstacle, and does not end up in the root.
	if err := os.MkdirAll(filepath.Join(dir, digest+".partial", "etc", "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	caches := []*Cache{New(dir), New(dir)} // as in two processes
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		roots = map[string]int{}
	)
	for i := range 6 {
		all.Go(func() {
			root, err := caches[i%2].Get(t.Context(), path, digest, ignore)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			roots[root]++
		})
	}
	all.Wait()
	root := filepath.Join(dir, digest)
	if roots[root] != 6 {
		t.Fatalf("the roots are %v", roots)
	}
	if text, err := os.ReadFile(filepath.Join(root, "etc", "hostname")); err != nil || string(text) != "etc/hostname" {
		t.Errorf("a file of the image is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(root, "etc", "old")); err == nil {
		t.Error("what an interrupted attempt left is in the root")
	}
	before, err := os.Stat(root)
	if err != nil {
		t.Fatal(err)
	}
	// The image may be gone once it was unpacked.
	if _, err := New(dir).Get(t.Context(), filepath.Join(dir, "gone"), digest, ignore); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(root); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was unpacked again: %v", err)
	}
}

func TestWhatCannotBeBootedIsSaidAndTriedAnew(t *testing.T) {
	t.Parallel()
	good := image(t, "sbin/init")
	for _, test := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"no archive", []byte(strings.Repeat("this is no archive ", 100)), "no root file system in a .tar.gz"},
		{"cut off", good[:len(good)-20], "no root file system in a .tar.gz"},
		{"no init system", image(t, "etc/hostname"), "no /sbin/init"},
	} {
		dir := t.TempDir()
		cache := New(dir)
		path, digest := file(t, test.content)
		for range 2 {
			if root, err := cache.Get(t.Context(), path, digest, ignore); err == nil || !strings.Contains(err.Error(), test.want) || root != "" {
				t.Errorf("%s: %q, %v; want %q", test.name, root, err, test.want)
			}
		}
		if left := entries(t, dir); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
			t.Errorf("%s: it left %q", test.name, left)
		}
	}
}

func TestARootIsNeverNamedForAnotherContent(t *testing.T) {
	t.Parallel()
	cache := New(t.TempDir())
	path, digest := file(t, image(t, "sbin/init"))
	_, other := file(t, image(t, "sbin/init", "sbin/other"))
	if _, err := cache.Get(t.Context(), path, other, ignore); err == nil || !strings.Contains(err.Error(), digest) {
		t.Errorf("a file with another checksum: %v", err)
	}
	if _, err := cache.Get(t.Context(), path, "../"+digest, ignore); err == nil {
		t.Error("a path was taken for a checksum")
	}
	// The failure is not remembered.
	right, _ := file(t, image(t, "sbin/init", "sbin/other"))
	if _, err := cache.Get(t.Context(), right, other, ignore); err != nil {
		t.Error(err)
	}
}

func TestWhoWaitsIsToldAndMayGiveUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, digest := file(t, image(t, "sbin/init"))
	// Another process unpacks it.
	lock, err := tryLock(filepath.Join(dir, digest+".lock"), unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	cache := New(dir)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	_, err = cache.Get(ctx, path, digest, func(int64, int64) {
		told++
		cancel()
	})
	if !errors.Is(err, context.Canceled) || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
	lock.Close()
	// It goes on for others.
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := cache.Get(ctx, path, digest, ignore); err != nil {
		t.Error(err)
	}
}

func TestPruneRemovesWhatNobodyHoldsOrWants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, wanted := New(dir), New(dir)
	heldPath, heldDigest := file(t, image(t, "sbin/init", "held"))
	wantedPath, wantedDigest := file(t, image(t, "sbin/init", "wanted"))
	oldPath, oldDigest := file(t, image(t, "sbin/init", "old"))
	for _, get := range []struct {
		cache        *Cache
		path, digest string
	}{{held, heldPath, heldDigest}, {wanted, wantedPath, wantedDigest}, {New(dir), oldPath, oldDigest}} {
		if _, err := get.cache.Get(t.Context(), get.path, get.digest, ignore); err != nil {
			t.Fatal(err)
		}
		if get.cache != held {
			// As when the process ends.
			if err := unix.Close(get.cache.roots[get.digest].lock); err != nil {
				t.Fatal(err)
			}
		}
	}
	half := strings.Repeat("ab", 32)
	if err := os.MkdirAll(filepath.Join(dir, half+".partial", "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		// Whether anybody still knows of a cache does not matter.
		runtime.GC()
		if err := Prune(dir, []string{wantedDigest}); err != nil {
			t.Fatal(err)
		}
		left := strings.Join(entries(t, dir), " ")
		for _, digest := range []string{heldDigest, wantedDigest} {
			if !strings.Contains(left, digest+" ") || !strings.Contains(left, digest+".lock") {
				t.Errorf("%s is not among %s", digest, left)
			}
		}
		if strings.Contains(left, oldDigest) || strings.Contains(left, half) {
			t.Errorf("left are %s", left)
		}
	}
	if err := Prune(filepath.Join(dir, "none"), nil); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

func TestAFullDiskIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cache := New(dir)
	cache.reserve = 1 << 62
	path, digest := file(t, image(t, "sbin/init"))
	_, err := cache.Get(t.Context(), path, digest, ignore)
	if err == nil || !strings.Contains(err.Error(), "it does not fit on the disk") {
		t.Errorf("with too little room: %v", err)
	}
	if left := entries(t, dir); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("it left %q", left)
	}
	cache.reserve = 0
	if _, err := cache.Get(t.Context(), path, digest, ignore); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

func TestAnImageThatChangesWhileItIsUnpackedIsRefused(t *testing.T) {
	t.Parallel()
	path, digest := file(t, image(t, "sbin/init"))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := isStill(path, before); err != nil {
		t.Errorf("the same file: %v", err)
	}
	other, _ := file(t, image(t, "sbin/other"))
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := isStill(path, before); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("another file: %v", err)
	}
	if _, err := New(t.TempDir()).Get(t.Context(), path, digest, ignore); err == nil {
		t.Error("another file was unpacked")
	}
}

func TestARootWhoseOwnersWereChangedIsMadeAnew(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	dir := t.TempDir()
	path, digest := file(t, image(t, "sbin/init"))
	held := New(dir)
	root, err := held.Get(t.Context(), path, digest, ignore)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{root, filepath.Join(root, "sbin"), filepath.Join(root, "sbin", "init")} {
		if err := os.Chown(name, 1000, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if Has(dir, digest) {
		t.Error("a root with other owners counts")
	}
	// Whoever wants it has to wait for those who hold it.
	if _, err := New(dir).Get(t.Context(), path, digest, ignore); err == nil || !strings.Contains(err.Error(), "another sandbox runs from it") {
		t.Errorf("as long as somebody holds it: %v", err)
	}
	if err := unix.Close(held.roots[digest].lock); err != nil {
		t.Fatal(err)
	}
	if _, err := New(dir).Get(t.Context(), path, digest, ignore); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(root, "sbin", "init")); err != nil || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		t.Errorf("it was not unpacked again: %v", err)
	}
}
