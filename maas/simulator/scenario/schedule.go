package scenario

import (
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// begin lets a fault do what no request and no hardware brings about: now and
// whenever its time comes.
func (r *Running) begin(a *armed) {
	switch {
	case a.scheduled():
		r.wake(a, r.actNow)
	case a.word.Group == OnRegion:
		r.wake(a, r.hold)
	case a.fault.Do == Stale:
		r.wake(a, r.look)
	}
}

// wake has f do what is due by now, and comes again when f wants it to: never at
// once, however late it is, so that whoever began the fault may go on.
func (r *Running) wake(a *armed, f func(a *armed, now time.Time) (again time.Time)) {
	if a.isOver() {
		return
	}
	again := f(a, r.clock.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	a.waits = !again.IsZero()
	if a.waits && !a.isOver() {
		a.cancel = r.clock.AfterFunc(max(again.Sub(r.clock.Now()), 0), func() { r.wake(a, f) })
	}
}

// earliest is the first of the times that are not zero.
func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// changes are the times at which the present turn of a fault ends and the next
// begins; zero for never.
func (a *armed) changes(now time.Time) (end, next time.Time) {
	begin, active := a.fault.begun(a.start, now)
	if now.Before(begin) {
		return end, begin
	}
	if active && a.fault.For > 0 {
		end = begin.Add(time.Duration(a.fault.For))
	}
	if a.fault.Every > 0 {
		next = begin.Add(time.Duration(a.fault.Every))
	}
	return end, next
}

// actNow does to machines what operators do, if it is time for it. An act takes
// For as the end of its turns, for no turn lasts.
func (r *Running) actNow(a *armed, now time.Time) time.Time {
	first := a.start.Add(time.Duration(a.fault.After))
	if now.Before(first) {
		return first
	}
	turn := first
	var next time.Time
	if every := time.Duration(a.fault.Every); every > 0 {
		turn = first.Add(now.Sub(first) / every * every)
		next = turn.Add(every)
	}
	if a.turn != turn {
		a.turn = turn
		for _, m := range r.chosen(a) {
			if r.takes(a, now) {
				r.operate(a, m, "")
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.spent() || a.fault.For > 0 && !next.Before(first.Add(time.Duration(a.fault.For))) {
		return time.Time{}
	}
	return next
}

// look keeps a copy of the region for a fault that shows old data.
func (r *Running) look(a *armed, now time.Time) time.Time {
	end, next := a.changes(now)
	var view *simulator.View
	var again time.Time
	if _, active := a.fault.begun(a.start, now); active {
		view, again = r.region.Renew(r.viewOf(a)), now.Add(time.Duration(a.fault.Age))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.view = view
	if a.spent() {
		a.view = nil
		return time.Time{}
	}
	return earliest(end, next, again)
}

// viewOf is what a fault shows; nil for the region as it is.
func (r *Running) viewOf(a *armed) *simulator.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return a.view
}
