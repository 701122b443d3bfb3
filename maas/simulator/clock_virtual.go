package simulator

import (
	"context"
	"sync"
	"time"
)

// VirtualClock is a clock that moves when Advance is called, and if it is told
// to, with requests.
type VirtualClock struct {
	mu           sync.Mutex
	now          time.Time
	queue        dueQueue
	withRequests bool
}

// NewVirtualClock returns a clock that shows start. Clients of the region have
// to take the time from it too, for a request older than 300 s is refused.
func NewVirtualClock(start time.Time) *VirtualClock { return &VirtualClock{now: start} }

// Now is the time the clock shows.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// MoveWithRequests says whether the clock moves by the time that requests take:
// their Latency, the Delay of a Fault, and how long they wait for hardware, as
// a release does for the power. What becomes due on the way happens before the
// answer arrives. So a program that does one thing after the other sees time
// pass, always in the same way, and nobody sleeps. When it does not move,
// as at first, latencies and delays are slept in real time, and no request
// waits for hardware.
//
// Each request moves the clock by its own time: of several at once the clock
// shows the sum, they overlap as chance will have it, and a client that goes
// away does not stop its request.
func (c *VirtualClock) MoveWithRequests(move bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.withRequests = move
}

func (c *VirtualClock) movesWithRequests() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.withRequests
}

// AfterFunc queues f; Advance calls it.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := c.queue.add(c.now.Add(d), f)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		item.run = nil
	}
}

// Advance moves the clock by d and runs all that becomes due, in order of
// time, on the caller's goroutine. Work that this work queues runs too if it is
// due by then.
func (c *VirtualClock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	c.mu.Unlock()
	for c.runNext(end) {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.After(c.now) {
		c.now = end
	}
}

// runNext moves the clock to the next work that is due by end, runs it, and
// says whether there was any.
func (c *VirtualClock) runNext(end time.Time) bool {
	c.mu.Lock()
	at, run := c.queue.next(end)
	if run != nil && at.After(c.now) {
		c.now = at
	}
	c.mu.Unlock()
	if run == nil {
		return false
	}
	run()
	return true
}

// Next says how long it is until the next queued work, and whether there is any.
func (c *VirtualClock) Next() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.queue.first()
	if !ok {
		return 0, false
	}
	return at.Sub(c.now), true
}

// Wait moves the clock by d if it moves with requests, else it sleeps.
func (c *VirtualClock) Wait(ctx context.Context, d time.Duration) {
	if c.movesWithRequests() {
		c.Advance(d)
		return
	}
	sleep(ctx, d)
}

// waitFor moves the clock, by so much at most, until done is closed.
func (c *VirtualClock) waitFor(done <-chan struct{}, most time.Duration) bool {
	c.mu.Lock()
	end, moves := c.now.Add(most), c.withRequests
	c.mu.Unlock()
	for moves && !isClosed(done) && c.runNext(end) {
	}
	if moves && !isClosed(done) {
		c.mu.Lock()
		if end.After(c.now) {
			c.now = end
		}
		c.mu.Unlock()
	}
	return isClosed(done)
}
