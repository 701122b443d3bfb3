package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

const testKernel = "6.1.0-1-amd64"

// image is a small image in which every static check finds all it needs. Its programs are answers.
type image struct {
	t       *testing.T
	r       *root
	answers map[string]string
}

func (i *image) write(name, content string, mode fs.FileMode) {
	i.t.Helper()
	at := filepath.Join(i.r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o644), os.Chmod(at, mode)); err != nil {
		i.t.Fatal(err)
	}
}

func (i *image) remove(name string) {
	i.t.Helper()
	if err := os.RemoveAll(filepath.Join(i.r.dir, name)); err != nil {
		i.t.Fatal(err)
	}
}

func (i *image) link(target, name string) {
	i.t.Helper()
	i.remove(name)
	if err := os.Symlink(target, filepath.Join(i.r.dir, name)); err != nil {
		i.t.Fatal(err)
	}
}

// answer is the first whose words are all in the call; "!" before it makes the program fail.
func (i *image) run(_ context.Context, argv ...string) (string, error) {
	call := strings.Join(argv, " ")
	var best string
	for words := range i.answers {
		if strings.Contains(call, words) && len(words) > len(best) {
			best = words
		}
	}
	if best == "" {
		return "", fmt.Errorf("no program for %q in the test", call)
	}
	if failure, failed := strings.CutPrefix(i.answers[best], "!"); failed {
		return failure, fmt.Errorf("exit status 1: %s", failure)
	}
	return i.answers[best], nil
}

// bzImage is the head of a kernel file that tells a version.
func bzImage(version string) string {
	head := make([]byte, 0x400)
	copy(head[0x202:], "HdrS")
	head[0x20e] = 0x80 // the text is at 0x200 after that
	copy(head[0x280:], version+" (builder) #1")
	return string(head)
}

