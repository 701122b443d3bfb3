package simulator

// powerOnMachine switches a machine on; one that is Allocated is deployed.
func powerOnMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if m.owner == "" {
		return nil, conflict("Can't start node: it hasn't been allocated.")
	}
	if m.status == StatusAllocated {
		c.setUserData(m)
		c.startDeploy(m, c.user.name)
		return ok(c.render(m))
	}
	c.byUser(m, "User powering up node", c.form.get("comment"))
	shown := c.render(m)
	id, run := m.systemID, m.run
	c.afterCommit(func(t *tx) *refusal {
		if m, ok := t.machines.get(id); ok && m.run == run {
			t.powerOn(m)
		}
		return nil
	})
	return ok(shown)
}

// powerOn switches a machine on; a deployed one boots its disk.
func (t *tx) powerOn(m *machine) {
	wasOff := m.powerState != "on"
	t.switchPower(m, "on")
	t.laterOn(m, t.takes(t.r.cfg.Durations.PowerOn), func(t *tx, m *machine) {
		if m.status == StatusExitingRescueMode {
			t.setStatus(m, m.previous)
		}
	})
	if m.status == StatusDeployed && wasOff {
		t.boot(m)
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
	id, run := m.systemID, m.run
	c.afterCommit(func(t *tx) *refusal {
		if m, ok := t.machines.get(id); ok && m.run == run {
			t.halt(m, m.status == StatusReleasing, (*tx).poweredOff)
		}
		return nil
	})
	return ok(shown)
}

func queryPowerState(c *call) (*answer, *refusal) {
	state := c.machine.powerState
	if !c.machine.powerable() {
		state = "unknown"
	}
	return ok(map[string]string{"state": state})
}
