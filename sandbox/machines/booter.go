// Package machines boots machines that the simulated MAAS deploys: containers with an init system of their own, on a disk made of
// the machine image. A machine knows of the region what a MAAS machine knows, and cloud-init does the rest.
package machines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Config says where machines live and what they are made of.
type Config struct {
	// Dir holds a folder for each machine, named by system ID, and the console logs, named by hostname.
	Dir string
	// Rootfs is the machine image; ImageStore a containerd folder with container images in it.
	Rootfs, ImageStore string
	// Runc is the program, and RuncState its folder.
	Runc, RuncState string
	// Cgroup under which each machine has its own, from the root of the hierarchies.
	Cgroup string
	// Bridge that the machines are plugged to.
	Bridge string
	Log    *slog.Logger
	// Exit delivers how a process ends that was left to the first process of the namespaces.
	Exit func(pid int) <-chan syscall.WaitStatus
	// Lost is told the system ID of a machine that switched itself off.
	Lost func(systemID string)
}

// Booter boots machines; it is the region's simulator.Booter.
type Booter struct {
	cfg Config
	// capabilities are all that this machine has to give.
	capabilities []string
	openFiles    uint64

	mu       sync.Mutex
	machines map[string]*machine
}

var _ simulator.Booter = (*Booter)(nil)

// machine is one that was booted at least once.
type machine struct {
	mu  sync.Mutex
	dir string
	// boot is what it was booted with last.
	boot simulator.BootMachine
	// exit delivers how it ends; nil when it is off. It is another one with each boot.
	exit <-chan syscall.WaitStatus
}

// name is that of its container.
func (m *machine) name() string { return m.boot.Hostname }

// New makes a Booter without machines.
func New(cfg Config) (*Booter, error) {
	capabilities, err := boundingSet()
	if err != nil {
		return nil, err
	}
	openFiles, err := openFilesLimit()
	if err != nil {
		return nil, err
	}
	return &Booter{cfg: cfg, capabilities: capabilities, openFiles: openFiles, machines: map[string]*machine{}}, nil
}

// Boot starts a machine, on the disk it had, or on a fresh one.
func (b *Booter) Boot(ctx context.Context, boot simulator.BootMachine) error {
	m := b.machine(boot.SystemID)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exit != nil {
		return nil
	}
	m.boot = boot
	return b.boot(ctx, m)
}

// boot starts a machine that does not run. The caller holds its lock.
func (b *Booter) boot(ctx context.Context, m *machine) error {
	if err := b.start(ctx, m); err != nil {
		return fmt.Errorf("booting %s: %w", m.name(), errors.Join(err, b.stop(context.WithoutCancel(ctx), m)))
	}
	b.cfg.Log.Info("machine boots", "machine", m.boot.SystemID, "name", m.name(), "address", m.boot.Interface.Address)
	return nil
}

func (b *Booter) start(ctx context.Context, m *machine) error {
	if err := b.makeDisk(ctx, m.dir); err != nil {
		return err
	}
	root := filepath.Join(m.dir, "root")
	if err := writeIdentity(root, m.boot); err != nil {
		return err
	}
	if err := writeSpec(m.dir, b.spec(m)); err != nil {
		return err
	}
	console, err := openConsole(filepath.Join(b.cfg.Dir, m.name()+".console.log"), filepath.Join(m.dir, consoleSocket))
	if err != nil {
		return err
	}
	pid, err := b.create(ctx, m)
	if err != nil {
		console.close()
		return err
	}
	exit := b.cfg.Exit(pid)
	if err := plug(b.cfg.Bridge, cableName(m.boot.SystemID), pid, m.boot.Interface); err != nil {
		console.close()
		return err
	}
	if err := b.runc(ctx, "start", m.name()); err != nil {
		console.close()
		return err
	}
	m.exit = exit
	go func() {
		status := <-exit
		console.close()
		// The machine outlives the request to boot it.
		b.ended(context.WithoutCancel(ctx), m, exit, status)
	}()
	return nil
}

// How the kernel ends the first process of a machine that asked for it.
const (
	endOfReboot   = syscall.SIGHUP
	endOfPowerOff = syscall.SIGINT
)

// ended is called when a machine ended. Where nobody halted it, it reboots, switched itself off, or its init system crashed.
func (b *Booter) ended(ctx context.Context, m *machine, exit <-chan syscall.WaitStatus, status syscall.WaitStatus) {
	m.mu.Lock()
	if m.exit != exit {
		m.mu.Unlock()
		return
	}
	reboots := status.Signaled() && status.Signal() == endOfReboot
	err := b.stop(ctx, m)
	if err == nil && reboots {
		err = b.boot(ctx, m)
	}
	off, systemID, name := m.exit == nil, m.boot.SystemID, m.name()
	m.mu.Unlock()
	switch {
	case err != nil:
		b.cfg.Log.Error("machine ended by itself", "machine", systemID, "name", name, "error", err)
	case reboots:
		b.cfg.Log.Info("machine rebooted", "machine", systemID, "name", name)
	default:
		itself := status.Signaled() && status.Signal() == endOfPowerOff
		b.cfg.Log.Info("machine is off", "machine", systemID, "name", name, "switchedItselfOff", itself)
	}
	if off {
		b.cfg.Lost(systemID)
	}
}

// Halt stops a machine, and forgets its disk if wipe is set.
func (b *Booter) Halt(ctx context.Context, systemID string, wipe bool) error {
	b.mu.Lock()
	m := b.machines[systemID]
	b.mu.Unlock()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := b.stop(ctx, m); err != nil {
		return fmt.Errorf("halting %s: %w", m.name(), err)
	}
	if wipe {
		if err := os.RemoveAll(m.dir); err != nil {
			return fmt.Errorf("removing the disk of %s: %w", m.name(), err)
		}
	}
	b.cfg.Log.Info("machine halted", "machine", systemID, "name", m.name(), "wiped", wipe)
	return nil
}

// stop makes sure that nothing of a machine runs or is mounted. Its disk stays.
func (b *Booter) stop(ctx context.Context, m *machine) error {
	m.exit = nil
	return errors.Join(b.remove(ctx, m.name()), unmount(m.dir))
}

func (b *Booter) machine(systemID string) *machine {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.machines[systemID]
	if m == nil {
		m = &machine{dir: filepath.Join(b.cfg.Dir, systemID)}
		b.machines[systemID] = m
	}
	return m
}
