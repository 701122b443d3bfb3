// Package container boots a root file system as a container with an init system of its own, as if it were a machine: with a disk, a
// console, and all rights that this host can give but those on its hardware and clock.
package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Config says how containers are run.
type Config struct {
	// Runc is the program, and State its folder.
	Runc, State string
	// Cgroup under which each container has its own, from the root of the hierarchies; / for the root itself.
	Cgroup string
	// Exit delivers how a process ends that is no child of this one. When nil, containers are only known to have ended.
	Exit func(pid int) <-chan syscall.WaitStatus
}

// Runtime runs containers.
type Runtime struct {
	cfg Config
	// capabilities are all that this host has to give.
	capabilities []string
	openFiles    uint64
}

// New makes a runtime without containers.
func New(cfg Config) (*Runtime, error) {
	capabilities, err := boundingSet()
	if err != nil {
		return nil, err
	}
	openFiles, err := openFilesLimit()
	if err != nil {
		return nil, err
	}
	if cfg.Exit == nil {
		cfg.Exit = awaitEnd
	}
	return &Runtime{cfg: cfg, capabilities: capabilities, openFiles: openFiles}, nil
}

// Machine is a container to be started.
type Machine struct {
	// Name is its host name, and by which the runtime knows it.
	Name string
	// Dir holds its disk, and what the runtime has to know. It is made when missing, on the file system of Root.
	Dir string
	// Root is the file system that its disk begins with, which stays untouched.
	Root string
	// Console is the file to which what it says on its console is added.
	Console string
	// Prepare, when not nil, changes the disk before each start. root is the file system as the machine will see it.
	Prepare func(root string) error
	// Plug, when not nil, gives the machine a network, beside its loopback interface. pid is its first process.
	Plug func(pid int) error
}

// Running is a container that was started.
type Running struct {
	runtime *Runtime
	machine Machine
	status  syscall.WaitStatus
	ended   chan struct{}
}

// Start boots a machine, on the disk it had, or on a fresh one, and returns once its init system was started. After an error nothing of
// it runs or is mounted. A machine that ended is not started again before Remove.
func (r *Runtime) Start(ctx context.Context, m Machine) (*Running, error) {
	running, err := r.start(ctx, m)
	if err != nil {
		return nil, errors.Join(err, r.Remove(context.WithoutCancel(ctx), m.Name, m.Dir))
	}
	return running, nil
}

func (r *Runtime) start(ctx context.Context, m Machine) (*Running, error) {
	if err := makeDisk(ctx, m.Root, m.Dir); err != nil {
		return nil, err
	}
	if m.Prepare != nil {
		if err := m.Prepare(mountPoint(m.Dir)); err != nil {
			return nil, err
		}
	}
	if err := writeSpec(m.Dir, r.spec(m)); err != nil {
		return nil, err
	}
	console, err := openConsole(m.Console, filepath.Join(m.Dir, consoleSocket))
	if err != nil {
		return nil, err
	}
	exit, err := r.launch(ctx, m)
	if err != nil {
		console.close()
		return nil, err
	}
	running := &Running{runtime: r, machine: m, ended: make(chan struct{})}
	go func() {
		running.status = <-exit
		console.close()
		close(running.ended)
	}()
	return running, nil
}

// launch makes the container, gives it its network, and starts the init system.
func (r *Runtime) launch(ctx context.Context, m Machine) (<-chan syscall.WaitStatus, error) {
	pid, err := r.create(ctx, m)
	if err != nil {
		return nil, err
	}
	exit := r.cfg.Exit(pid)
	if m.Plug != nil {
		if err := m.Plug(pid); err != nil {
			return nil, err
		}
	}
	return exit, r.runc(ctx, "start", m.Name)
}

// Remove makes sure that nothing of a machine runs or is mounted. Its disk stays. A machine that is not there is fine.
func (r *Runtime) Remove(ctx context.Context, name, dir string) error {
	return errors.Join(r.remove(ctx, name), unmount(dir))
}

// Ended is closed when the machine has ended.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// How the kernel ends the first process of a container that asked for it.
const (
	endOfReboot   = syscall.SIGHUP
	endOfPowerOff = syscall.SIGINT
)

// Rebooted says of a machine that has ended that it did so to boot again.
func (r *Running) Rebooted() bool { return r.endedBy(endOfReboot) }

// SwitchedOff says of a machine that has ended that it switched itself off. It is false when its init system was killed or crashed.
func (r *Running) SwitchedOff() bool { return r.endedBy(endOfPowerOff) }

func (r *Running) endedBy(signal syscall.Signal) bool {
	select {
	case <-r.ended:
		return r.status.Signaled() && r.status.Signal() == signal
	default:
		return false
	}
}

// Exec runs a program inside, and returns what it prints on its standard output. The error has what it prints beside that, and is
// an *exec.ExitError in its chain when the program itself failed.
func (r *Running) Exec(ctx context.Context, argv ...string) (string, error) {
	enter, err := Enter(r.machine.Dir, nil, argv)
	if err != nil {
		return "", err
	}
	output, err := runOutput(ctx, enter[0], enter[1:]...)
	if err != nil {
		return output, fmt.Errorf("%s in %s: %w", strings.Join(argv, " "), r.machine.Name, err)
	}
	return output, nil
}

// PowerOff asks the init system to switch the machine off, and waits until it has ended or ctx ends. It does not remove it.
func (r *Running) PowerOff(ctx context.Context) error {
	// systemd: "poweroff.target is started" by SIGRTMIN+4, which needs no bus.
	const powerOff = "38"
	if err := r.runtime.runc(ctx, "kill", r.machine.Name, powerOff); err != nil {
		return err
	}
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s to switch itself off: %w", r.machine.Name, ctx.Err())
	}
}

// Disk is where a file of a machine's disk lies once it was written, seen from outside, also when the machine does not run. dir is the
// machine's folder, and path one inside.
func Disk(dir, path string) string {
	for name, target := range volumes() {
		if rest, found := strings.CutPrefix(path, target+"/"); found {
			return filepath.Join(dir, name, rest)
		}
	}
	return filepath.Join(dir, "upper", path)
}

func mountPoint(dir string) string { return filepath.Join(dir, "root") }

// makeFolders makes those that are missing.
func makeFolders(dir string, names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}
