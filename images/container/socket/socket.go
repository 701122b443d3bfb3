// Package socket makes unix sockets whose paths may be longer than the 107 characters that a socket's address holds.
package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// Listen listens on a socket, and takes the place of one that is left over. Only the same user may connect. The file stays when the
// listener is closed.
func Listen(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	defer dir.Close()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: throughDir(dir, path), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	// Its address leads through a file that is closed by then.
	listener.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("making a socket: %w", err), listener.Close())
	}
	return listener, nil
}

// Dial connects to such a socket.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return (&net.Dialer{}).DialContext(ctx, "unix", throughDir(dir, path))
}

func throughDir(dir *os.File, path string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
}
