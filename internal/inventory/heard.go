package inventory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// awaited is about the objects that wait for a machine to become free.
type awaited struct {
	pending bool      // one may have become free, and they were not told
	raised  time.Time // when they were told last
	heard   time.Time // when one may have become free last
}

const (
	betweenAwaited = 5 * time.Second  // all are told at most so often: each looks at the lists then
	lookingForOne  = 30 * time.Second // for so long an object may look at the lists before it says that it awaits one
	eventful       = time.Minute      // for so long after one became free another one is expected
)

// heard takes what the event log told.
func (v *view) heard(events []maas.Event, now time.Time) news {
	var n news
	for _, event := range events {
		e := v.machines[event.SystemID]
		followed := e != nil && len(e.followers) > 0
		if changedStatus(event) && (!followed || isAboutFree(event)) {
			n.lists = true
			n.free = n.free || becameFree(event)
		}
		if e == nil {
			continue
		}
		switch meaning(event.Type)(e.machine, event.Description) {
		case changeHint:
			e.drop(now)
			n.changed = append(n.changed, v.followersOf(event.SystemID)...) // a queue has each object once
		case soonHint:
			e.hurry(now)
		}
	}
	if n.free {
		v.awaited.heard = now
	}
	return n
}

// begin lets nothing count that was read before now.
func (v *view) begin(now time.Time) news {
	for _, e := range v.machines {
		if e.machine != nil {
			e.drop(now)
		}
	}
	return news{lists: true, free: true}
}

// tell lists those that await a machine, if there is news for them. More news within a few seconds, or within the rest that lists of
// free machines are to have, is told together: who is told lists them anew.
func (v *view) tell(now time.Time, rest time.Duration) []types.NamespacedName {
	if !v.awaited.pending || now.Sub(v.awaited.raised) < max(betweenAwaited, rest) {
		return nil
	}
	v.awaited.pending, v.awaited.raised = false, now
	var objects []types.NamespacedName
	for object, systemID := range v.wants {
		if systemID == "" {
			objects = append(objects, object)
		}
	}
	return objects
}

// expects says whether news is wanted quickly: something moves, or somebody waits while machines come and go.
func (v *view) expects(now time.Time) bool {
	if v.isMoving() {
		return true
	}
	if now.Sub(v.awaited.heard) > eventful {
		return false
	}
	for _, systemID := range v.wants {
		if systemID == "" {
			return true
		}
	}
	return false
}
