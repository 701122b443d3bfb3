package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// imageStore is the folder of a machine in which containerd has its images.
const imageStore = "/var/lib/containerd"

// volumes are folders of a machine that lie on the host's own file system: an overlay cannot hold containerd's own overlays, nor
// what a database wants of a disk.
func volumes() map[string]string {
	return map[string]string{"containerd": imageStore, "kubelet": "/var/lib/kubelet", "etcd": "/var/lib/etcd", "log": "/var/log"}
}

// makeDisk mounts the machine's disk at its mount point, and makes it first when there is none. The root file system stays untouched:
// what the machine writes goes to an overlay.
func makeDisk(ctx context.Context, root, dir string) error {
	err := makeFolders(dir, "root", "upper", "work")
	for name := range volumes() {
		err = errors.Join(err, makeFolders(dir, name))
	}
	if err != nil {
		return fmt.Errorf("making the disk: %w", err)
	}
	if err := fillStore(ctx, filepath.Join(root, imageStore), dir); err != nil {
		return fmt.Errorf("filling the image store: %w", err)
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", root, filepath.Join(dir, "upper"), filepath.Join(dir, "work"))
	if err := unix.Mount("overlay", mountPoint(dir), "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting the disk: %w", err)
	}
	return nil
}

// fillStore gives the machine the container images that its root file system holds. Blobs never change and are shared as hard links;
// databases are copied.
func fillStore(ctx context.Context, from, dir string) error {
	store := filepath.Join(dir, "containerd")
	mark := filepath.Join(dir, "store-filled")
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// What an earlier attempt left would be in the way.
	if err := os.RemoveAll(store); err != nil {
		return err
	}
	if err := run(ctx, "cp", "-al", from, store); err != nil {
		return err
	}
	err := filepath.WalkDir(store, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".db" {
			return err
		}
		return run(ctx, "cp", "-a", "--remove-destination", filepath.Join(from, path[len(store):]), path)
	})
	if err != nil {
		return err
	}
	return os.WriteFile(mark, nil, 0o600)
}

// unmount undoes makeDisk's mount. A disk that is not mounted is fine.
func unmount(dir string) error {
	err := unix.Unmount(mountPoint(dir), unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting the disk: %w", err)
	}
	return nil
}
