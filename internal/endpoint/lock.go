package endpoint

import (
	"context"
	"sync"
)

// nameLocks lets one caller at a time work on a name. MAAS replaces whole sets, so two writers would lose each other's changes.
type nameLocks struct {
	mu    sync.Mutex
	names map[string]*nameLock
}

type nameLock struct {
	slot  chan struct{} // holds a token while somebody works
	users int           // who work or wait
}

// lock waits for its turn, or for the end of ctx.
func (l *nameLocks) lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	if l.names == nil {
		l.names = map[string]*nameLock{}
	}
	held, ok := l.names[name]
	if !ok {
		held = &nameLock{slot: make(chan struct{}, 1)}
		l.names[name] = held
	}
	held.users++
	l.mu.Unlock()

	select {
	case held.slot <- struct{}{}:
		return func() {
			<-held.slot
			l.leave(name, held)
		}, nil
	case <-ctx.Done():
		l.leave(name, held)
		return nil, ctx.Err()
	}
}

func (l *nameLocks) leave(name string, held *nameLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held.users--; held.users == 0 {
		delete(l.names, name)
	}
}
