package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Init is the life of the first process in the sandbox's namespaces. It makes the mounts private, starts the daemon (this
// program with args), collects the processes that lost their parents, and ends with the daemon: the kernel then ends all others.
func Init(args []string) (int, error) {
	if os.Getpid() != 1 {
		return 1, errors.New("this is for the first process of a new process namespace")
	}
	for fd := fileLock; fd < fileEnd; fd++ {
		syscall.CloseOnExec(fd)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return 1, fmt.Errorf("making the mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return 1, fmt.Errorf("mounting /proc: %w", err)
	}
	if err := unix.Sethostname([]byte("capmaas-sandbox")); err != nil {
		return 1, fmt.Errorf("setting the host name: %w", err)
	}
	read, exits, err := os.Pipe()
	if err != nil {
		return 1, fmt.Errorf("making a pipe: %w", err)
	}
	daemon, err := startDaemon(args, read)
	if err != nil {
		return 1, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for range signals {
			_ = daemon.Signal(syscall.SIGTERM)
		}
	}()
	return reap(daemon.Pid, exits)
}

func startDaemon(args []string, exits *os.File) (*os.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	// No input. The lock is held here: in its place comes the pipe that tells how processes end.
	files := []*os.File{nil, os.Stdout, os.Stderr, exits}
	for fd := fileProgress; fd < fileEnd; fd++ {
		files = append(files, os.NewFile(uintptr(fd), "inherited"))
	}
	process, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Env: Environment(), Files: files})
	if err != nil {
		return nil, fmt.Errorf("starting the daemon: %w", err)
	}
	for _, file := range files[3:] {
		file.Close()
	}
	return process, nil
}

// reap waits for every process that ends until the daemon does, and tells how they ended.
func reap(daemon int, exits io.Writer) (int, error) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 1, fmt.Errorf("waiting for processes: %w", err)
		case pid == daemon && status.Exited():
			return status.ExitStatus(), nil
		case pid == daemon:
			return 128 + int(status.Signal()), nil
		default:
			tellExit(exits, pid, status)
		}
	}
}
