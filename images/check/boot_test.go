package check

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

const goodReport = `@begin 
@state running
@cloud-init status: done
@datasource DataSourceNoCloud [seed=/dev/vdb][dsmode=net]
@written written by cloud-init
@hostname image-check
@machine-id 32
@host-key ssh_host_ed25519_key
@unit containerd active
@unit ssh active
@unit systemd-networkd active
@unit systemd-resolved active
@unit kubelet inactive
@image registry.k8s.io/pause   3.10   0123456789abc   1.0MB
@virtualization qemu
@container-machine no
@address ens3 UP 10.0.2.15/24
@sysctl net.ipv4.ip_forward 1
@sysctl net.bridge.bridge-nf-call-iptables 1
@module overlay yes
@module br_netfilter yes
@cgroup cgroup2fs
@end 
`

const goodConsole = "[    0.000000] Linux version 6.1.0-1-amd64 (x)\r\nDebian GNU/Linux 12 image-check ttyS0\r\n\r\nimage-check login: "

func bootOf(report, console string) boot {
	manifest := imagefile.Manifest{ContainerImages: []imagefile.ContainerImage{{Name: "registry.k8s.io/pause:3.10"}}}
	return boot{manifest: manifest, facts: readFacts(report), console: console, log: "boot.log"}
}

func TestAGoodBootPasses(t *testing.T) {
	t.Parallel()
	for _, check := range qemuBoot() {
		if _, err := check.judge(bootOf(goodReport, goodConsole)); err != nil {
			t.Errorf("%s: %v", check.name, err)
		}
	}
	inContainer := strings.Replace(goodReport, "@container-machine no\n", "@container-machine yes\n@laid /etc/cloud/cloud.cfg.d/95-container.cfg\n", 1)
	for _, check := range containerBoot() {
		if _, err := check.judge(bootOf(inContainer, "")); err != nil {
			t.Errorf("%s: %v", check.name, err)
		}
	}
}

func TestEveryCheckOfABootSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	flaws := []struct{ check, from, to, found string }{
		{"qemu-kernel", "Linux version", "GRUB loading", "no word of a kernel"},
		{"qemu-login", "login: ", "", "no login prompt"},
		{"qemu-systemd", "@state running", "@state degraded\n@failed kubelet.service: no such file", "kubelet.service: no such file"},
		{"qemu-systemd", "@state running", "@state starting\n@jobs a.service start waiting", "a.service"},
		{"qemu-systemd", "@state running\n", "", `the state ""`},
		{"qemu-cloud-init", "status: done", "status: error", "status: error"},
		{"qemu-cloud-init", "@datasource", "@cloud-errors ('locale', ...)\n@datasource", "locale"},
		{"qemu-cloud-init", "DataSourceNoCloud", "DataSourceNone", "DataSourceNone"},
		{"qemu-user-data", "written by cloud-init", "cat: no such file", "no such file"},
		{"qemu-user-data", "@hostname image-check", "@hostname localhost", `"localhost"`},
		{"qemu-identity", "@machine-id 32", "@machine-id 0", "of 0 characters"},
		{"qemu-identity", "@host-key ssh_host_ed25519_key\n", "", "these SSH keys"},
		{"qemu-services", "containerd active", "containerd failed", "containerd failed"},
		{"qemu-services", "kubelet inactive", "kubelet activating", "kubelet activating"},
		{"qemu-images", "@image registry.k8s.io/pause   3.10", "@image registry.k8s.io/pause   3.9", "no image registry.k8s.io/pause:3.10"},
		{"qemu-images", "@image registry.k8s.io/pause   3.10   0123456789abc   1.0MB", "@image connection refused", "connection refused"},
		{"qemu-network", "10.0.2.15", "169.254.1.1", "169.254.1.1"},
		{"qemu-network", "systemd-resolved active", "systemd-resolved inactive", "systemd-resolved inactive"},
		{"qemu-kernel-settings", "ip_forward 1", "ip_forward 0", "ip_forward 0"},
		{"qemu-kernel-settings", "br_netfilter yes", "br_netfilter no", "br_netfilter no"},
		{"qemu-kernel-settings", "cgroup2fs", "tmpfs", "tmpfs"},
		{"qemu-kernel-settings", "@cgroup", "@swap /swap.img file 2G\n@cgroup", "/swap.img"},
		{"qemu-guards", "@container-machine no", "@container-machine yes", "did not leave it alone"},
		{"qemu-guards", "@end", "@laid /usr/local/bin/kubeadm\n@end", "/usr/local/bin/kubeadm"},
		{"container-guards", "@laid", "@laid", "container-machine.service did not run"},
	}
	checks := slices.Concat(qemuBoot(), containerBoot())
	tried := make(map[string]bool)
	for _, flaw := range flaws {
		tried[flaw.check] = true
		t.Run(flaw.check+" "+flaw.found, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(checks, func(c bootCheck) bool { return c.name == flaw.check })
			replace := strings.NewReplacer(flaw.from, flaw.to)
			_, err := checks[at].judge(bootOf(replace.Replace(goodReport), replace.Replace(goodConsole)))
			var p *problem
			if !errors.As(err, &p) || !strings.Contains(p.found, flaw.found) || p.do == "" {
				t.Errorf("it says %v, want %q", err, flaw.found)
			}
		})
	}
	for _, check := range qemuBoot() {
		if !tried[check.name] {
			t.Errorf("nothing shows that %s can fail", check.name)
		}
	}
}

// A guest that says nothing at all fails every check.
func TestASilentGuestFailsEverything(t *testing.T) {
	t.Parallel()
	for _, check := range slices.Concat(qemuBoot(), containerBoot()) {
		if _, err := check.judge(bootOf("", "")); err == nil {
			t.Errorf("%s passed", check.name)
		}
	}
}
