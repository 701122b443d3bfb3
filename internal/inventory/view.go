package inventory

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// How old an entry may be to be shown. An entry's age counts from when the request for it was sent.
const (
	oldestMoving  = 45 * time.Second
	oldestSettled = 15 * time.Minute
)

// view is who cares for which machine, and what is known of those machines. It is told the time, and does no I/O.
type view struct {
	wants    map[types.NamespacedName]string // the machine that an object follows; "" means that it awaits one
	machines map[string]*entry
	rounds   rounds
	powers   time.Time // when MAAS was last asked which machines are off
	awaited  awaited
	draw     func(below time.Duration) time.Duration // nil means rand.N
}

// entry is one machine. It stays for a while when nobody follows it any more, for what is known of it may still be asked.
type entry struct {
	followers map[types.NamespacedName]Pace
	machine   *maas.Machine // what was read last
	sent      time.Time     // when the request for it was sent
	void      bool          // something happened since: it proves nothing, and serves to compare alone
	voided    time.Time     // when that was, or was last; what was asked for before is not taken
	missing   bool          // the last batch did not have it, and those who follow it were told

	tried  time.Time     // when it was read last, or should have been; when it was first heard of
	spread time.Duration // how long after that it is read anew while it is settled
	soon   time.Time     // it shall be read by then, whatever its pace; zero means nothing
}

func newView() view {
	return view{wants: map[types.NamespacedName]string{}, machines: map[string]*entry{}}
}

func (v *view) entry(systemID string, now time.Time) *entry {
	e := v.machines[systemID]
	if e == nil {
		e = &entry{followers: map[types.NamespacedName]Pace{}, tried: now, spread: v.settledInterval()}
		v.machines[systemID] = e
	}
	return e
}

func (v *view) follow(object types.NamespacedName, systemID string, pace Pace, now time.Time) {
	if systemID == "" {
		v.forget(object)
		return
	}
	if v.wants[object] != systemID {
		v.forget(object)
	}
	v.wants[object] = systemID
	v.entry(systemID, now).followers[object] = pace
}

func (v *view) await(object types.NamespacedName, now time.Time) {
	if systemID, wants := v.wants[object]; wants && systemID == "" {
		return
	}
	v.forget(object)
	v.wants[object] = ""
	// It may have looked for machines before those that await one were told last.
	if !v.awaited.raised.IsZero() && now.Sub(v.awaited.raised) < lookingForOne {
		v.awaited.pending = true
	}
}

func (v *view) forget(object types.NamespacedName) {
	if e := v.machines[v.wants[object]]; e != nil {
		delete(e.followers, object)
	}
	delete(v.wants, object)
}

func (v *view) look(systemID string, now time.Time) (*maas.Machine, bool) {
	e := v.machines[systemID]
	if e == nil || len(e.followers) == 0 || e.machine == nil || e.void || now.Sub(e.sent) > e.oldest() {
		return nil, false
	}
	return e.machine, true
}

// pace is that of the follower who is most in need.
func (e *entry) pace() Pace {
	for _, pace := range e.followers {
		if pace == Moving {
			return Moving
		}
	}
	return Settled
}

func (e *entry) oldest() time.Duration {
	if e.pace() == Moving {
		return oldestMoving
	}
	return oldestSettled
}

// drop makes what was read before prove nothing. Who is told of it looks directly; should nobody do that, the rounds will.
func (e *entry) drop(now time.Time) {
	e.void, e.voided = true, now
	e.hurry(now)
}

// hurry lets the machine be read soon.
func (e *entry) hurry(now time.Time) {
	if by := now.Add(movingInterval); e.soon.IsZero() || by.Before(e.soon) {
		e.soon = by
	}
}

// keep takes what was read of a machine. It says whether it differs from what was known; nothing known is no difference. Spread is
// how long after that it is read anew while it is settled.
func (e *entry) keep(m *maas.Machine, sent time.Time, spread time.Duration) (changed bool) {
	changed = e.machine != nil && differ(e.machine, m)
	e.machine, e.sent, e.void, e.missing = m, sent, false, false
	e.tried, e.spread, e.soon = sent, spread, time.Time{}
	return changed
}

// learned takes a direct look. It says whether that tells anything about which machines are free.
func (v *view) learned(m *maas.Machine, began, now time.Time) (news bool) {
	e := v.entry(m.SystemID, now)
	if began.Before(e.sent) || began.Before(e.voided) {
		return false
	}
	news = e.machine == nil || isFree(e.machine) != isFree(m)
	e.keep(m, began, v.settledInterval())
	return news
}

func (v *view) touched(systemID string, now time.Time) { v.entry(systemID, now).drop(now) }

// followersOf lists who follows a machine.
func (v *view) followersOf(systemID string) []types.NamespacedName {
	e := v.machines[systemID]
	if e == nil {
		return nil
	}
	objects := make([]types.NamespacedName, 0, len(e.followers))
	for object := range e.followers {
		objects = append(objects, object)
	}
	return objects
}

// isMoving says whether anything that is followed moves.
func (v *view) isMoving() bool {
	for _, e := range v.machines {
		if e.pace() == Moving {
			return true
		}
	}
	return false
}

// forgetOld drops what nobody has cared for in a while.
func (v *view) forgetOld(now time.Time) {
	for systemID, e := range v.machines {
		if len(e.followers) == 0 && now.Sub(latest(e.tried, e.voided)) > oldestSettled {
			delete(v.machines, systemID)
		}
	}
}

func isFree(m *maas.Machine) bool { return m.Status == maas.StatusReady }

// settledInterval is about ten minutes. It differs each time, so that machines that were read together are not for ever.
func (v *view) settledInterval() time.Duration {
	const least, more = 7 * time.Minute, 6 * time.Minute
	if v.draw == nil {
		return least + rand.N(more)
	}
	return least + v.draw(more)
}
