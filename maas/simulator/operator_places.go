package simulator

import (
	"fmt"
	"slices"
)

// What operators change around machines.

// SetZone puts a machine into an availability zone, in any state.
func (r *Region) SetZone(systemID, zone string) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		z, ok := t.zoneNamed(zone)
		if !ok {
			return noSuch("zone", zone)
		}
		edit(t, m).zone = z.id
		return nil
	})
}

// SetPool puts a machine into a resource pool, in any state.
func (r *Region) SetPool(systemID, pool string) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		p, ok := t.poolNamed(pool)
		if !ok {
			return noSuch("pool", pool)
		}
		edit(t, m).pool = p.id
		return nil
	})
}

// SetTags replaces a machine's tags. All of them have to be there.
func (r *Region) SetTags(systemID string, tags ...string) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		for _, name := range tags {
			if _, ok := t.tags.get(name); !ok {
				return noSuch("tag", name)
			}
		}
		edit(t, m).tags = slices.Compact(slices.Sorted(slices.Values(tags)))
		return nil
	})
}

// ExhaustAddresses uses up the free addresses of a subnet (name or CIDR), or
// with "" of all that are there, or gives them back: machines get none while it
// lasts, and those that have one keep it.
func (r *Region) ExhaustAddresses(subnet string, exhausted bool) error {
	found := subnet == ""
	r.change(func(t *tx) *refusal {
		for _, n := range t.subnets.all() {
			if subnet == "" || n.name == subnet || n.prefix.String() == subnet {
				found = true
				edit(t, n).exhausted = exhausted
			}
		}
		return nil
	})
	if !found {
		return fmt.Errorf("no subnet %q", subnet)
	}
	return nil
}

// LoseEvents says whether events are lost instead of being written. Machines'
// status messages come from events, so these stay what they were.
func (r *Region) LoseEvents(lose bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losesEvents = lose
}
