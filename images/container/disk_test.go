package container

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAMachineSharesBlobsWithItsImageAndHasDatabasesOfItsOwn(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	store := filepath.Join(root, imageStore)
	write(t, filepath.Join(store, "blobs", "one"), "blob")
	write(t, filepath.Join(store, "bolt", "meta.db"), "database")
	// What an attempt left that was interrupted is in nobody's way.
	write(t, filepath.Join(dir, "containerd", "bolt", "meta.db"), "half")
	for range 2 { // Filled once, it is the machine's.
		if err := fillStore(t.Context(), store, dir); err != nil {
			t.Fatal(err)
		}
		for path, shared := range map[string]bool{"blobs/one": true, "bolt/meta.db": false} {
			of, err := os.Stat(filepath.Join(store, path))
			if err != nil {
				t.Fatal(err)
			}
			has, err := os.Stat(filepath.Join(dir, "containerd", path))
			if err != nil || os.SameFile(of, has) != shared || has.Size() == 0 {
				t.Errorf("%s: %v, shared %v, want %v", path, err, os.SameFile(of, has), shared)
			}
		}
		write(t, filepath.Join(dir, "containerd", "bolt", "meta.db"), "the machine's")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "containerd", "bolt", "meta.db")); err != nil || string(text) != "the machine's" {
		t.Errorf("a reboot left %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(store, "bolt", "meta.db")); err != nil || string(text) != "database" {
		t.Errorf("the image has %q, %v", text, err)
	}
}

func TestAnImageWithoutContainerImagesIsFine(t *testing.T) {
	t.Parallel()
	if err := fillStore(t.Context(), filepath.Join(t.TempDir(), imageStore), t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestFilesOfADiskAreFoundFromOutside(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/var/log/cloud-init-output.log": "/m/log/cloud-init-output.log",
		"/var/lib/cloud/data/result":     "/m/upper/var/lib/cloud/data/result",
		"/var/logs/other":                "/m/upper/var/logs/other",
	} {
		if got := Disk("/m", path); got != want {
			t.Errorf("%s lies at %s, want %s", path, got, want)
		}
	}
}

func TestTheEndOfAProcessIsNoticedByOthersThanItsParent(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := awaitEnd(cmd.Process.Pid)
	select {
	case <-ended:
		t.Fatal("it ended before it was killed")
	default:
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("its end was not noticed")
	}
	_ = cmd.Wait()
	// One that is gone has ended.
	<-awaitEnd(cmd.Process.Pid)
}
