// Package inventory is one shared view of the machines of a MAAS. MAAS has no watch and its lists are heavy, so the view follows
// the event log as a hint that something changed, reads the machines that somebody follows in batches, and raises reconciles.
//
// What it shows is for waiting and for explaining. Whoever acts on a machine looks at MAAS directly first.
//
// What is known, and what is to be read next, is decided by plain values that do no I/O: eventLog, view and lists. The loops
// around them ask MAAS and hand the answers back.
package inventory

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Pace says how soon a change of what is followed must be seen if no event tells of it.
type Pace int

const (
	// Settled is for machines that run: about every ten minutes, a few at a time.
	Settled Pace = iota
	// Moving is for machines that are being deployed or released: every 15 to 30 seconds.
	Moving
)

// Inventory is the view. It is safe for concurrent use. Until it is started, as on a manager that does not lead, it shows nothing of
// single machines; lists are shared there too, but none is older than seconds.
type Inventory struct {
	// Draw draws a time that is shorter than the given one; nil means rand.N. It is set before the first use.
	Draw func(time.Duration) time.Duration
	// OneByOne has lists asked for on the goroutine of who wants them first, for those whose time is virtual. It is set before the first use.
	OneByOne bool

	client *maas.Client
	now    func() time.Time

	mu    sync.Mutex // guards what follows; never held while MAAS is asked
	log   eventLog
	view  view
	lists lists
	queue *startedQueue // nil until the source is started
}

// New returns an inventory of the MAAS that client talks to. Now is the clock; nil means time.Now.
func New(client *maas.Client, now func() time.Time) *Inventory {
	if now == nil {
		now = time.Now
	}
	v := &Inventory{client: client, now: now, view: newView(), lists: newLists()}
	v.view.draw = v.draw
	return v
}

func (v *Inventory) draw(below time.Duration) time.Duration {
	if v.Draw != nil {
		return v.Draw(below)
	}
	return rand.N(below)
}

// Follow says that an object cares for a machine, and how much. It replaces what was said for the object before.
func (v *Inventory) Follow(object types.NamespacedName, systemID string, pace Pace) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.follow(object, systemID, pace, v.now())
}

// Await says that an object waits for a machine to become free. It replaces what was said for the object before.
func (v *Inventory) Await(object types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.await(object, v.now())
}

// Forget says that an object cares for no machine any more.
func (v *Inventory) Forget(object types.NamespacedName) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.forget(object)
}

// Look returns what the view has of a followed machine. It is not ok where the view has nothing, or only something that proves
// nothing: from before our last act on the machine, from before an event about it, or older than the pace allows: 45 seconds for
// Moving, 15 minutes for Settled. The callers must not change what they get.
func (v *Inventory) Look(systemID string) (m *maas.Machine, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.log.followed() {
		return nil, false
	}
	return v.view.look(systemID, v.now())
}

// Learned feeds the view with a direct look that began at the given time. The view keeps m: it must not be changed any more.
func (v *Inventory) Learned(m *maas.Machine, began time.Time) {
	if m == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.view.learned(m, began, v.now()) {
		v.lists.somethingHappened()
	}
}

// Touched says that we acted on a machine, or asked for it, just now: what was read before proves nothing any more, and it is in no
// list of free machines that was read before.
func (v *Inventory) Touched(systemID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view.touched(systemID, v.now())
	v.lists.touched(systemID, v.now())
}

// NeedLeaderElection says that only the leader looks.
func (v *Inventory) NeedLeaderElection() bool { return true }
