package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// defaultOperator is the user for whom operators take machines. It need not be
// there yet.
const defaultOperator = "operator"

// chosen are the machines that a fault names, by hostname.
func (r *Running) chosen(a *armed) []simulator.MachineSnapshot {
	machines := slices.DeleteFunc(r.region.Snapshot().Machines, func(m simulator.MachineSnapshot) bool { return !a.machines.matches(m) })
	slices.SortFunc(machines, func(x, y simulator.MachineSnapshot) int { return strings.Compare(x.Hostname, y.Hostname) })
	return machines
}

// actOn does to a machine what operators do, because of a request: to the one
// that the request names, or if it names none, to those that the fault names.
// What it returns does it once the request was committed.
func (r *Running) actOn(a *armed, request simulator.Request, named simulator.MachineSnapshot) func(simulator.Request) {
	if !a.requests.matches(request) || a.fault.User != "" && a.fault.User != request.User {
		return nil
	}
	if !a.fault.Committed {
		r.actFor(a, request, named)
		return nil
	}
	return func(ran simulator.Request) {
		if ran.Committed {
			r.actFor(a, ran, r.machineOf(ran.SystemID))
		}
	}
}

func (r *Running) actFor(a *armed, request simulator.Request, named simulator.MachineSnapshot) {
	targets := []simulator.MachineSnapshot{named}
	switch {
	case named.SystemID == "" && len(a.machines) == 0:
		return
	case named.SystemID == "":
		targets = r.chosen(a)
	case named.Hostname == "" || !a.machines.matches(named):
		return
	}
	moment := "before "
	if a.fault.Committed {
		moment = "after "
	}
	for _, m := range targets {
		if r.takes(a, r.clock.Now()) {
			r.operate(a, m, moment+operationOf(request))
		}
	}
}

// operate does an act and tells of it.
func (r *Running) operate(a *armed, m simulator.MachineSnapshot, moment string) {
	effect, err := act(r.region, a.fault, m)
	if err != nil {
		effect = fmt.Sprintf("not %s: %v", effect, err)
	}
	if moment != "" {
		effect += ", " + moment
	}
	r.tell(a, Strike{SystemID: m.SystemID, Hostname: m.Hostname, Effect: effect})
}

// act does to a machine what an operator does, and says in words what that is.
func act(region *simulator.Region, f Fault, m simulator.MachineSnapshot) (effect string, err error) {
	id, user := m.SystemID, f.To
	if user == "" {
		user = defaultOperator
	}
	switch f.Do {
	case Take:
		region.EnsureAdmin(user)
		return "taken by " + user, region.OperatorTake(id, user)
	case Release:
		return "released", region.OperatorRelease(id)
	case Delete:
		return "deleted", region.OperatorDelete(id)
	case Lock:
		return "locked", region.Lock(id, true)
	case Unlock:
		return "unlocked", region.Lock(id, false)
	case Break:
		return "marked broken", region.OperatorMarkBroken(id, f.Reason)
	case Rename:
		name := strings.ReplaceAll(f.To, "*", m.Hostname)
		return "renamed to " + name, region.Rename(id, name)
	case Rezone:
		return "moved to zone " + f.To, region.SetZone(id, f.To)
	case Repool:
		return "moved to pool " + f.To, region.SetPool(id, f.To)
	case Redeploy:
		region.EnsureAdmin(user)
		return "deployed by " + user, region.OperatorDeploy(id, user, f.Image)
	case PowerOff:
		return "power lost", region.OperatorPower(id, false)
	case PowerOn:
		return "power on", region.OperatorPower(id, true)
	}
	return string(f.Do), fmt.Errorf("is nothing that operators do")
}
