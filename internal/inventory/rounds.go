package inventory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// How often batches are read, and a machine in them. A machine that moves is read every 15 to 30 seconds.
const (
	movingInterval = 15 * time.Second
	betweenSettled = time.Minute
	betweenFailed  = 10 * time.Second
	longestBetween = 2 * time.Minute
	fewestInBatch  = 50 // of settled machines, and more if that were too few for all of them
	batchesForAll  = 8
	roundsNap      = 5 * time.Second // what is due is looked at anew at least this often
)

// rounds is when batches of machines were read.
type rounds struct {
	moving, settled time.Time // when a batch with machines of this pace was sent
	notBefore       time.Time // after a failure
	failures        int
}

// batch is one request for several machines.
type batch struct {
	systemIDs []string
	sent      time.Time
}

// due says which machines are to be read now; none is the usual answer. Of the settled ones it takes those that wait longest, and
// not all at once.
func (v *view) due(now time.Time) batch {
	var moving, settled []string
	when := map[string]time.Time{}
	followed := 0
	for systemID, e := range v.machines {
		if len(e.followers) == 0 {
			continue
		}
		followed++
		at := v.nextRead(e)
		switch {
		case at.After(now):
		case e.pace() == Moving:
			moving = append(moving, systemID)
		default:
			settled, when[systemID] = append(settled, systemID), e.due()
		}
	}
	if len(moving) > 0 {
		v.rounds.moving = now
	}
	if len(settled) > 0 {
		v.rounds.settled = now
	}
	slices.Sort(moving)
	slices.SortFunc(settled, func(a, b string) int { return cmp.Or(when[a].Compare(when[b]), strings.Compare(a, b)) })
	settled = settled[:min(len(settled), max(fewestInBatch, followed/batchesForAll))]
	return batch{append(moving, settled...), now}
}

// untilDue says how long it is until machines are due, and not more than a nap: somebody may follow another one meanwhile.
func (v *view) untilDue(now time.Time) time.Duration {
	pause := roundsNap
	for _, e := range v.machines {
		if len(e.followers) > 0 {
			pause = min(pause, v.nextRead(e).Sub(now))
		}
	}
	return max(pause, shortestPause)
}

// nextRead is when a followed machine may be in a batch.
func (v *view) nextRead(e *entry) time.Time {
	batches := v.rounds.settled.Add(betweenSettled)
	if e.pace() == Moving {
		batches = v.rounds.moving.Add(movingInterval)
	}
	return latest(e.due(), batches, v.rounds.notBefore)
}

// due is when a machine should be read.
func (e *entry) due() time.Time {
	at := e.tried.Add(e.spread)
	if e.pace() == Moving {
		at = e.tried.Add(movingInterval)
	}
	if !e.soon.IsZero() && e.soon.Before(at) {
		return e.soon
	}
	return at
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}

// news is what follows from something that was read.
type news struct {
	changed []types.NamespacedName // objects to reconcile
	lists   bool                   // lists of free machines that were read before may be wrong
	free    bool                   // a machine may have become free
}

// took takes the answer to a batch. What happened to a machine after the batch was sent, even at the same moment, goes before.
func (v *view) took(b batch, machines []maas.Machine) news {
	v.rounds.failures = 0
	found := make(map[string]*maas.Machine, len(machines))
	for i := range machines {
		found[machines[i].SystemID] = &machines[i]
	}
	var n news
	for _, systemID := range b.systemIDs {
		e := v.machines[systemID]
		if e == nil || !b.sent.After(e.sent) || !b.sent.After(e.voided) {
			continue
		}
		m := found[systemID]
		if m == nil {
			n.changed = append(n.changed, v.missed(systemID, e, b.sent)...)
			continue
		}
		if e.machine == nil || isFree(e.machine) != isFree(m) {
			n.lists = true
			n.free = n.free || isFree(m)
		}
		if wasMissing := e.missing; e.keep(m, b.sent, v.settledInterval()) || wasMissing {
			n.changed = append(n.changed, v.followersOf(systemID)...)
		}
	}
	return n
}

// missed drops an entry that a batch did not have. That proves nothing, so who follows it is to look, once.
func (v *view) missed(systemID string, e *entry, sent time.Time) []types.NamespacedName {
	told := e.missing
	e.missing, e.void, e.voided = true, true, sent
	e.tried, e.spread, e.soon = sent, v.settledInterval(), time.Time{}
	if told {
		return nil
	}
	return v.followersOf(systemID)
}

// failed lets MAAS rest when it did not answer a batch. Nothing is concluded.
func (v *view) failed(now time.Time, retryAfter time.Duration) {
	v.rounds.notBefore = now.Add(max(backOff(betweenFailed, longestBetween, v.rounds.failures), min(retryAfter, longestBetween)))
	v.rounds.failures++
	// What was due still is.
	v.rounds.moving, v.rounds.settled = time.Time{}, time.Time{}
}

// backOff doubles with each failure.
func backOff(first, longest time.Duration, failures int) time.Duration {
	return min(longest, first<<min(failures, 10))
}
