package simulator

import (
	"net/http"
	"time"
)

// outcome is how the work ended that a request has set off and waits for.
type outcome struct {
	done    chan struct{}
	refused *refusal // set before done is closed
}

func newOutcome() *outcome { return &outcome{done: make(chan struct{})} }

// end is called once; refused becomes the answer of a request that waits. A nil
// outcome is one that nobody waits for.
func (o *outcome) end(refused *refusal) {
	if o == nil {
		return
	}
	o.refused = refused
	close(o.done)
}

// longest is how long a request may take: MAAS's own proxy gives up then.
// MAAS 3.2 and newer: proxy_read_timeout 900s.
const longest = 15 * time.Minute

// await waits for what a request has set off, as MAAS does after the commit and
// before the answer. What happens, happens also when the client is gone; a
// virtual clock that stands still is not waited for. The lock must not be held.
func (e *execution) await(todo []work) *refusal {
	r := e.region
	var first *refusal
	for _, w := range todo {
		if w.outcome == nil {
			continue
		}
		ctx, cancel := e.present()
		began := r.clock.Now()
		ended := r.waitFor(ctx, w.outcome.done, longest)
		cancel()
		switch {
		case ended:
			if first == nil {
				first = w.outcome.refused
			}
		case r.clock.Now().Sub(began) >= longest:
			return nginxAnswer(http.StatusGatewayTimeout).answer()
		}
	}
	return first
}

// hold lets the request wait for so long, and refuses it then if refused is not
// nil. What the request did stays done.
func (t *tx) hold(d time.Duration, refused *refusal) {
	o := newOutcome()
	t.work = append(t.work, work{delay: d, run: func() { o.end(refused) }, outcome: o})
}

// holdForever lets the request wait for what never comes.
func (t *tx) holdForever() {
	t.work = append(t.work, work{run: func() {}, outcome: newOutcome()})
}
