package checks

import (
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// maxSkew is by how much the clocks may differ before we say so. MAAS refuses what is more than 300 s old.
	maxSkew = time.Minute
	// settledSkew is below which they agree again.
	settledSkew = 50 * time.Second
)

// Clock compares MAAS's clock with ours, by the dates of its answers. It costs no requests, and is safe for concurrent use.
type Clock struct {
	now func() time.Time

	mu      sync.Mutex
	reading ClockReading
}

// ClockReading is what a [Clock] saw last.
type ClockReading struct {
	// Known says that MAAS gave its time.
	Known bool
	// Skew is by how much MAAS's clock is ahead of ours, at least; 0 where the answers do not prove that they differ.
	Skew time.Duration
	// Differs says that this is more than a minute.
	Differs bool
}

// NewClock returns a clock that compares with now; nil means time.Now.
func NewClock(now func() time.Time) *Clock {
	if now == nil {
		now = time.Now
	}
	return &Clock{now: now}
}

// Observe reads the time of an answer. It is made for maas.Config.Observe.
func (c *Clock) Observe(call maas.Call) {
	if call.ServerTime.IsZero() || call.Kind == maas.KindNotMAAS {
		return
	}
	end := c.now()
	begin := end.Add(-call.Duration)
	// The server wrote its time, in whole seconds, somewhen between the two.
	skew := max(call.ServerTime.Sub(end), 0)
	if latest := call.ServerTime.Add(time.Second); latest.Before(begin) {
		skew = latest.Sub(begin)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bound := maxSkew
	if c.reading.Differs {
		bound = settledSkew
	}
	c.reading = ClockReading{Known: true, Skew: skew, Differs: skew.Abs() > bound}
}

// Reading returns what was seen last.
func (c *Clock) Reading() ClockReading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading
}
