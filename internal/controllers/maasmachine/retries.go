package maasmachine

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// asked is how often a machine's release was asked for in vain, so that hardware which does not obey is not asked all the time.
type asked struct {
	// how is what was asked of which machine. What is asked for in another way is asked for at once.
	how   string
	times int
	// since is when it was asked for last, or when the machine came into its present state, if that was later.
	since time.Time
	// err is what MAAS answered; nil means that it took the request.
	err error
	// moved says that the machine left the state in which it was asked for.
	moved bool

	state string // of the machine
}

// due is when the release may be asked for again.
func (a asked) due() time.Time { return a.since.Add(pause(a.times)) }

// pause is how long to wait after so many requests in vain.
func pause(times int) time.Duration {
	if times == 0 {
		return 0
	}
	return min(firstPause<<min(times-1, 10), longestPause)
}

// A person who mends something does not want to wait long, and a machine whose disks are erased starts anew each time.
const (
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
)

// retries remembers it, for all objects. Nothing else depends on it: who forgets asks again sooner.
type retries struct {
	mu sync.Mutex
	of map[client.ObjectKey]map[string]asked // by system ID
}

// see tells what was asked of a machine, as it is now.
func (r *retries) see(key client.ObjectKey, systemID, how, state string, now time.Time) asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.of[key][systemID]
	switch {
	case a.how != how:
		return asked{}
	case a.state != state:
		a.state, a.since, a.err, a.moved = state, now, nil, true
		r.of[key][systemID] = a
	}
	return a
}

// note remembers a request and the answer to it.
func (r *retries) note(key client.ObjectKey, systemID, how, state string, now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[client.ObjectKey]map[string]asked{}
	}
	if r.of[key] == nil {
		r.of[key] = map[string]asked{}
	}
	times := 1
	if before := r.of[key][systemID]; before.how == how {
		times += before.times
	}
	r.of[key][systemID] = asked{how: how, times: times, since: now, err: err, state: state}
}

// forgetOne drops what was asked of one machine.
func (r *retries) forgetOne(key client.ObjectKey, systemID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of[key], systemID)
}

// forget drops all of an object.
func (r *retries) forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
}
