package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lineWriter writes whole lines, also when several steps speak at once.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}

// lock waits until no other build uses the output folder. The kernel lets go of it however we end.
func lock(ctx context.Context, path string, log *lineWriter) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, explainFolder(fmt.Errorf("opening the build's lock: %w", err), filepath.Dir(path))
	}
	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if !waiting {
			log.printf("another build is running here; waiting for it to end")
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// ReplaceFile writes a file under a temporary name and renames it, so that nobody ever sees half of it.
func ReplaceFile(path string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, mode); err != nil {
		return err
	}
	if err := os.Chmod(temporary, mode); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// ReplaceTree puts a finished folder in the place of an older one.
func ReplaceTree(from, to string) error {
	if err := refuseWhileInUse(to); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	old := to + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// refuseWhileInUse protects running machines: their file systems are laid over this one, in mount namespaces of their own.
func refuseWhileInUse(path string) error {
	tables, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		return err
	}
	for _, table := range tables {
		// Processes come and go; one that is gone uses nothing.
		content, err := os.ReadFile(table)
		if err == nil && mountsOver(string(content), path) {
			return fmt.Errorf("machines are running from %s: end them first with `make sandbox-down`", path)
		}
	}
	return nil
}

// mountsOver says whether a mount table has an overlay whose lower layers include path.
func mountsOver(mountinfo, path string) bool {
	for _, option := range strings.FieldsFunc(mountinfo, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		key, layers, _ := strings.Cut(option, "=")
		// With a plus where the layers were added one by one.
		if key == "lowerdir" || key == "lowerdir+" {
			for _, layer := range strings.Split(layers, ":") {
				if layer == path || strings.HasPrefix(layer, path+"/") {
					return true
				}
			}
		}
	}
	return false
}
