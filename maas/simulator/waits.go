package simulator

import (
	"context"
	"time"
)

// RequestTimer is what a Clock may implement to say how requests spend their
// time. Without it they sleep in real time.
type RequestTimer interface {
	// Wait returns once d has passed, or ctx is done.
	Wait(ctx context.Context, d time.Duration)
}

// ClientTimer is what a Clock may implement whose clients live in another time:
// the timestamps of their requests are judged by it. Without it they live in
// the region's.
type ClientTimer interface {
	ClientNow() time.Time
}

// clientTime is the time that the region's clients have.
func (r *Region) clientTime() time.Time {
	if c, ok := r.clock.(ClientTimer); ok {
		return c.ClientNow()
	}
	return r.clock.Now()
}

// wait lets a request take so long, or until its client is gone. Everything
// that holds up a request goes through here or through waitFor. The lock must
// not be held.
func (r *Region) wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	if c, ok := r.clock.(RequestTimer); ok {
		c.Wait(ctx, d)
		return
	}
	sleep(ctx, d)
}

// waitFor holds up a request until done is closed by what the region's clock
// brings about, at most so long on that clock, or until its client is gone. It
// says whether done was closed. On a virtual clock that stands still there is
// nothing to wait for: its only user waits for the answer before he moves it.
// The lock must not be held.
func (r *Region) waitFor(ctx context.Context, done <-chan struct{}, most time.Duration) bool {
	if c, ok := r.clock.(*VirtualClock); ok {
		return c.waitFor(done, most)
	}
	tooLong := make(chan struct{})
	cancel := r.clock.AfterFunc(most, func() { close(tooLong) })
	defer cancel()
	select {
	case <-done:
		return true
	case <-tooLong:
	case <-ctx.Done():
	}
	return isClosed(done)
}

// stopwatch is the time by which requests are measured.
func (r *Region) stopwatch() time.Time {
	if c, ok := r.clock.(*VirtualClock); ok && c.movesWithRequests() {
		return c.Now()
	}
	return time.Now()
}

// sleep waits in real time.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
