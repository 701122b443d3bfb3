package simulator

import (
	"container/heap"
	"sync"
	"time"
)

// Clock is the region's time.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once d has passed. The function it returns cancels the
	// call if it has not begun.
	AfterFunc(d time.Duration, f func()) (cancel func())
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// VirtualClock is a clock that moves only when Advance is called.
type VirtualClock struct {
	mu    sync.Mutex
	now   time.Time
	queue dueQueue
	last  int
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

// AfterFunc queues f; Advance calls it.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	item := &dueItem{at: c.now.Add(d), order: c.last, run: f}
	heap.Push(&c.queue, item)
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
	for len(c.queue) > 0 && !c.queue[0].at.After(end) {
		item := heap.Pop(&c.queue).(*dueItem)
		if item.at.After(c.now) {
			c.now = item.at
		}
		if item.run == nil {
			continue
		}
		c.mu.Unlock()
		item.run()
		c.mu.Lock()
	}
	if end.After(c.now) {
		c.now = end
	}
	c.mu.Unlock()
}

// Next says how long it is until the next queued work, and whether there is any.
func (c *VirtualClock) Next() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 && c.queue[0].run == nil {
		heap.Pop(&c.queue)
	}
	if len(c.queue) == 0 {
		return 0, false
	}
	return c.queue[0].at.Sub(c.now), true
}

type dueItem struct {
	at    time.Time
	order int
	run   func()
}

type dueQueue []*dueItem

func (q dueQueue) Len() int { return len(q) }
func (q dueQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].order < q[j].order
	}
	return q[i].at.Before(q[j].at)
}
func (q dueQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *dueQueue) Push(x any)   { *q = append(*q, x.(*dueItem)) }
func (q *dueQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
