// Package machines boots machines that the simulated MAAS deploys: containers with an init system of their own, on a disk made of
// the image that was uploaded. A machine knows of the region what a MAAS machine knows, and cloud-init does the rest.
package machines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/capmaas/cluster-api-provider-maas/images/container"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

// Config says where machines live and what they are made of.
type Config struct {
	// Dir holds a folder for each machine, named by system ID, and the console logs, named by hostname.
	Dir string
	// Roots has the images unpacked.
	Roots *roots.Cache
	// Runc is the program, and RuncState its folder.
	Runc, RuncState string
	// Cgroup under which each machine has its own, from the root of the hierarchies.
	Cgroup string
	// Bridge that the machines are plugged to.
	Bridge string
	Log    *slog.Logger
	// Exit delivers how a process ends that was left to the first process of the namespaces.
	Exit func(pid int) <-chan syscall.WaitStatus
	// Installing is told what a machine waits for before it boots, and that it came: "unpacking custom/foo", "unpacked custom/foo".
	Installing func(systemID, what string)
	// Lost is told the system ID of a machine that switched itself off.
	Lost func(systemID string)
}

// Booter boots machines; it is the region's simulator.Booter.
type Booter struct {
	cfg     Config
	runtime *container.Runtime

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
	// disk is what its disk was made of; nil as long as it has none.
	disk atomic.Pointer[disk]
	// running is nil when it is off. It is another one with each boot.
	running *container.Running
}

// name is that of its container.
func (m *machine) name() string { return m.boot.Hostname }

// New makes a Booter without machines.
func New(cfg Config) (*Booter, error) {
	runtime, err := container.New(container.Config{Runc: cfg.Runc, State: cfg.RuncState, Cgroup: cfg.Cgroup, Exit: cfg.Exit})
	if err != nil {
		return nil, err
	}
	return &Booter{cfg: cfg, runtime: runtime, machines: map[string]*machine{}}, nil
}

// Boot starts a machine, on the disk it had, or on a fresh one of the image it was deployed with. That the image has to be unpacked first
// may take a while.
func (b *Booter) Boot(ctx context.Context, boot simulator.BootMachine) error {
	m := b.machine(boot.SystemID)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil {
		return nil
	}
	m.boot = boot
	if m.disk.Load() == nil {
		made, err := b.unpacked(ctx, boot)
		if err != nil {
			b.cfg.Log.Error("machine has nothing to boot", "machine", boot.SystemID, "name", m.name(), "image", boot.Image, "error", err)
			return err
		}
		m.disk.Store(made)
	}
	return b.boot(ctx, m)
}

// boot starts a machine that does not run. The caller holds its lock.
func (b *Booter) boot(ctx context.Context, m *machine) error {
	boot, disk := m.boot, m.disk.Load()
	running, err := b.runtime.Start(ctx, container.Machine{
		Name: m.name(), Dir: m.dir, Root: disk.root, Console: b.console(boot),
		Prepare: func(root string) error { return writeIdentity(root, boot) },
		Plug:    func(pid int) error { return plug(b.cfg.Bridge, cableName(boot.SystemID), pid, boot.Interface) },
	})
	if err != nil {
		return fmt.Errorf("booting %s: %w", m.name(), err)
	}
	m.running = running
	b.cfg.Log.Info("machine boots", "machine", boot.SystemID, "name", m.name(), "address", boot.Interface.Address,
		"image", disk.Image, "sha256", disk.SHA256)
	go func() {
		<-running.Ended()
		// The machine outlives the request to boot it.
		b.ended(context.WithoutCancel(ctx), m, running)
	}()
	return nil
}

func (b *Booter) console(boot simulator.BootMachine) string {
	return filepath.Join(b.cfg.Dir, boot.Hostname+".console.log")
}

// ended is called when a machine ended. Where nobody halted it, it reboots, switched itself off, or its init system crashed.
func (b *Booter) ended(ctx context.Context, m *machine, running *container.Running) {
	m.mu.Lock()
	if m.running != running {
		m.mu.Unlock()
		return
	}
	err := b.stop(ctx, m)
	if err == nil && running.Rebooted() {
		err = b.boot(ctx, m)
	}
	off, systemID, name := m.running == nil, m.boot.SystemID, m.name()
	m.mu.Unlock()
	switch {
	case err != nil:
		b.cfg.Log.Error("machine ended by itself", "machine", systemID, "name", name, "error", err)
	case running.Rebooted():
		b.cfg.Log.Info("machine rebooted", "machine", systemID, "name", name)
	default:
		b.cfg.Log.Info("machine is off", "machine", systemID, "name", name, "switchedItselfOff", running.SwitchedOff())
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
		m.disk.Store(nil)
		if err := os.RemoveAll(m.dir); err != nil {
			return fmt.Errorf("removing the disk of %s: %w", m.name(), err)
		}
	}
	b.cfg.Log.Info("machine halted", "machine", systemID, "name", m.name(), "wiped", wipe)
	return nil
}

// stop makes sure that nothing of a machine runs or is mounted. Its disk stays.
func (b *Booter) stop(ctx context.Context, m *machine) error {
	m.running = nil
	return b.runtime.Remove(ctx, m.name(), m.dir)
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

// errNotUploaded is a deploy of what MAAS has from an image stream, of which the simulator has no content.
var errNotUploaded = errors.New("the sandbox boots only images that were uploaded, which this one was not")
