package roots

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errBusy says that another process has the lock.
var errBusy = errors.New("in use")

// tryLock takes a lock, which is let go of when the file is closed, or its process ends. It does not wait: the error is errBusy then.
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

// keep holds a lock until its process ends, and closes the file.
func keep(lock *os.File) (int, error) {
	defer lock.Close()
	// Both are one open file for the kernel, whose lock lasts as long as one of them.
	fd, err := unix.FcntlInt(lock.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("keeping the lock of an unpacked image: %w", err)
	}
	return fd, nil
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
