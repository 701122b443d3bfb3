package container

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capmaas/cluster-api-provider-maas/images/container/socket"
)

// console writes what a machine says on its console to a log. The container runtime hands over the terminal through a socket.
type console struct {
	log    *os.File
	socket *net.UnixListener
	path   string // of the socket
	// ended is closed when the machine has ended, or was never started.
	ended chan struct{}
	once  sync.Once
}

// consoleSocket is its name in a machine's folder.
const consoleSocket = "console.sock"

// openConsole waits for a terminal at a socket, and copies it to the log at path, until close.
func openConsole(path, at string) (*console, error) {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the console log: %w", err)
	}
	listener, err := socket.Listen(at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the console: %w", err), log.Close())
	}
	c := &console{log: log, socket: listener, path: at, ended: make(chan struct{})}
	go c.copy()
	return c, nil
}

// close says that the machine has ended, or will not be started.
func (c *console) close() {
	c.once.Do(func() {
		close(c.ended)
		c.socket.Close()
	})
}

func (c *console) copy() {
	defer c.log.Close()
	terminal, err := c.receive()
	c.socket.Close()
	os.Remove(c.path)
	if err != nil {
		return
	}
	defer terminal.Close()
	// Wide enough that systemd does not shorten the names of units.
	_ = unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200})
	fmt.Fprintf(c.log, "--- power on %s ---\n", time.Now().UTC().Format(time.RFC3339))
	defer func() { fmt.Fprintf(c.log, "\n--- power off %s ---\n", time.Now().UTC().Format(time.RFC3339)) }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := terminal.Read(buffer)
		// A terminal ends its lines for a printer.
		if _, failed := c.log.Write(bytes.ReplaceAll(buffer[:n], []byte("\r"), nil)); failed != nil {
			return
		}
		if err == nil {
			continue
		}
		// The kernel reports an end whenever nobody inside has the console open for a moment.
		select {
		case <-c.ended:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// receive gets the terminal from the container runtime.
func (c *console) receive() (*os.File, error) {
	connection, err := c.socket.AcceptUnix()
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	name, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := connection.ReadMsgUnix(name, rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the container runtime sent no terminal")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the container runtime sent no terminal")
	}
	unix.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "terminal"), nil
}
