package scenario

import "time"

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

// wake has f do what is due by now, and comes again when f wants it to.
func (r *Running) wake(a *armed, f func(a *armed, now time.Time) (again time.Time)) {
	for {
		if a.isOver() {
			return
		}
		again := f(a, r.clock.Now())
		if !r.sleep(a, again, func() { r.wake(a, f) }) {
			return
		}
	}
}

// sleep has wake called when it is time again, and says whether that is now.
func (r *Running) sleep(a *armed, again time.Time, wake func()) (now bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.waits = !again.IsZero()
	if !a.waits || a.isOver() {
		return false
	}
	delay := again.Sub(r.clock.Now())
	if delay > 0 {
		a.cancel = r.clock.AfterFunc(delay, wake)
	}
	return delay <= 0
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
	_, active := a.fault.begun(a.start, now)
	view, again := r.region.View(), now.Add(time.Duration(a.fault.Age))
	if !active {
		view, again = nil, time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.view = view
	if active && a.spent() {
		a.view = nil
		return time.Time{}
	}
	return earliest(end, next, again)
}
