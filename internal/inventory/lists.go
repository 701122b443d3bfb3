package inventory

import (
	"slices"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// For how long an answer to a list serves.
const (
	freshList   = 5 * time.Second // whatever happens, and that MAAS did not answer
	longestList = time.Minute     // while nothing happens
	restPerWork = 4               // times as long as the answer took
)

// lists are the lists of machines that MAAS was asked for. It is told the time, and does no I/O.
type lists struct {
	order    int64 // counts what happens, for what is at the same time
	happened int64 // when something was last said of any machine
	freed    int64 // when those that await a machine were last told that one may be free: they need a newer list
	touches  map[string]touch

	free map[Constraints]*list
	all  list
}

type touch struct {
	order int64
	at    time.Time
}

// list is one that is asked for again and again.
type list struct {
	asking *asking // nil while nobody asks MAAS
	answer *answer // nil before the first one
}

// asking is a request that is on its way. One serves all who wait for it.
type asking struct {
	done   chan struct{} // closed when the answer is complete
	answer answer
}

// answer is what came of a request.
type answer struct {
	order         int64 // of the request
	sent, arrived time.Time
	machines      []maas.Machine
	err           error
}

func newLists() lists { return lists{touches: map[string]touch{}, free: map[Constraints]*list{}} }

func (l *lists) next() int64 {
	l.order++
	return l.order
}

func (l *lists) somethingHappened() { l.happened = l.next() }

// someTold makes lists from before useless, even the freshest: they may lack the machine that became free.
func (l *lists) someTold() { l.freed = l.next() }

func (l *lists) touched(systemID string, now time.Time) {
	l.somethingHappened()
	l.touches[systemID] = touch{l.order, now}
}

// forgetOld drops touches from before any list that may still be served or be on its way.
func (l *lists) forgetOld(now time.Time) {
	for systemID, t := range l.touches {
		if now.Sub(t.at) > listPatience+longestList {
			delete(l.touches, systemID)
		}
	}
}

// of returns the list of free machines with these constraints, and forgets lists that nobody asks for any more.
func (l *lists) of(c Constraints, now time.Time) *list {
	for other, candidate := range l.free {
		if other != c && candidate.asking == nil && (candidate.answer == nil || now.Sub(candidate.answer.arrived) > longestList) {
			delete(l.free, other)
		}
	}
	if l.free[c] == nil {
		l.free[c] = &list{}
	}
	return l.free[c]
}

// ask begins a request.
func (l *lists) ask(of *list, now time.Time) *asking {
	of.asking = &asking{done: make(chan struct{}), answer: answer{order: l.next(), sent: now}}
	return of.asking
}

// took ends it.
func (l *lists) took(of *list, machines []maas.Machine, err error, now time.Time) {
	a := of.asking
	a.answer.arrived, a.answer.machines, a.answer.err = now, machines, err
	of.answer, of.asking = &a.answer, nil
	close(a.done)
}

// serves says whether the answer to a list of free machines still does. Where the event log is not followed, things may happen
// that nobody tells of.
func (l *lists) serves(a *answer, followed bool, now time.Time) bool {
	switch age := now.Sub(a.arrived); {
	case a.err != nil:
		return age < freshList
	case a.order < l.freed:
		return false
	case age < max(freshList, a.rest()):
		return now.Sub(a.sent) < longestList
	default:
		return followed && a.order > l.happened && now.Sub(a.sent) < longestList
	}
}

// rest is for how long MAAS is left alone after an answer: if that took long, others wait for MAAS too.
func (a *answer) rest() time.Duration { return min(restPerWork*a.arrived.Sub(a.sent), longestList) }

// rest is that of the list of free machines that took longest.
func (l *lists) rest() time.Duration {
	var longest time.Duration
	for _, of := range l.free {
		if of.answer != nil {
			longest = max(longest, of.answer.rest())
		}
	}
	return longest
}

// untouched leaves out what was touched since the list was asked for.
func (l *lists) untouched(a answer) ([]maas.Machine, error) {
	if a.err != nil {
		return nil, a.err
	}
	gone := func(m maas.Machine) bool { return l.touches[m.SystemID].order > a.order }
	if !slices.ContainsFunc(a.machines, gone) {
		return a.machines, nil
	}
	return slices.DeleteFunc(slices.Clone(a.machines), gone), nil
}
