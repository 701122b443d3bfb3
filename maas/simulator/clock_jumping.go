package simulator

import (
	"context"
	"math"
	"sync"
	"time"
)

// JumpingClock is real time that can be moved ahead: a person who does not want
// to wait for what happens in half an hour lets it happen now. Requests take
// their time on it, so a jump ends their waits too. Clients live in real time
// and know nothing of jumps.
type JumpingClock struct {
	jump sync.Mutex // held while the clock is moved

	mu    sync.Mutex
	ahead time.Duration
	queue dueQueue
	timer *time.Timer // for the first in the queue
}

// NewJumpingClock returns a clock that shows real time until Advance is called.
func NewJumpingClock() *JumpingClock { return &JumpingClock{} }

// Now is real time, and all that the clock was moved ahead.
func (c *JumpingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.show()
}

// ClientNow is real time.
func (c *JumpingClock) ClientNow() time.Time { return time.Now() }

// AfterFunc calls f in a goroutine of its own once so much time has passed, or
// from Advance when the clock is moved past that.
func (c *JumpingClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := c.queue.add(c.show().Add(d), f)
	c.wind()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		item.run = nil
	}
}

// Advance moves the clock ahead by d and runs all that becomes due, in order of
// time, before it returns; the clock shows the time of each while it runs. Work
// that this work queues runs too if it is due by then. That work must not call
// Advance. The clock can be moved 292 years ahead in all, and goes no further.
func (c *JumpingClock) Advance(d time.Duration) {
	c.jump.Lock()
	defer c.jump.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.ahead + d
	if d > 0 && target < c.ahead {
		target = math.MaxInt64
	}
	// Real time goes on meanwhile: what becomes due by that is not waited for, or
	// work that queues itself again could keep it going for ever.
	end := time.Now().Add(target)
	for {
		at, run := c.queue.next(end)
		if run == nil {
			break
		}
		if early := at.Sub(c.show()); early > 0 {
			c.ahead += early
		}
		c.mu.Unlock()
		run()
		c.mu.Lock()
	}
	c.ahead = max(c.ahead, target)
	c.wind()
}

// Next says how long it is until the next queued work, and whether there is any.
func (c *JumpingClock) Next() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.queue.first()
	if !ok {
		return 0, false
	}
	return at.Sub(c.show()), true
}

// Wait returns once d has passed on the clock, or ctx is done.
func (c *JumpingClock) Wait(ctx context.Context, d time.Duration) {
	over := make(chan struct{})
	cancel := c.AfterFunc(d, func() { close(over) })
	defer cancel()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

func (c *JumpingClock) show() time.Time { return time.Now().Add(c.ahead) }

// wind sets the timer for the first in the queue.
func (c *JumpingClock) wind() {
	at, ok := c.queue.first()
	if !ok {
		return
	}
	d := max(at.Sub(c.show()), 0)
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.ring)
		return
	}
	c.timer.Reset(d)
}

// ring starts what is due, each in a goroutine of its own, as timers do.
func (c *JumpingClock) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		_, run := c.queue.next(c.show())
		if run == nil {
			break
		}
		go run()
	}
	c.wind()
}
