// Package roots keeps machine images unpacked, each content once, so that machines boot from it at once. Sandboxes of one output
// folder share them.
package roots

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Cache is a folder of root file systems, named for the sha256 of the image that each was unpacked from. What it gave away stays until
// the process ends.
type Cache struct {
	dir string
	// reserve is how many bytes of its disk unpacking leaves free: all of the sandbox stops when there are none.
	reserve uint64

	mu    sync.Mutex
	roots map[string]*root
}

// Has says whether an image is unpacked in the folder of a cache.
func Has(dir, sha256 string) bool {
	return New(dir).has(sha256)
}

// root is one root file system that somebody asked for.
type root struct {
	// ready is closed when it can be used, or err says why not.
	ready chan struct{}
	err   error
	// lock keeps others from removing it: a bare descriptor, which no garbage collector closes.
	lock int
	// done of total bytes of the image were unpacked.
	done, total atomic.Int64
}

// New makes a cache of the folder, which need not be there.
func New(dir string) *Cache { return &Cache{dir: dir, reserve: 1 << 30, roots: map[string]*root{}} }

// Get returns the root file system of an image, and unpacks it first if nobody has done so. file is the image, and sha256 its
// checksum, which is compared. While the caller has to wait, waiting hears about every second how many bytes of the file were unpacked,
// of how many; both are 0 as long as another process does it. Unpacking goes on when ctx ends: others may want it.
func (c *Cache) Get(ctx context.Context, file, sha256 string, waiting func(done, total int64)) (string, error) {
	r := c.find(ctx, file, sha256)
	pause := 300 * time.Millisecond // Nobody wants to know of less.
	for {
		select {
		case <-r.ready:
			if r.err != nil {
				return "", r.err
			}
			return c.path(sha256), nil
		case <-ctx.Done():
			return "", fmt.Errorf("waiting until an image is unpacked: %w", ctx.Err())
		case <-time.After(pause):
		}
		pause = time.Second
		waiting(r.done.Load(), r.total.Load())
	}
}

// find finds the root, or begins to make it. After a failure the next one who asks tries again.
func (c *Cache) find(ctx context.Context, file, sha256 string) *root {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.roots[sha256]; r != nil {
		return r
	}
	r := &root{ready: make(chan struct{})}
	c.roots[sha256] = r
	go func() {
		r.lock, r.err = c.hold(context.WithoutCancel(ctx), r, file, sha256)
		if r.err != nil {
			c.mu.Lock()
			delete(c.roots, sha256)
			c.mu.Unlock()
		}
		close(r.ready)
	}()
	return r
}

func (c *Cache) path(sha256 string) string { return filepath.Join(c.dir, sha256) }

// scratch is the name of a root that is being made or removed.
func (c *Cache) scratch(sha256 string) string { return c.path(sha256) + scratchSuffix }

const (
	scratchSuffix = ".partial"
	lockSuffix    = ".lock"
)
