package archive

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// rootTree has what only root can make.
func rootTree(t *testing.T) string {
	t.Helper()
	needRoot(t)
	root := sampleTree(t)
	attribute := func(name, attribute, value string) {
		bytes, err := hex.DecodeString(value)
		must(t, err)
		must(t, unix.Lsetxattr(pathIn(root, name), attribute, bytes, 0))
	}
	put(t, root, "usr/bin/ping", "ping", 0o755)
	attribute("usr/bin/ping", "security.capability", "0100000200200000000000000000000000000000")
	must(t, os.Mkdir(pathIn(root, "var/journal"), 0o755))
	const acl = "0200000001000700ffffffff04000500ffffffff080005000400000010000500ffffffff20000500ffffffff"
	attribute("var/journal", aclAccess, acl)
	attribute("var/journal", aclDefault, acl)
	put(t, root, "var/journal/after-the-acl", "", 0o640)
	must(t, os.Chown(pathIn(root, "etc/shadow"), 0, 42))
	must(t, os.Lchown(pathIn(root, "bin"), 3_000_000, 7))
	must(t, os.Mkdir(pathIn(root, "layer"), 0o755))
	attribute("layer", "trusted.overlay.opaque", "79")
	must(t, os.Mkdir(pathIn(root, "dev"), 0o755))
	must(t, unix.Mknod(pathIn(root, "dev/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	must(t, unix.Mknod(pathIn(root, "dev/disk"), unix.S_IFBLK|0o660, int(unix.Mkdev(259, 1_000_000%256))))
	must(t, unix.Mknod(pathIn(root, "layer/whiteout"), unix.S_IFCHR|0o600, 0))
	return root
}

func TestOwnersCapabilitiesACLsAndDevicesComeBack(t *testing.T) {
	t.Parallel()
	root := rootTree(t)
	want := listing(t, root)
	must(t, unix.Lsetxattr(pathIn(root, "layer"), "trusted.overlay.origin", []byte("of this host"), 0))
	sameListing(t, want, listing(t, unpacked(t, packFile(t, root))))
}

// TestTarUnpacksTheSame uses the options of MAAS's installer.
func TestTarUnpacksTheSame(t *testing.T) {
	t.Parallel()
	root := rootTree(t)
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	out, err := exec.CommandContext(t.Context(), "tar", "-C", dir, "--acls", "--xattrs", "--xattrs-include=*", "--numeric-owner", "-xpzf", packFile(t, root)).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	sameListing(t, listing(t, root), listing(t, dir))
}

func TestWhatTarPackedIsUnpacked(t *testing.T) {
	t.Parallel()
	root := rootTree(t)
	file := filepath.Join(t.TempDir(), "image.tar.gz")
	out, err := exec.CommandContext(t.Context(), "tar", "-C", root, "--acls", "--xattrs", "--xattrs-include=*", "-cpzf", file, ".").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	sameListing(t, listing(t, root), listing(t, unpacked(t, file)))
}

func TestAMountedFolderIsRefused(t *testing.T) {
	t.Parallel()
	needRoot(t)
	root := t.TempDir()
	must(t, os.Mkdir(pathIn(root, "proc"), 0o755))
	if err := unix.Mount("proc", pathIn(root, "proc"), "proc", 0, ""); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(pathIn(root, "proc"), 0)) })
	_, err := Pack(t.Context(), root, &fullDisk{1 << 20}, built, nil)
	if err == nil || !strings.Contains(err.Error(), "proc is on another file system") {
		t.Errorf("got %v", err)
	}
}
