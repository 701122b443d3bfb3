package roots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// errBusy says that another process has the lock.
var errBusy = errors.New("in use")

// lockRoot takes a lock, and waits for it until ctx ends. It is let go of when the file is closed, or its process ends.
func lockRoot(ctx context.Context, path string, how int) (*os.File, error) {
	for {
		lock, err := tryLock(path, how)
		if !errors.Is(err, errBusy) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another process that unpacks an image: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func tryLock(path string, how int) (*os.File, error) {
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of an unpacked image: %w", err)
	}
	err = unix.Flock(int(lock.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || err == nil && !isAt(lock, path) {
		// One that was removed in the meantime locks nothing.
		err = errBusy
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// isAt says whether the file is still that of this name.
func isAt(file *os.File, path string) bool {
	have, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(have, there)
}
