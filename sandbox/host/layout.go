// Package host is the sandbox's hold on the machine it runs on: the checks before a start, the namespaces in which everything
// runs, the few sockets that lead into them, and the clean-up. Nothing outside of these namespaces is changed, but for cgroups
// and, when asked for, one host limit.
package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Layout names the places of one sandbox. All paths are absolute.
type Layout struct {
	// Root is the checkout of this project.
	Root string
	// State is the folder of the running sandbox (.sandbox).
	State string
	// Build is the folder of what was built (_build).
	Build string
}

// NewLayout makes the paths absolute. Empty folders are .sandbox and _build in root.
func NewLayout(root, state, build string) (Layout, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Layout{}, fmt.Errorf("finding the project: %w", err)
	}
	place := func(dir, fallback string) string {
		if dir == "" {
			dir = fallback
		}
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
		return filepath.Join(root, dir)
	}
	return Layout{Root: root, State: place(state, ".sandbox"), Build: place(build, "_build")}, nil
}

// FindRoot looks for the checkout from dir upwards: the folder that holds templates and the sandbox's module.
func FindRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "sandbox", "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not inside a checkout of this project", dir)
		}
	}
}

// Bin is a program that was built.
func (l Layout) Bin(name string) string { return filepath.Join(l.Build, "bin", name) }

// Images is the folder of the machine images that were built, with their manifests.
func (l Layout) Images() string { return filepath.Join(l.Build, "images") }

// Roots is the folder of machine images that were unpacked.
func (l Layout) Roots() string { return filepath.Join(l.Build, "roots") }

// Run holds what only a running sandbox needs.
func (l Layout) Run(elements ...string) string {
	return filepath.Join(append([]string{l.State, "run"}, elements...)...)
}

// Logs is the folder of the components' logs, which outlive the sandbox.
func (l Layout) Logs() string { return filepath.Join(l.State, "logs") }

// Log is the log of one component.
func (l Layout) Log(component string) string { return filepath.Join(l.Logs(), component+".log") }

// Machines is the folder of the machines' disks and console logs.
func (l Layout) Machines() string { return filepath.Join(l.State, "machines") }

// Disk is the folder that holds what a machine has on its disk.
func (l Layout) Disk(systemID string) string { return filepath.Join(l.Machines(), systemID) }

// Console is the log of what a machine says on its console.
func (l Layout) Console(machine string) string {
	return filepath.Join(l.Machines(), machine+".console.log")
}

// ControlSocket is where a running sandbox answers.
func (l Layout) ControlSocket() string { return filepath.Join(l.State, "control.sock") }

// ManagementKubeconfig leads from the host to the management cluster.
func (l Layout) ManagementKubeconfig() string { return filepath.Join(l.State, "management.kubeconfig") }

// WorkloadKubeconfig leads from the host to a workload cluster.
func (l Layout) WorkloadKubeconfig(cluster string) string {
	return filepath.Join(l.State, cluster+".kubeconfig")
}

// MaasEnvironment holds MAAS_ENDPOINT and MAAS_API_KEY for the host.
func (l Layout) MaasEnvironment() string { return filepath.Join(l.State, "maas.env") }

// tuned remembers host limits that were raised, until they are put back.
func (l Layout) tuned() string { return filepath.Join(l.State, "tuned.json") }

// reservation holds how many inotify instances the sandbox takes.
func (l Layout) reservation() string { return l.Run("inotify") }

func (l Layout) lock() string { return filepath.Join(l.State, "lock") }

// CgroupName is the name, under cgroupParent, of this sandbox's cgroups: two sandboxes on one machine do not meet. It follows
// from the place of the state folder, so that it is known when everything in there is lost.
func (l Layout) CgroupName() string {
	sum := sha256.New()
	fmt.Fprint(sum, l.State)
	if info, err := os.Stat(filepath.Dir(l.State)); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			// The same path may be another folder in a chroot.
			fmt.Fprint(sum, " ", stat.Dev, " ", stat.Ino)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:8]
}

// CgroupPath is the cgroup, from the root of every hierarchy, that holds the machines' cgroups.
func (l Layout) CgroupPath() string { return filepath.Join("/", cgroupParent, l.CgroupName()) }

// Make makes the folders of a sandbox that starts.
func (l Layout) Make() error {
	for _, dir := range []string{l.State, l.Run(), l.Logs(), l.Machines()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making the sandbox's folder: %w", err)
		}
	}
	// Keys and disks of machines are nobody else's business.
	for _, dir := range []string{l.Run(), l.Machines()} {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("making the sandbox's folder: %w", err)
		}
	}
	return nil
}
