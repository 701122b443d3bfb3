package roots

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// fullError is an image that does not fit on the disk.
type fullError struct {
	dir           string
	free, reserve uint64
}

func (e *fullError) Error() string {
	return fmt.Sprintf("it does not fit on the disk: %d MB are left under %s, of which %d MB are kept for what runs: make room, and deploy again",
		e.free/1e6, e.dir, e.reserve/1e6)
}

// whileFree returns a context that ends with a fullError when less than reserve bytes are free under dir. stop ends the watch.
func whileFree(ctx context.Context, dir string, reserve uint64) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	// Often enough for the fastest disk, and before anything is written.
	look := func() {
		if free, err := freeUnder(dir); err == nil && free < reserve {
			cancel(&fullError{dir, free, reserve})
		}
	}
	look()
	go func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				look()
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

func freeUnder(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("looking at the disk under %s: %w", dir, err)
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
