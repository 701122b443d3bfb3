package simulator

import "net/http"

// powerOnMachine switches a machine on; one that is Allocated is deployed.
func powerOnMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if m.owner == "" {
		return nil, conflict("Can't start node: it hasn't been allocated.")
	}
	if m.status == StatusAllocated {
		begin, refused := c.reach(m, "")
		if refused != nil {
			return nil, refused
		}
		c.setUserData(m)
		c.startDeploy(m, begin)
		return ok(c.render(m))
	}
	c.byUser(m, "User powering up node", c.form.get("comment"))
	shown := c.render(m)
	wasOff := m.powerState != "on"
	c.orderLater(m, powerOrder{on: true, then: func(t *tx, m *machine) { t.poweredOn(m, wasOff) }})
	return ok(shown)
}

// poweredOn is what follows when a machine was switched on: a deployed one
// boots its disk.
func (t *tx) poweredOn(m *machine, wasOff bool) {
	switch {
	case m.status == StatusExitingRescueMode:
		t.setStatus(m, m.previous)
	case m.status == StatusDeployed && wasOff:
		t.restart(m)
	}
}

// powerOffMachine switches a machine off. The answer is null when MAAS cannot
// switch it.
func powerOffMachine(c *call) (*answer, *refusal) {
	m := c.machine
	c.byUser(m, "User powering down node", c.form.get("comment"))
	if !m.powerable() {
		return ok(nil)
	}
	shown := c.render(m)
	c.orderLater(m, powerOrder{halt: true, wipe: m.status == StatusReleasing, then: (*tx).poweredOff})
	return ok(shown)
}

// queryPowerState asks the BMC.
func queryPowerState(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.powerable() {
		return ok(map[string]string{"state": "unknown"})
	}
	rack := c.ask(m, MomentRack)
	if rack.Fail != "" || rack.Stuck {
		return nil, noRack(rackID)
	}
	query := c.ask(m, MomentPowerQuery)
	var refused *refusal
	if query.Fail != "" {
		refused = text(http.StatusInternalServerError, query.Fail)
	}
	switch late := rack.Delay + query.Delay; {
	case query.Stuck:
		c.holdForever()
	case late > 0:
		c.hold(late, refused)
	case refused != nil:
		return nil, refused
	}
	return ok(map[string]string{"state": m.powerState})
}
