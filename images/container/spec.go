package container

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// spec describes a machine to the container runtime: a container that may do all that this host lets it do, in namespaces of its
// own, whose first process is an init system.
func (r *Runtime) spec(m Machine) *specs.Spec {
	devices := []specs.LinuxDevice{device("/dev/kmsg", 1, 11), device("/dev/fuse", 10, 229)}
	return &specs.Spec{
		Version:  "1.2.0",
		Hostname: m.Name,
		Root:     &specs.Root{Path: mountPoint(m.Dir)},
		Process: &specs.Process{
			Terminal: true, // the console
			Args:     []string{"/sbin/init"},
			// systemd then knows that it runs in a container, and what its console can do.
			Env: []string{"container=docker", "TERM=dumb", "PATH=" + searchPath},
			Cwd: "/",
			Capabilities: &specs.LinuxCapabilities{
				Bounding: r.capabilities, Effective: r.capabilities, Permitted: r.capabilities,
			},
			Rlimits: []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Hard: r.openFiles, Soft: r.openFiles}},
		},
		Mounts: mounts(m.Dir),
		Linux: &specs.Linux{
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.MountNamespace},
				{Type: specs.CgroupNamespace}, {Type: specs.NetworkNamespace},
			},
			CgroupsPath:       filepath.Join(r.cfg.Cgroup, m.Name),
			Devices:           devices,
			Resources:         &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}},
			RootfsPropagation: "rshared",
			Sysctl:            sysctls(),
			// systemd raises fs.file-max as its very first act, and that is the host's.
			ReadonlyPaths: []string{"/proc/sys/fs", "/proc/sys/kernel", "/proc/sys/vm", "/proc/sysrq-trigger"},
		},
	}
}

func device(path string, major, minor int64) specs.LinuxDevice {
	mode, root := os.FileMode(0o666), uint32(0)
	return specs.LinuxDevice{Path: path, Type: "c", Major: major, Minor: minor, FileMode: &mode, UID: &root, GID: &root}
}

// sysctls of the machine's network that Kubernetes needs. Not every kernel has the second.
func sysctls() map[string]string {
	out := map[string]string{"net.ipv4.ip_forward": "1"}
	if _, err := os.Stat("/proc/sys/net/bridge/bridge-nf-call-iptables"); err == nil {
		out["net.bridge.bridge-nf-call-iptables"] = "1"
	}
	return out
}

func mounts(dir string) []specs.Mount {
	mount := func(kind, target string, options ...string) specs.Mount {
		return specs.Mount{Destination: target, Type: kind, Source: kind, Options: options}
	}
	out := []specs.Mount{
		mount("proc", "/proc"),
		mount("tmpfs", "/dev", "nosuid", "mode=755", "size=65536k"),
		mount("devpts", "/dev/pts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"),
		mount("tmpfs", "/dev/shm", "nosuid", "nodev", "mode=1777"),
		mount("mqueue", "/dev/mqueue", "nosuid", "noexec", "nodev"),
		mount("sysfs", "/sys", "nosuid", "noexec", "nodev", "rw"),
		mount("cgroup", "/sys/fs/cgroup", "nosuid", "noexec", "nodev", "rw"),
		mount("tmpfs", "/run", "nosuid", "nodev", "mode=755"),
		mount("tmpfs", "/tmp", "nosuid", "nodev", "mode=1777"),
	}
	for name, target := range volumes() {
		out = append(out, specs.Mount{Destination: target, Type: "bind", Source: filepath.Join(dir, name), Options: []string{"rbind", "rw"}})
	}
	return out
}

// capabilityNames in the order of their numbers in the kernel.
const capabilityNames = "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE " +
	"NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE " +
	"SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM " +
	"BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"

// boundingSet lists the capabilities that a machine gets: those that this process may pass on, but for what is the host's alone.
func boundingSet() ([]string, error) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return nil, fmt.Errorf("reading the capabilities: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "CapBnd:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the capabilities: %w", err)
			}
			return capabilitiesOf(set), nil
		}
	}
	return nil, fmt.Errorf("reading the capabilities: %w", lines.Err())
}

func capabilitiesOf(set uint64) []string {
	var out []string
	for number, name := range strings.Fields(capabilityNames) {
		// A machine must not load modules into the host's kernel, touch its hardware or set its clock.
		if set&(1<<number) != 0 && name != "SYS_MODULE" && name != "SYS_RAWIO" && name != "SYS_TIME" {
			out = append(out, "CAP_"+name)
		}
	}
	return out
}

// openFilesLimit is how many files a process of a machine may open: what we may, for raising it needs a capability that not every
// host gives.
func openFilesLimit() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("reading the limit of open files: %w", err)
	}
	return min(limit.Max, 1<<20), nil
}
