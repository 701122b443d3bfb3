package placement

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Reservations keep two objects of one process from asking MAAS for the same machine. They are a courtesy that saves requests: that a
// machine is claimed once is for MAAS to decide. The zero value is ready for use, and safe for concurrent use.
type Reservations struct {
	mu        sync.Mutex
	machineOf map[types.NamespacedName]string
	holderOf  map[string]types.NamespacedName // by system ID
}

// Reserve keeps a machine for an object, in place of the one that was kept for it before. It is false, and changes nothing, if the
// machine is kept for another.
func (r *Reservations) Reserve(object types.NamespacedName, systemID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if holder, held := r.holderOf[systemID]; held && holder != object {
		return false
	}
	if r.machineOf == nil {
		r.machineOf, r.holderOf = map[types.NamespacedName]string{}, map[string]types.NamespacedName{}
	}
	r.drop(object)
	r.machineOf[object], r.holderOf[systemID] = systemID, object
	return true
}

// Release gives back what is kept for an object, if anything is.
func (r *Reservations) Release(object types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(object)
}

// TakenFrom returns a function that says whether a machine is kept for another object than this one, at the time when it is called.
func (r *Reservations) TakenFrom(object types.NamespacedName) func(systemID string) bool {
	return func(systemID string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		holder, held := r.holderOf[systemID]
		return held && holder != object
	}
}

func (r *Reservations) drop(object types.NamespacedName) {
	if systemID, held := r.machineOf[object]; held {
		delete(r.machineOf, object)
		delete(r.holderOf, systemID)
	}
}
