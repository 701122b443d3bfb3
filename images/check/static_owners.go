package check

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ownerChecks are about who may do what with the image's files.
func ownerChecks() []static {
	return []static{
		{"setuid", "no programs with the rights of others but Debian's known ones", lookSetuid},
		{"world-writable", "nothing that everybody may write to, but folders for temporary files", lookWorldWritable},
		{"owners", "no files of users or groups that the image does not know", lookOwners},
		{"capabilities", "file capabilities are kept", lookCapabilities},
		{"devices", "no devices outside of /dev, and there only harmless ones", lookDevices},
		{"root-folder", "the root folder belongs to root, and all may enter it", lookRootFolder},
	}
}

// knownSetuid are Debian 12's programs and folders with the set-user-ID or set-group-ID bit.
func knownSetuid() []string {
	return []string{
		"usr/bin/chfn", "usr/bin/chsh", "usr/bin/gpasswd", "usr/bin/mount", "usr/bin/newgrp", "usr/bin/passwd", "usr/bin/su", "usr/bin/sudo",
		"usr/bin/umount", "usr/lib/dbus-1.0/dbus-daemon-launch-helper", "usr/lib/openssh/ssh-keysign", "usr/lib/polkit-1/polkit-agent-helper-1",
		"usr/bin/pkexec", "usr/bin/fusermount3", "usr/sbin/unix_chkpwd", "usr/bin/chage", "usr/bin/expiry", "usr/bin/ssh-agent",
		"usr/bin/crontab", "usr/bin/dotlockfile", "usr/bin/wall", "usr/bin/write",
		"var/log/journal", "var/mail", "var/local", "usr/local/lib/python3.11", "usr/local/lib/python3.11/dist-packages",
	}
}

func lookSetuid(_ context.Context, r *root) (string, error) {
	var found []entry
	var known int
	for _, e := range r.entries {
		if e.mode&(fs.ModeSetuid|fs.ModeSetgid) == 0 {
			continue
		}
		if slices.Contains(knownSetuid(), e.path) {
			known++
			continue
		}
		found = append(found, e)
	}
	if len(found) > 0 {
		return "", problemf("leave the package out, or, when it is right, name it in images/check/static_owners.go", "%s", paths(found))
	}
	return fmt.Sprintf("%d known", known), nil
}

func lookWorldWritable(_ context.Context, r *root) (string, error) {
	var found []entry
	for _, e := range r.entries {
		const all = 0o002
		switch {
		case e.mode.Perm()&all == 0, e.mode&fs.ModeSymlink != 0, strings.HasPrefix(e.path, "dev/"):
		case e.mode.IsDir() && e.mode&fs.ModeSticky != 0:
		default:
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		return "", problemf("have images/recipe change the mode", "%s", paths(found))
	}
	return "", nil
}

func lookOwners(_ context.Context, r *root) (string, error) {
	users, err := r.ids("etc/passwd")
	if err != nil {
		return "", err
	}
	groups, err := r.ids("etc/group")
	if err != nil {
		return "", err
	}
	var found []entry
	for _, e := range r.entries {
		if !users[e.uid] || !groups[e.gid] {
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		return "", problemf("have images/recipe give them to root", "%s, of user %d and group %d", paths(found), found[0].uid, found[0].gid)
	}
	return fmt.Sprintf("%d users, %d groups, %d files", len(users), len(groups), len(r.entries)), nil
}

// ids are the numbers in a list of users or groups.
func (r *root) ids(name string) (map[uint32]bool, error) {
	text, err := r.read(name)
	if err != nil {
		return nil, problemf("make the image again", "no /%s: %v", name, err)
	}
	ids := make(map[uint32]bool)
	for line := range strings.Lines(text) {
		fields := strings.Split(line, ":")
		if len(fields) < 3 {
			continue
		}
		id, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return nil, problemf("make the image again", "%q in /%s", strings.TrimSpace(line), name)
		}
		ids[uint32(id)] = true
	}
	return ids, nil
}

// lookCapabilities looks at Debian's one program that has them: archives lose them easily, and then nobody but root can ping.
func lookCapabilities(_ context.Context, r *root) (string, error) {
	const name = "usr/bin/ping"
	at, err := r.resolve(name)
	if err != nil {
		return "", err
	}
	if err := r.there(addPackage+": iputils-ping", name); err != nil {
		return "", err
	}
	if size, err := unix.Lgetxattr(at, "security.capability", nil); err != nil || size == 0 {
		return "", problemf("see images/archive: extended attributes", "no capabilities on /%s", name)
	}
	return "/" + name, nil
}

func lookDevices(_ context.Context, r *root) (string, error) {
	var found []entry
	for _, e := range r.entries {
		block := e.mode&fs.ModeDevice != 0 && e.mode&fs.ModeCharDevice == 0
		if block || e.mode&fs.ModeDevice != 0 && !strings.HasPrefix(e.path, "dev/") {
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		return "", problemf(mendRemoval, "%s", paths(found))
	}
	return "", nil
}

func lookRootFolder(_ context.Context, r *root) (string, error) {
	for _, e := range r.entries {
		if e.path != "." {
			continue
		}
		if e.uid != 0 || e.gid != 0 || e.mode.Perm() != 0o755 {
			return "", problemf("see images/archive and images/recipe", "mode %s, user %d, group %d", e.mode.Perm(), e.uid, e.gid)
		}
		return "", nil
	}
	return "", problemf("see images/archive", "no root folder in the archive")
}