func newImage(t *testing.T) *image {
	t.Helper()
	i := &image{t: t, answers: goodAnswers()}
	i.r = &root{dir: t.TempDir(), run: i.run, buildHost: "builder-17", versions: make(map[string]string)}
	if err := os.Chmod(i.r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	i.write("etc/passwd", fmt.Sprintf("root:x:0:0::/root:/bin/sh\nme:x:%d:%d::/:/bin/sh\n", uid, gid), 0o644)
	i.write("etc/group", fmt.Sprintf("root:x:0:\nme:x:%d:\n", gid), 0o644)
	i.write("etc/shadow", "root:*:1::::::\nme:!:1::::::\n", 0o640)
	i.write("etc/machine-id", "", 0o444)
	i.write("etc/fstab", "# written by the installer\n", 0o644)
	i.write("boot/vmlinuz-"+testKernel, bzImage(testKernel), 0o644)
	i.write("boot/initrd.img-"+testKernel, "disk", 0o644)
	i.write("usr/lib/modules/"+testKernel+"/modules.dep", "x", 0o644)
	i.link("boot/vmlinuz-"+testKernel, "vmlinuz")
	i.link("boot/initrd.img-"+testKernel, "initrd.img")
	i.write("curtin/curtin-hooks", "#!/usr/bin/env python3\n", 0o755)
	i.write("curtin/target.py", "", 0o644)
	for _, name := range strings.Fields("i386-pc/boot.img i386-pc/modinfo.sh i386-pc/lvm.mod i386-pc/part_gpt.mod x86_64-efi/modinfo.sh x86_64-efi/lvm.mod x86_64-efi/part_gpt.mod x86_64-efi-signed/grubx64.efi.signed") {
		i.write("usr/lib/grub/"+name, "x", 0o644)
	}
	i.write("usr/lib/shim/shimx64.efi.signed", "x", 0o644)
	for _, name := range strings.Fields("sbin/grub-install sbin/update-grub sbin/grub-mkconfig bin/efibootmgr sbin/lvm sbin/mdadm sbin/mkfs.ext4 sbin/mkfs.xfs sbin/mkfs.vfat sbin/sfdisk " +
		"sbin/sgdisk bin/growpart sbin/resize2fs sbin/conntrack sbin/ethtool sbin/iptables sbin/ip6tables sbin/nft bin/socat bin/mount bin/nsenter bin/ip sbin/tc sbin/sysctl sbin/modprobe bin/findmnt bin/ping") {
		i.write("usr/"+name, "x", 0o755)
	}
	for _, name := range strings.Fields("usr/bin/kubeadm usr/bin/kubelet usr/bin/kubectl usr/local/bin/containerd usr/local/bin/runc usr/local/bin/crictl opt/cni/bin/loopback opt/cni/bin/bridge opt/cni/bin/host-local opt/cni/bin/portmap") {
		i.write(name, "x", 0o755)
		sum, size, err := i.r.sum(name)
		if err != nil {
			t.Fatal(err)
		}
		i.r.manifest.Programs = append(i.r.manifest.Programs, imagefile.Program{Path: "/" + name, Version: "v1.36.3", Size: size, SHA256: sum})
	}
	i.r.manifest.KubernetesVersion = "v1.36.3"
	i.r.manifest.Packages = []imagefile.Package{{Name: "netplan.io", Version: "0.106", Architecture: "amd64"}}
	i.r.manifest.ContainerImages = []imagefile.ContainerImage{{Name: "capmaas.local/hello:v1"}}
	i.write("etc/systemd/system/container-machine.service", "[Unit]\nConditionVirtualization=container\n", 0o644)
	i.write("usr/lib/systemd/system-generators/container-machine", "systemd-detect-virt --quiet --container || exit 0\n", 0o755)
	i.write("usr/lib/container-machine/files/usr/local/bin/kubeadm", "systemd-detect-virt --quiet --container || exec\n", 0o755)
	i.write("usr/lib/container-machine/files/etc/cloud/cloud.cfg.d/95-container.cfg", "x", 0o644)
	if err := unix.Setxattr(filepath.Join(i.r.dir, "usr/bin/ping"), "security.capability", []byte("\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0); err != nil {
		t.Skipf("only root can give a file capabilities: %v", err)
	}
	return i
}

func goodAnswers() map[string]string {
	answers := map[string]string{
		"cloud-init --version": "/usr/bin/cloud-init 22.4.2\n", "cloud-init features": "NETWORK_CONFIG_V1\nNETWORK_CONFIG_V2\n", "netplan info": "netplan.io:\n",
		"netplan generate": "10-netplan-bond0.network\n10-netplan-bond0.10.netdev\n10-netplan-br0.network\n", "datasource_list": "MAAS,None\n",
		"systemctl is-enabled": "enabled\n", "systemctl get-default": "graphical.target\n", "systemctl --version": "systemd 252 (252.39)\n",
		"ast.parse": "", "import bootloader": "12 cases\n", "validate_cloudconfig_schema": "", "modinfo": "filename: x\n", "grub-mkimage -O i386-pc": "grub-install (GRUB) 2.06\n", "grub-mkimage -O x86_64-efi": "version 17\n",
		"lsinitramfs":     "a/ext4.ko a/xfs.ko a/ahci.ko a/sd_mod.ko a/nvme.ko a/megaraid_sas.ko a/mpt3sas.ko a/virtio_blk.ko a/virtio_scsi.ko a/dm-mod.ko.xz sbin/lvm\n",
		"sshd -t":         "port 22\npermitrootlogin without-password\n",
		"kubeadm version": "v1.36.3\n", "kubelet --version": "Kubernetes v1.36.3\n", "kubectl version": "Client Version: v1.36.3\n", "containerd --version": "containerd v1.36.3 x\n",
		"runc --version": "runc version 1.36.3\n", "crictl --version": "crictl version v1.36.3\n", "CNI_COMMAND=VERSION": `{"supportedVersions":["1.0.0"]}`,
		"dpkg-query": "ii  netplan.io 0.106 amd64\n", "containerd config dump": "SystemdCgroup = true\nsandbox = 'registry.k8s.io/pause:3.10'\n",
		"kubeadm config images list": "registry.k8s.io/kube-apiserver:v1.36.3\nregistry.k8s.io/pause:3.10\n",
		"ctr --namespace k8s.io images check": "registry.k8s.io/kube-apiserver:v1.36.3 t d complete (4/4) 1 MiB true\nregistry.k8s.io/pause:3.10 t d complete (2/2) 1 true\n" +
			"capmaas.local/hello:v1 t d complete (2/2) 1 true\n",
	}
	for _, program := range strings.Fields("lvm mdadm mkfs.ext4 mkfs.xfs mkfs.vfat sfdisk sgdisk growpart resize2fs") {
		answers[program] = "!usage"
	}
	return answers
}

// look does all static checks, and returns the failures by name.
func (i *image) look() map[string]error {
	i.t.Helper()
	i.r.entries = nil
	if err := i.r.list(); err != nil {
		i.t.Fatal(err)
	}
	failures := make(map[string]error)
	for _, check := range staticChecks() {
		if _, err := check.look(i.t.Context(), i.r); err != nil {
			failures[check.name] = err
		}
	}
	return failures
}

func TestAGoodImagePassesAllStaticChecks(t *testing.T) {
	t.Parallel()
	for name, err := range newImage(t).look() {
		t.Errorf("%s: %v", name, err)
	}
}

// flaw is what is wrong with an image, the check that must see it, and the words by which it says what it found.
type flaw struct {
	check string
	make  func(i *image)
	found string
}

func answers(words, answer string) func(*image) {
	return func(i *image) { i.answers[words] = answer }
}

func writes(name, content string, mode fs.FileMode) func(*image) {
	return func(i *image) { i.write(name, content, mode) }
}

func removes(name string) func(*image) { return func(i *image) { i.remove(name) } }

func flaws() []flaw {
	return []flaw{
		{"cloud-init", answers("cloud-init --version", "!No module named cffi"), "cffi"},
		{"cloud-init-features", answers("cloud-init features", "NETWORK_CONFIG_V1\n"), "no NETWORK_CONFIG_V2"},
		{"netplan", answers("netplan info", "!not found"), "`netplan info` does not work"},
		{"netplan-generate", answers("netplan generate", "10-netplan-bond0.network\n"), "bond0.10.netdev"},
		{"datasource", answers("datasource_list", "NoCloud,MAAS\n"), "NoCloud,MAAS"},
		{"datasource", answers("datasource_list", "!No module named oauthlib"), "oauthlib"},
		{"cloud-config", answers("validate_cloudconfig_schema", "!locale: False is not of type 'string'"), "locale: False"},
		{"cloud-init-units", writes("etc/cloud/cloud-init.disabled", "", 0o644), "/etc/cloud/cloud-init.disabled"},
		{"cloud-init-units", answers("is-enabled cloud-final.service", "!disabled"), "cloud-final.service is not enabled"},
		{"curtin-hooks", removes("curtin"), "no file /curtin/curtin-hooks"},
		{"curtin-hooks", writes("curtin/curtin-hooks", "#!/usr/bin/env python3\n", 0o644), "curtin cannot run it"},
		{"curtin-hooks", writes("curtin/curtin-hooks", "#!/bin/sh\n", 0o755), "first line"},
		{"curtin-hooks", answers("ast.parse", "!SyntaxError"), "SyntaxError"},
		{"curtin-hooks-rules", answers("import bootloader", "!plain storage: 'no' instead of ''"), "plain storage"},
		{"base-image", func(i *image) { i.r.manifest.BaseImage = "debian/bookworm" }, `"debian/bookworm"`},
		{"kernel", removes("boot/vmlinuz-" + testKernel), "0 kernels"},
		{"kernel", removes("boot/initrd.img-" + testKernel), "nothing at /boot/initrd.img"},
		{"kernel", writes("boot/initrd.img-"+testKernel, "", 0o644), "nothing at /boot/initrd.img"},
		{"kernel", writes("boot/vmlinuz-"+testKernel, bzImage("6.1.0-2-amd64"), 0o644), "another version"},
		{"kernel", writes("boot/vmlinuz-"+testKernel, strings.Repeat("x", 0x400), 0o644), "no kernel"},
		{"kernel", writes("usr/lib/modules/6.1.0-2-amd64/modules.dep", "x", 0o644), "modules in"},
		{"kernel", removes("vmlinuz"), "/vmlinuz does not lead"},
		{"kernel", func(i *image) { i.link("boot/initrd.img-old", "initrd.img") }, "/initrd.img does not lead"},
		{"modules", answers("modinfo --set-version "+testKernel+" br_netfilter", "!not found"), "no module br_netfilter"},
		{"initrd", answers("lsinitramfs", "a/ext4.ko\n"), "no xfs"},
		{"grub-bios", removes("usr/lib/grub/i386-pc/boot.img"), "i386-pc/boot.img"},
		{"grub-bios", answers("grub-mkimage -O i386-pc", "!no module"), "cannot be made"},
		{"grub-uefi", removes("usr/lib/shim"), "shimx64.efi.signed"},
		{"grub-uefi", answers("grub-mkimage -O x86_64-efi", "!no module"), "cannot be made"},
		{"storage", removes("usr/sbin/mkfs.xfs"), "no program mkfs.xfs"},
		{"storage", answers("lvm", "!error while loading shared libraries"), "lvm does not work"},
		{"ssh", answers("sshd -t", "!Bad configuration option"), "Bad configuration option"},
		{"ssh", answers("sshd -t", "permitrootlogin yes\n"), "permitrootlogin yes"},
		{"units", answers("is-enabled containerd.service", "!disabled"), "containerd.service is not enabled"},
		{"units", answers("systemctl get-default", "rescue.target\n"), "rescue.target"},
		{"programs", writes("usr/bin/kubelet", "y", 0o755), "another /usr/bin/kubelet"},
		{"programs", removes("usr/local/bin/runc"), "/usr/local/bin/runc cannot be read"},
		{"programs", func(i *image) { i.r.manifest.Programs = nil }, "no programs"},
		{"versions", answers("kubelet --version", "Kubernetes v1.36.30\n"), "v1.36.30"},
		{"versions", answers("runc --version", "!exec format error"), "runc does not run"},
		{"versions", answers("CNI_COMMAND=VERSION /opt/cni/bin/bridge", "usage\n"), "/opt/cni/bin/bridge does not answer"},
		{"packages", answers("dpkg-query", "ii  netplan.io 0.106 amd64\nii  telnet 1 amd64\n"), "telnet 1 amd64 installed"},
		{"packages", answers("dpkg-query", ""), "netplan.io 0.106 amd64 in the manifest"},
		{"packages", answers("dpkg-query", "iF  netplan.io 0.106 amd64\n"), "not wholly installed"},
		{"node-tools", removes("usr/sbin/conntrack"), "no program conntrack"},
		{"node-tools", writes("usr/bin/socat", "x", 0o644), "no program socat"},
		{"containerd-config", answers("containerd config dump", "!unknown field"), "unknown field"},
		{"containerd-config", answers("containerd config dump", "SystemdCgroup = false\n"), "control groups"},
		{"containerd-config", answers("containerd config dump", "SystemdCgroup = true\nsandbox = 'registry.k8s.io/pause:3.9'\n"), "another sandbox image"},
		{"image-store", answers("ctr --namespace k8s.io images check", "registry.k8s.io/pause:3.10 t d complete (2/2) 1 true\n"), "kube-apiserver"},
		{"image-store", func(i *image) {
			text := i.answers["ctr --namespace k8s.io images check"]
			i.answers["ctr --namespace k8s.io images check"] = strings.Replace(text, "complete (4/4)", "incomplete (3/4)", 1)
		}, "kube-apiserver"},
		{"image-store", answers("ctr --namespace k8s.io images check", "!no such file"), "does not start"},
		{"guards", writes("etc/systemd/system/container-machine.service", "[Unit]\n", 0o644), "ConditionVirtualization"},
		{"guards", writes("usr/lib/systemd/system-generators/container-machine", "exit 0\n", 0o755), "systemd-detect-virt"},
		{"guards", writes("etc/cloud/cloud.cfg.d/95-container.cfg", "x", 0o644), "/etc/cloud/cloud.cfg.d/95-container.cfg"},
		{"machine-id", writes("etc/machine-id", "0123456789abcdef0123456789abcdef\n", 0o444), "an ID in"},
		{"machine-id", removes("etc/machine-id"), "no file /etc/machine-id"},
		{"machine-id", writes("var/lib/dbus/machine-id", "0123456789abcdef0123456789abcdef\n", 0o444), "/var/lib/dbus/machine-id"},
		{"host-keys", writes("etc/ssh/ssh_host_rsa_key.pub", "ssh-rsa", 0o644), "/etc/ssh/ssh_host_rsa_key.pub"},
		{"host-keys", writes("var/lib/systemd/random-seed", "x", 0o600), "random-seed"},
		{"private-keys", writes("etc/ssl/private/a.key", "-----BEGIN EC PRIVATE KEY"+"-----\n", 0o600), "/etc/ssl/private/a.key"},
		{"private-keys", writes("root/.ssh/authorized_keys", "ssh-ed25519 A", 0o600), "authorized_keys"},
		{"passwords", writes("etc/shadow", "root:$y$j9T$x:1::::::\n", 0o640), "the user root"},
		{"passwords", writes("etc/shadow", "root:*:1::::::\nme::1::::::\n", 0o640), "the user me"},
		{"logs", writes("var/log/dpkg.log", "x", 0o644), "/var/log/dpkg.log"},
		{"package-lists", writes("var/lib/apt/lists/deb.debian.org_debian_InRelease", "x", 0o644), "InRelease"},
		{"package-lists", writes("var/cache/apt/archives/a_1_all.deb", "x", 0o644), "a_1_all.deb"},
		{"host-name", writes("etc/hostname", "builder\n", 0o644), `"builder"`},
		{"host-name", writes("etc/hosts", "127.0.1.1 builder-17\n", 0o644), "this machine's name in /etc/hosts"},
		{"resolv-conf", writes("etc/resolv.conf", "nameserver 192.0.2.1\n", 0o644), "a file"},
		{"resolv-conf", func(i *image) { i.link("/mnt/resolv.conf", "etc/resolv.conf") }, "a link"},
		{"leftovers", writes("usr/sbin/policy-rc.d", "exit 101", 0o755), "policy-rc.d"},
		{"leftovers", writes("var/lib/cloud/instance", "x", 0o644), "/var/lib/cloud/instance"},
		{"leftovers", writes("run/utmp", "x", 0o644), "/run/utmp"},
		{"fstab", writes("etc/fstab", "/dev/sda1 / ext4\n", 0o644), "/dev/sda1"},
		{"setuid", writes("usr/bin/nsenter", "x", 0o755|fs.ModeSetuid), "/usr/bin/nsenter"},
		{"setuid", writes("usr/bin/ip", "x", 0o755|fs.ModeSetgid), "/usr/bin/ip"},
		{"world-writable", writes("etc/crictl.yaml", "x", 0o666), "/etc/crictl.yaml"},
		{"owners", writes("etc/passwd", "nobody:x:65534:65534::/:/bin/sh\n", 0o644), "of user"},
		{"owners", writes("etc/group", "nogroup:x:65534:\n", 0o644), "and group"},
		{"capabilities", func(i *image) {
			i.remove("usr/bin/ping")
			i.write("usr/bin/ping", "x", 0o755)
		}, "no capabilities"},
		{"devices", func(i *image) {
			unix.Mknod(filepath.Join(i.r.dir, "etc/kmem"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 2)))
		}, "/etc/kmem"},
		{"root-folder", func(i *image) { os.Chmod(i.r.dir, 0o700) }, "mode -rwx------"},
	}
}

func TestEveryStaticCheckSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	tried := make(map[string]bool)
	for _, flaw := range flaws() {
		tried[flaw.check] = true
		t.Run(flaw.check+" "+flaw.found, func(t *testing.T) {
			t.Parallel()
			i := newImage(t)
			flaw.make(i)
			failures := i.look()
			err := failures[flaw.check]
			if err == nil {
				t.Fatalf("it passed; there were %v", failures)
			}
			var p *problem
			if !errors.As(err, &p) || !strings.Contains(p.found, flaw.found) || p.do == "" {
				t.Errorf("it says %v, want %q in what was found and something to do", err, flaw.found)
			}
		})
	}
	for _, name := range staticNames() {
		if !tried[name] {
			t.Errorf("nothing shows that %s can fail", name)
		}
	}
}

func TestNamesOfChecksAreUnique(t *testing.T) {
	t.Parallel()
	names := allNames(parts())
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			t.Errorf("two are called %q", names[i])
		}
	}
}
