package inventory

import (
	"context"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// MAAS 3.2 and newer: that a power poll found a machine off leaves no event, and rounds are slow. So MAAS is asked which deployed
// machines of ours are off: usually none, so the answer is small however many machines there are.
const (
	betweenPowers = time.Minute
	powerPatience = 30 * time.Second
)

// lookForPower asks which machines are off, and says how long to wait then.
func (v *Inventory) lookForPower(ctx context.Context) time.Duration {
	v.mu.Lock()
	now := v.now()
	owner := v.view.owner()
	pause := v.view.powers.Add(betweenPowers).Sub(now)
	if owner == "" || pause > 0 {
		v.mu.Unlock()
		return max(min(pause, roundsNap), shortestPause)
	}
	v.view.powers = now
	v.mu.Unlock()

	patience, cancel := context.WithTimeout(ctx, powerPatience)
	defer cancel()
	off, err := v.client.Machines(patience, maas.MachineFilter{
		Owner: owner, Statuses: []maas.Status{maas.StatusDeployed}, PowerStates: []maas.PowerState{maas.PowerOff},
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil { // else the next look makes up for it; the event log's loop says that MAAS is away
		v.follows(v.view.tookPowers(off, now))
	}
	return roundsNap
}

// owner is the user who owns most of the machines that are followed, of several the first by name; "" while nothing is known of any.
func (v *view) owner() string {
	counts, most := map[string]int{}, ""
	for _, e := range v.machines {
		if e.machine != nil && len(e.followers) > 0 && e.machine.Owner != "" {
			counts[e.machine.Owner]++
		}
	}
	for owner, count := range counts {
		if count > counts[most] || count == counts[most] && owner < most {
			most = owner
		}
	}
	return most
}

// tookPowers takes the answer. A machine whose power is another than we hold is to be looked at.
func (v *view) tookPowers(off []maas.Machine, sent time.Time) news {
	isOff := map[string]bool{}
	for i := range off {
		isOff[off[i].SystemID] = true
	}
	owner := v.owner()
	var n news
	for systemID, e := range v.machines {
		if e.machine == nil || e.void || !sent.After(e.sent) || e.machine.Owner != owner || e.machine.Status != maas.StatusDeployed {
			continue
		}
		if isOff[systemID] != (e.machine.PowerState == maas.PowerOff) {
			e.drop(sent)
			n.changed = append(n.changed, v.followersOf(systemID)...)
		}
	}
	return n
}
