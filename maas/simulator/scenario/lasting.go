package scenario

import (
	"fmt"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// hold begins, refreshes or ends a state of the region, as the time wants it.
func (r *Running) hold(a *armed, now time.Time) time.Time {
	r.lasting.Lock()
	defer r.lasting.Unlock()
	if a.isOver() {
		return time.Time{}
	}
	begin, active := a.fault.begun(a.start, now)
	end, next := a.changes(now)
	r.mu.Lock()
	first, lasts := active && a.turn != begin, a.lasts
	r.mu.Unlock()
	switch {
	case first && !lasts:
		r.mu.Lock()
		a.turn = begin
		r.mu.Unlock()
		if r.takes(a, now) {
			r.set(a, true)
		}
	case !active && lasts:
		r.set(a, false)
	case lasts && a.fault.Age > 0:
		r.refresh(a)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var again time.Time
	switch {
	case a.lasts && a.fault.Age > 0:
		again = now.Add(time.Duration(a.fault.Age))
	case !a.lasts && a.spent():
		return time.Time{}
	}
	return earliest(end, next, again)
}

// leave ends the state that a fault holds when the fault itself ends.
func (r *Running) leave(a *armed) {
	r.lasting.Lock()
	defer r.lasting.Unlock()
	r.mu.Lock()
	lasts := a.lasts
	r.mu.Unlock()
	if lasts {
		r.set(a, false)
	}
}

// set begins or ends the state of the region that a fault holds. Where another
// one holds the same, it stays.
func (r *Running) set(a *armed, lasts bool) {
	var view *simulator.View
	if lasts && a.fault.Do == OldDNS {
		view = r.region.View()
	}
	r.mu.Lock()
	a.lasts, a.view = lasts, view
	holders := r.holders(a)
	r.mu.Unlock()
	err := apply(r.region, a.fault, holders)
	effect := a.effectOnRegion(lasts)
	if err != nil {
		effect = fmt.Sprintf("%s: %v", effect, err)
	}
	r.tell(a, Strike{Effect: effect})
}

// refresh shows newer data, though still a copy.
func (r *Running) refresh(a *armed) {
	old := r.viewOf(a)
	view := r.region.Renew(old)
	if view == old {
		return
	}
	r.mu.Lock()
	a.view = view
	holders := r.holders(a)
	r.mu.Unlock()
	_ = apply(r.region, a.fault, holders) // told when it began
}

// holders are the faults that hold the region in a state of the kind of a's.
func (r *Running) holders(a *armed) []*armed {
	var out []*armed
	for _, other := range r.faults {
		if other.lasts && other.fault.Do == a.fault.Do {
			out = append(out, other)
		}
	}
	return out
}

// apply puts the region into the state that the holders want; of several the
// first decides.
func apply(region *simulator.Region, f Fault, holders []*armed) error {
	held := len(holders) > 0
	switch f.Do {
	case AwayRegion:
		var away *simulator.Away
		if held {
			away = &simulator.Away{BadGateway: holders[0].fault.Answer == badGateway}
		}
		region.SetAway(away)
	case OldDNS:
		var view *simulator.View
		if held {
			view = holders[0].view
		}
		region.SetDNSView(view)
	case LoseEvents:
		region.LoseEvents(held)
	case ExhaustAddresses:
		return exhaust(region, f, holders)
	}
	return nil
}

// exhaust takes the addresses of a fault's subnet, or gives them back but for
// those that other faults took.
func exhaust(region *simulator.Region, f Fault, holders []*armed) error {
	if err := region.ExhaustAddresses(f.Subnet, false); err != nil {
		return err
	}
	for _, a := range holders {
		_ = region.ExhaustAddresses(a.fault.Subnet, true) // what is wrong with it was told when it began
	}
	return nil
}

// effectOnRegion says what begins or ends.
func (a *armed) effectOnRegion(lasts bool) string {
	subnet := "all subnets"
	if a.fault.Subnet != "" {
		subnet = "subnet " + a.fault.Subnet
	}
	words := map[Do][2]string{
		AwayRegion:       {"region away", "region back"},
		OldDNS:           {"DNS answers from old data", "DNS is up to date"},
		LoseEvents:       {"events get lost", "events are written"},
		ExhaustAddresses: {"no addresses left in " + subnet, "addresses again in " + subnet},
	}[a.fault.Do]
	switch {
	case !lasts:
		return words[1]
	case a.fault.For > 0:
		return words[0] + " for " + a.fault.For.String()
	}
	return words[0]
}
