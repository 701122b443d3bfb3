package check

import (
	"context"
	_ "embed"
	"os"
	"syscall"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// chrootScript mounts a throw-away layer over the image, what programs expect beside files, and runs a program in it. All of it is in
// namespaces that vanish with it.
//
//go:embed chroot.sh
var chrootScript string

// chroot runs programs in an unpacked image. What they write is gone when they end.
type chroot struct{ root, mountPoint string }

func newChroot(root, mountPoint string) (*chroot, error) {
	return &chroot{root: root, mountPoint: mountPoint}, os.MkdirAll(mountPoint, 0o755)
}

// run returns what a program prints; when it fails, all that it says.
func (c *chroot) run(ctx context.Context, argv ...string) (string, error) {
	script := append([]string{"sh", "-c", chrootScript, "chroot", c.root, c.mountPoint}, argv...)
	cmd := build.Process(ctx, script...)
	// Go makes the mounts private when it unshares them.
	cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	return output(ctx, cmd)
}
