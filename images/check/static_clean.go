package check

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// cleanChecks are about what must not be the same on all machines, and what is nobody's business.
func cleanChecks() []static {
	return []static{
		{"machine-id", "no machine ID: each machine makes its own", lookMachineID},
		nothingAt("host-keys", "no keys of a machine", "etc/ssh/ssh_host_*", "var/lib/systemd/random-seed", "var/lib/systemd/credential.secret", "etc/machine-info"),
		{"private-keys", "no private keys and no authorized ones", lookPrivateKeys},
		{"passwords", "no passwords", lookPasswords},
		{"logs", "no logs", lookLogs},
		nothingAt("package-lists", "no lists and no archives of packages", "var/lib/apt/lists/*_*", "var/cache/apt/archives/*.deb", "var/cache/apt/*.bin", "var/cache/debconf/*-old", "var/lib/dpkg/*-old"),
		{"host-name", "no host name, and not that of the machine it was made on", lookHostName},
		{"resolv-conf", "no name servers of the machine it was made on", lookResolvConf},
		nothingAt("leftovers", "nothing left of making it", "usr/sbin/policy-rc.d", "var/lib/cloud/*", "root/.bash_history", "root/.ssh/**", "home/*", "tmp/*", "var/tmp/*",
			"run/*", "proc/*", "sys/*", "boot/grub/grub.cfg", "boot/efi/*", "etc/netplan/*", "etc/udev/rules.d/70-persistent-*", "etc/**.dpkg-new", "var/lib/kubelet/config.yaml", "etc/kubernetes/*.conf", "etc/kubernetes/pki"),
		{"fstab", "no file systems in fstab: curtin writes it", lookFstab},
	}
}

// nothingAt is a check that no path matches.
func nothingAt(name, what string, patterns ...string) static {
	return static{name, what, func(_ context.Context, r *root) (string, error) {
		if found := r.matching(patterns...); len(found) > 0 {
			return "", problemf(mendRemoval, "%s", paths(found))
		}
		return "", nil
	}}
}

func lookMachineID(_ context.Context, r *root) (string, error) {
	// Missing, systemd would take the file system for one that was booted before it was asked for an ID.
	id, err := r.read("etc/machine-id")
	if err != nil {
		return "", problemf("have images/recipe make it, empty", "no file /etc/machine-id")
	}
	if strings.TrimSpace(id) != "" {
		return "", problemf("have images/recipe empty it", "an ID in /etc/machine-id")
	}
	info, err := os.Lstat(r.dir + "/var/lib/dbus/machine-id")
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return "", problemf(mendRemoval, "an ID in /var/lib/dbus/machine-id")
	}
	return "", nil
}

var privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)

// lookPrivateKeys reads all small files where somebody might have left one. Programs and libraries hold such words without being keys.
func lookPrivateKeys(_ context.Context, r *root) (string, error) {
	if found := r.matching("root/.ssh/authorized_keys", "home/*/.ssh/authorized_keys", "etc/ssh/authorized_keys*"); len(found) > 0 {
		return "", problemf(mendRemoval, "%s", paths(found))
	}
	var number int
	for _, e := range r.matching("etc/**", "root/**", "home/**", "var/**", "opt/**", "srv/**", "usr/local/**", "curtin/**") {
		const largest = 1 << 20
		if !e.mode.IsRegular() || e.size > largest {
			continue
		}
		content, err := os.ReadFile(r.dir + "/" + e.path)
		if err != nil {
			return "", err
		}
		if number++; privateKey.Match(content) {
			return "", problemf(mendRemoval, "a private key in /%s", e.path)
		}
	}
	return fmt.Sprintf("%d files read", number), nil
}

func lookPasswords(_ context.Context, r *root) (string, error) {
	shadow, err := r.read("etc/shadow")
	if err != nil {
		return "", problemf("make the image again", "no /etc/shadow: %v", err)
	}
	for line := range strings.Lines(shadow) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 2 || strings.HasPrefix(fields[1], "*") || strings.HasPrefix(fields[1], "!") {
			continue
		}
		return "", problemf("have images/recipe lock it", "a password of the user %s, or none at all where one is asked for", fields[0])
	}
	return "", nil
}

func lookLogs(_ context.Context, r *root) (string, error) {
	var found []entry
	for _, e := range r.matching("var/log/**") {
		// Empty ones are there to have owners and modes.
		if e.mode.IsRegular() && e.size > 0 {
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		return "", problemf(mendRemoval, "%s", paths(found))
	}
	return "", nil
}

func lookHostName(_ context.Context, r *root) (string, error) {
	if name, err := r.read("etc/hostname"); err == nil && strings.TrimSpace(name) != "" && strings.TrimSpace(name) != "localhost" {
		return "", problemf(mendRemoval, "%q in /etc/hostname", strings.TrimSpace(name))
	}
	// A short name might be a word of any text.
	const shortest = 4
	if len(r.buildHost) < shortest || r.buildHost == "localhost" {
		return "", nil
	}
	word := regexp.MustCompile(`(^|[^a-zA-Z0-9-])` + regexp.QuoteMeta(r.buildHost) + `($|[^a-zA-Z0-9-])`)
	for _, e := range r.matching("etc/*", "etc/cloud/**", "etc/ssh/**", "etc/lvm/**", "etc/mdadm/**", "etc/containerd/**", "etc/kubernetes/**") {
		if !e.mode.IsRegular() {
			continue
		}
		content, err := os.ReadFile(r.dir + "/" + e.path)
		if err != nil {
			return "", err
		}
		if word.Match(content) {
			return "", problemf(mendRemoval, "this machine's name in /%s", e.path)
		}
	}
	return "", nil
}

func lookResolvConf(_ context.Context, r *root) (string, error) {
	at := r.dir + "/etc/resolv.conf"
	info, err := os.Lstat(at)
	if err != nil {
		return "none: it is made at each boot", nil
	}
	if info.Mode()&os.ModeSymlink == 0 {
		return "", problemf(mendRemoval, "a file at /etc/resolv.conf")
	}
	target, err := os.Readlink(at)
	if err != nil {
		return "", err
	}
	if !strings.Contains(target, "run/systemd/resolve/") {
		return "", problemf(mendRemoval, "a link from /etc/resolv.conf to %s", target)
	}
	return "a link to " + target, nil
}

func lookFstab(_ context.Context, r *root) (string, error) {
	text, err := r.read("etc/fstab")
	if err != nil {
		return "none", nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return "", problemf("have images/recipe empty it", "%q in /etc/fstab", line)
		}
	}
	return "", nil
}
