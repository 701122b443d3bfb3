package chaos

import (
	"errors"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// meanwhile lets somebody do something just now, in the middle of what a manager does.
func (w *world) meanwhile() {
	if w.calm || w.busy || !w.dice.chance(w.weather.meanwhile) {
		return
	}
	w.busy = true
	defer func() { w.busy = false }()
	switch w.dice.IntN(3) {
	case 0:
		w.operate()
	case 1:
		w.clusters[w.dice.IntN(len(w.clusters))].ticks()
	default:
		d := w.dice.between(time.Second, 20*time.Second)
		w.tell("time", "%s pass in the middle of it", short(d))
		w.clock.Advance(d)
	}
}

// act is what an operator does to a machine.
type act struct {
	name string
	// spoils says that the machine is not to be had any more, or not at once.
	spoils bool
	do     func(w *world, m simulator.MachineSnapshot) error
}

func acts() []weighted[act] {
	return []weighted[act]{
		{3, act{"takes", true, func(w *world, m simulator.MachineSnapshot) error { return w.region.OperatorTake(m.SystemID, otherUser) }}},
		{4, act{"releases", false, func(w *world, m simulator.MachineSnapshot) error {
			if !isReleasable(m.Status) {
				return errNotNow
			}
			return w.region.OperatorRelease(m.SystemID)
		}}},
		{3, act{"marks broken", true, func(w *world, m simulator.MachineSnapshot) error {
			return w.region.OperatorMarkBroken(m.SystemID, "chaos")
		}}},
		{2, act{"deploys", true, func(w *world, m simulator.MachineSnapshot) error {
			return w.region.OperatorDeploy(m.SystemID, otherUser, "jammy")
		}}},
		{1, act{"deletes", true, func(w *world, m simulator.MachineSnapshot) error { return w.region.OperatorDelete(m.SystemID) }}},
		{3, act{"locks", false, func(w *world, m simulator.MachineSnapshot) error {
			w.after(w.dice.between(time.Minute, 20*time.Minute), func() { w.unlock(m.SystemID) })
			return w.region.Lock(m.SystemID, true)
		}}},
		{2, act{"renames", false, func(w *world, m simulator.MachineSnapshot) error {
			return w.region.Rename(m.SystemID, "renamed-"+w.dice.text(5))
		}}},
		{3, act{"moves to another zone", false, func(w *world, m simulator.MachineSnapshot) error {
			return w.region.SetZone(m.SystemID, one(w.dice, w.plan.zones...))
		}}},
		{5, act{"switches off", false, func(w *world, m simulator.MachineSnapshot) error { return w.region.OperatorPower(m.SystemID, false) }}},
		{4, act{"switches on", false, func(w *world, m simulator.MachineSnapshot) error { return w.region.OperatorPower(m.SystemID, true) }}},
		{2, act{"loses sight of the power of", false, func(w *world, m simulator.MachineSnapshot) error {
			w.after(w.dice.between(time.Minute, 10*time.Minute), func() { w.seesPower(m.SystemID, m.PowerState) })
			return w.region.SetPower(m.SystemID, one(w.dice, "unknown", "error"))
		}}},
		{2, act{"fails the deployment of", false, func(w *world, m simulator.MachineSnapshot) error {
			return w.region.FailDeployment(m.SystemID, "chaos: the installer gave up")
		}}},
	}
}

var errNotNow = errors.New("MAAS does not offer that in this state")

// isReleasable says that MAAS lets a machine be released.
func isReleasable(s simulator.Status) bool {
	switch s {
	case simulator.StatusAllocated, simulator.StatusDeploying, simulator.StatusDeployed, simulator.StatusFailedDeployment,
		simulator.StatusFailedReleasing, simulator.StatusFailedDiskErasing, simulator.StatusBroken:
		return true
	}
	return false
}

// operate lets an operator do something to a machine that is nobody's, or ours.
func (w *world) operate() {
	id := w.machines[w.dice.IntN(len(w.machines))]
	m, there := w.region.Machine(id)
	if !there || w.isStranger(id) || w.spoilt[id] != "" {
		return
	}
	a := pick(w.dice, acts())
	if a.spoils && len(w.spoilt) >= w.plan.machines/3 {
		return
	}
	err := a.do(w, m)
	w.tell("operator", "%s %s (%s): %v", a.name, id, m.StatusName, err)
	w.touched(id)
	if a.spoils {
		w.spoilt[id] = a.name
	}
}

// operates lets operators be at it, until it is calm.
func (w *world) operates() {
	if w.calm {
		return
	}
	w.operate()
	w.after(w.dice.between(20*time.Second, 8*time.Minute), w.operates)
}

func (w *world) unlock(id string) {
	if _, there := w.region.Machine(id); there && !w.isStranger(id) {
		w.tell("operator", "unlocks %s", id)
		w.must(w.region.Lock(id, false))
	}
}

// seesPower lets MAAS see the power of a machine again.
func (w *world) seesPower(id, was string) {
	m, there := w.region.Machine(id)
	if !there || m.PowerState != "unknown" && m.PowerState != "error" {
		return
	}
	state := was
	if state != "on" && state != "off" {
		state = "off"
	}
	w.tell("hardware", "MAAS sees that %s is %s", id, state)
	w.must(w.region.SetPower(id, state))
	w.touched(id)
}
