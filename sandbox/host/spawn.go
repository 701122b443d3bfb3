package host

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files that the first process of the sandbox inherits, and hands on to the daemon; to that with another one in the lock's place.
const (
	fileLock = 3 + iota
	fileProgress
	fileHostProc
	fileManagement
	fileWorkload
	fileMaas
	fileEnd

	// fileExits tells the daemon how processes end.
	fileExits = fileLock
)

// Listeners are the sockets on the host's loopback that lead into the sandbox.
type Listeners struct {
	Management, Workload, Maas net.Listener
}

// Ports of the host's loopback; 0 is any free one.
type Ports struct {
	Management int `json:"management"`
	Workload   int `json:"workload"`
	Maas       int `json:"maas"`
}

// Listen opens the sockets. The error says which port is in use.
func Listen(p Ports) (*Listeners, Ports, error) {
	l := &Listeners{}
	actual := Ports{}
	for _, each := range []struct {
		what     string
		flag     string
		port     int
		listener *net.Listener
		actual   *int
	}{
		{"the management cluster", "management-port", p.Management, &l.Management, &actual.Management},
		{"workload clusters", "workload-port", p.Workload, &l.Workload, &actual.Workload},
		{"the MAAS API", "maas-port", p.Maas, &l.Maas, &actual.Maas},
	} {
		//nolint:noctx // Listening on the loopback does not wait for anything.
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", each.port))
		if err != nil {
			l.Close()
			return nil, Ports{}, fmt.Errorf("port %d of 127.0.0.1 for %s cannot be used (choose another with --%s, or 0 for any free one): %w", each.port, each.what, each.flag, err)
		}
		*each.listener = listener
		*each.actual = listener.Addr().(*net.TCPAddr).Port
	}
	return l, actual, nil
}

// Close closes those that are open.
func (l *Listeners) Close() {
	for _, listener := range []net.Listener{l.Management, l.Workload, l.Maas} {
		if listener != nil {
			listener.Close()
		}
	}
}

// Spawn starts this program again as the first process of new namespaces, with the given arguments. It gets the lock, the write
// end of a pipe for its progress, and the listeners. What it writes to its standard output goes to output.
func Spawn(lock *os.File, listeners *Listeners, output *os.File, args ...string) (*exec.Cmd, *os.File, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("finding this program: %w", err)
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, nil, fmt.Errorf("opening the process table: %w", err)
	}
	defer proc.Close()
	progress, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer write.Close()
	files := []*os.File{lock, write, proc}
	for _, listener := range []net.Listener{listeners.Management, listeners.Workload, listeners.Maas} {
		file, err := listener.(*net.TCPListener).File()
		if err != nil {
			progress.Close()
			return nil, nil, fmt.Errorf("handing on a socket: %w", err)
		}
		defer file.Close()
		files = append(files, file)
	}
	//nolint:noctx // It outlives the command that starts it.
	cmd := exec.Command(program, args...)
	cmd.ExtraFiles = files
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Setsid:     true, // Ctrl-C in the terminal is for the command, not for the sandbox.
	}
	if err := cmd.Start(); err != nil {
		progress.Close()
		if errors.Is(err, os.ErrPermission) {
			err = fmt.Errorf("%w: this root may not make namespaces, as in a container that is not privileged", err)
		}
		return nil, nil, fmt.Errorf("starting in new namespaces: %w", err)
	}
	return cmd, progress, nil
}

// Environment is that of all programs in the sandbox. Proxies, kubeconfigs and the like of whoever starts it do not count in there.
func Environment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
}

// Inherited are the files that the daemon gets.
type Inherited struct {
	Progress  *os.File
	HostProc  *os.File
	Exits     *os.File
	Listeners Listeners
}

// Inherit opens the files that Spawn handed on. None of them passes to the daemon's own children.
func Inherit() (*Inherited, error) {
	for fd := fileLock; fd < fileEnd; fd++ {
		syscall.CloseOnExec(fd)
	}
	in := &Inherited{
		Progress: os.NewFile(fileProgress, "progress"), HostProc: os.NewFile(fileHostProc, "proc"), Exits: os.NewFile(fileExits, "exits"),
	}
	for fd, listener := range map[int]*net.Listener{
		fileManagement: &in.Listeners.Management, fileWorkload: &in.Listeners.Workload, fileMaas: &in.Listeners.Maas,
	} {
		file := os.NewFile(uintptr(fd), "listener")
		if file == nil {
			return nil, fmt.Errorf("socket %d was not handed on", fd)
		}
		opened, err := net.FileListener(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("opening a socket that was handed on: %w", err)
		}
		*listener = opened
	}
	return in, nil
}
