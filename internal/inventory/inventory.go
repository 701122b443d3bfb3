// Package inventory is one shared view of the machines of a MAAS. MAAS has no watch and its lists are heavy, so the view follows
// the event log as a hint that something changed, reads the machines that somebody follows in batches, and raises reconciles.
//
// What it shows is for waiting and for explaining. Whoever acts on a machine looks at MAAS directly first.
package inventory

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

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
// single machines, and reads lists anew each time.
type Inventory struct{ maas *maas.Client }

// Constraints are those that MAAS checks, in its own syntax. They are comparable.
type Constraints struct{ Storage, Interfaces, Subnets string }

// New returns an inventory of the MAAS that client talks to. Now is the clock; nil means time.Now.
func New(client *maas.Client, now func() time.Time) *Inventory { return &Inventory{maas: client} }

// Source raises a reconcile of each object whose machine changed, or, for objects that wait for a machine, when one may have become free.
func (v *Inventory) Source() source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error { return nil })
}

// Follow says that an object cares for a machine, and how much. It replaces what was said for the object before.
func (v *Inventory) Follow(object types.NamespacedName, systemID string, pace Pace) {}

// Await says that an object waits for a machine to become free. It replaces what was said for the object before.
func (v *Inventory) Await(object types.NamespacedName) {}

// Forget says that an object cares for no machine any more.
func (v *Inventory) Forget(object types.NamespacedName) {}

// Look returns what the view has of a followed machine. It is not ok where the view has nothing, or only something that proves
// nothing: from before our last act on the machine, from before an event about it, or older than the pace allows.
func (v *Inventory) Look(systemID string) (m *maas.Machine, ok bool) { return nil, false }

// Learned feeds the view with a direct look that began at the given time.
func (v *Inventory) Learned(m *maas.Machine, began time.Time) {}

// Touched says that we acted on a machine, or asked for it, just now: what was read before proves nothing any more, and it is in no list of free
// machines that was read before.
func (v *Inventory) Touched(systemID string) {}

// Free lists the machines that are Ready and satisfy what MAAS checks. One list serves all who ask within seconds, and longer while nothing
// happens in MAAS. The callers must not change what they get. An error is one of package maas.
func (v *Inventory) Free(ctx context.Context, constraints Constraints) ([]maas.Machine, error) {
	return v.maas.Machines(ctx, maas.MachineFilter{Statuses: []maas.Status{maas.StatusReady}})
}

// All lists every machine that our user may see, as of at most maxAge ago. It is the heaviest request there is: maxAge is a minute or more.
// The callers must not change what they get. An error is one of package maas.
func (v *Inventory) All(ctx context.Context, maxAge time.Duration) ([]maas.Machine, error) {
	return v.maas.Machines(ctx, maas.MachineFilter{})
}

// Start keeps the view until ctx ends. It implements the manager's Runnable.
func (v *Inventory) Start(ctx context.Context) error { <-ctx.Done(); return nil }

// NeedLeaderElection says that only the leader looks.
func (v *Inventory) NeedLeaderElection() bool { return true }
