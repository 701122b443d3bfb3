package inventory

import (
	"slices"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// How the event log is followed.
const (
	pollAtRest   = 5 * time.Second
	pollMoving   = 2 * time.Second
	longestPoll  = 30 * time.Second // while MAAS is away
	pageSize     = 1000             // MAAS's limit
	checkRestart = 10 * time.Minute
	gapLife      = 10 * time.Second
	mostGaps     = 200
)

// eventLog is the place in MAAS's event log up to which we have read. It is told the time, and does no I/O.
type eventLog struct {
	known bool  // whether we have a place
	last  int64 // the newest entry that was read; 0 if the log had none

	// gaps are numbers before last that were not there. MAAS numbers an entry when it is written and shows it when its transaction
	// is committed, so an entry with a lower number may show up later. Most never do: they are of level AUDIT.
	gaps map[int64]time.Time // when each was first missed

	checked  time.Time // when it was last seen that the log has not started anew
	sent     time.Time // when the last page was asked for
	failures int
	wait     time.Duration // that MAAS asked for
}

// followed says that no event since we began was missed.
func (l *eventLog) followed() bool { return l.known }

// next is what to ask for: where the log ends, or what came since.
func (l *eventLog) next(now time.Time) maas.EventFilter {
	l.sent = now
	if !l.known || now.Sub(l.checked) >= checkRestart {
		return maas.EventFilter{Level: "DEBUG", Limit: 1}
	}
	after := l.last
	for id, missed := range l.gaps {
		if now.Sub(missed) > gapLife {
			delete(l.gaps, id)
			continue
		}
		after = min(after, id-1)
	}
	// After 0 asks for the newest page. Our place is 0 only if the log had no entry, so all that it has now is news.
	return maas.EventFilter{Level: "DEBUG", Limit: pageSize, After: after}
}

// page is what came of asking for one.
type page struct {
	events []maas.Event // not read before, oldest first
	anew   bool         // the log has begun, for us: what was read of machines before proves nothing
	more   bool         // there is more to read at once
}

// took takes the answer.
func (l *eventLog) took(asked maas.EventFilter, answer maas.EventPage, now time.Time) page {
	l.failures, l.wait = 0, 0
	if asked.Limit == 1 {
		return l.tookEnd(answer, now)
	}
	var p page
	first, there := l.last, make(map[int64]bool, len(answer.Events))
	for _, e := range answer.Events {
		there[e.ID] = true
		_, late := l.gaps[e.ID]
		if e.ID > first || late {
			p.events = append(p.events, e)
			delete(l.gaps, e.ID)
		}
		l.last = max(l.last, e.ID)
	}
	slices.SortFunc(p.events, func(a, b maas.Event) int { return int(a.ID - b.ID) })
	if len(answer.Events) >= pageSize {
		// Asked for what comes after a gap, MAAS would show this page again, and there would be no getting on.
		clear(l.gaps)
		// A full page without news says nothing of what comes after it, and one that comes whatever is asked for is not to be asked for at once.
		p.more = l.last > first
		return p
	}
	if first > 0 {
		for id := first + 1; id < l.last && len(l.gaps) < mostGaps; id++ {
			if !there[id] {
				l.gaps[id] = now
			}
		}
	}
	return p
}

// tookEnd compares the newest entry with ours. A log that ends before our place is another one: MAAS was restored from a backup.
func (l *eventLog) tookEnd(answer maas.EventPage, now time.Time) page {
	l.checked = now
	if l.known && answer.LastID >= l.last {
		return page{more: answer.LastID > l.last}
	}
	l.known, l.last, l.gaps = true, answer.LastID, map[int64]time.Time{}
	return page{anew: true}
}

// failed keeps the place.
func (l *eventLog) failed(retryAfter time.Duration) {
	l.failures++
	l.wait = min(retryAfter, longestPoll)
}

// until says how long it is until the next page is to be asked for. Quick is for when news is wanted soon.
func (l *eventLog) until(now time.Time, quick bool) time.Duration {
	interval := pollAtRest
	if quick {
		interval = pollMoving
	}
	if l.failures > 0 {
		interval = max(l.wait, backOff(pollAtRest, longestPoll, l.failures-1))
	}
	return max(0, l.sent.Add(interval).Sub(now))
}
