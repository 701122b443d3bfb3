package placement

import "sync"

// Reservations keep two claims of one process from asking MAAS for the same machine. Claims are known by their tokens. They are a
// courtesy that saves requests: that a machine is claimed once is for MAAS to decide. The zero value is ready for use, and safe for
// concurrent use.
type Reservations struct {
	mu        sync.Mutex
	machineOf map[string]string // by claim
	claimOf   map[string]string // by system ID
}

// Reserve keeps a machine for a claim, in place of the one that was kept for it before. It is false, and changes nothing, if another
// claim has the machine.
func (r *Reservations) Reserve(claim, systemID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if holder, held := r.claimOf[systemID]; held && holder != claim {
		return false
	}
	if r.machineOf == nil {
		r.machineOf, r.claimOf = map[string]string{}, map[string]string{}
	}
	r.drop(claim)
	r.machineOf[claim], r.claimOf[systemID] = systemID, claim
	return true
}

// Release gives back what is kept for a claim, if anything is.
func (r *Reservations) Release(claim string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(claim)
}

// TakenFrom returns a function that says whether another claim than this one has a machine, at the time when it is called.
func (r *Reservations) TakenFrom(claim string) func(systemID string) bool {
	return func(systemID string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		holder, held := r.claimOf[systemID]
		return held && holder != claim
	}
}

func (r *Reservations) drop(claim string) {
	if systemID, held := r.machineOf[claim]; held {
		delete(r.machineOf, claim)
		delete(r.claimOf, systemID)
	}
}
