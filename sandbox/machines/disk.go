package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// volumes are folders of a machine that lie on the host's own file system: an overlay cannot hold containerd's own overlays, nor
// what a database wants of a disk.
func volumes() map[string]string {
	return map[string]string{
		"containerd": "/var/lib/containerd", "kubelet": "/var/lib/kubelet", "etcd": "/var/lib/etcd", "log": "/var/log",
	}
}

// makeDisk mounts the machine's disk at <dir>/root, and makes it first when there is none. The machine image stays untouched: what
// the machine writes goes to an overlay.
func (b *Booter) makeDisk(ctx context.Context, dir string) error {
	for _, name := range []string{"root", "upper", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("making the disk: %w", err)
		}
	}
	for name := range volumes() {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("making the disk: %w", err)
		}
	}
	if err := b.fillStore(ctx, dir); err != nil {
		return err
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", b.cfg.Rootfs, filepath.Join(dir, "upper"), filepath.Join(dir, "work"))
	if err := unix.Mount("overlay", filepath.Join(dir, "root"), "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting the disk: %w", err)
	}
	return nil
}

// fillStore gives the machine a containerd store that holds all container images. Blobs never change and are shared as hard links;
// databases are copied.
func (b *Booter) fillStore(ctx context.Context, dir string) error {
	store := filepath.Join(dir, "containerd")
	mark := filepath.Join(dir, "store-filled")
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	if err := run(ctx, "cp", "-al", b.cfg.ImageStore+"/.", store+"/"); err != nil {
		return fmt.Errorf("filling the image store: %w", err)
	}
	err := filepath.WalkDir(store, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".db" {
			return err
		}
		from := filepath.Join(b.cfg.ImageStore, path[len(store):])
		return run(ctx, "cp", "-a", "--remove-destination", from, path)
	})
	if err != nil {
		return fmt.Errorf("filling the image store: %w", err)
	}
	return os.WriteFile(mark, nil, 0o600)
}

// unmount undoes makeDisk's mount. A disk that is not mounted is fine.
func unmount(dir string) error {
	err := unix.Unmount(filepath.Join(dir, "root"), unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting the disk: %w", err)
	}
	return nil
}

// run runs a program, and adds what it said to the error.
func run(ctx context.Context, program string, args ...string) error {
	//nolint:gosec // The programs are ours or the system's, and the arguments paths of ours.
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, lastBytes(output, 600))
	}
	return nil
}

func lastBytes(text []byte, n int) []byte {
	if len(text) > n {
		return text[len(text)-n:]
	}
	return text
}
