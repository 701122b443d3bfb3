package simulator

import "time"

// rescueMode boots a machine into an environment for repair.
func rescueMode(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.status.in(StatusNew, StatusFailedCommissioning, StatusMissing, StatusReady, StatusReserved, StatusDeployed, StatusRetired, StatusBroken,
		StatusAllocated, StatusFailedDeployment, StatusFailedDiskErasing, StatusFailedTesting, StatusEnteringRescueMode, StatusFailedEnteringRescueMode) {
		return nil, conflict("Invalid transition: " + m.status.String() + " -> Entering rescue mode.")
	}
	c.byUser(m, "User entering rescue mode", "")
	boot := func(t *tx, m *machine, late time.Duration) {
		t.laterOn(m, t.takes(t.r.cfg.Durations.Boot)+late, func(t *tx, m *machine) {
			if m.status == StatusEnteringRescueMode {
				t.setStatus(m, StatusRescueMode)
			}
		})
	}
	c.occupy(m, StatusEnteringRescueMode, powerOrder{meanwhile: boot, failed: func(t *tx, m *machine) {
		t.setStatus(m, StatusFailedEnteringRescueMode)
	}})
	return ok(c.render(m))
}

// exitRescueMode brings a machine back to where it was.
func exitRescueMode(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.status.in(StatusRescueMode, StatusEnteringRescueMode, StatusFailedEnteringRescueMode, StatusExitingRescueMode, StatusFailedExitingRescueMode) {
		return nil, conflict("Invalid transition: " + m.status.String() + " -> Exiting rescue mode.")
	}
	c.byUser(m, "User exiting rescue mode", "")
	c.setStatus(m, StatusExitingRescueMode)
	edit(c.tx, m).run++
	leave := func(t *tx, m *machine) {
		if m.status == StatusExitingRescueMode {
			t.leaveRescue(m)
		}
	}
	if m.powerable() {
		c.orderLater(m, powerOrder{then: leave, failed: func(t *tx, m *machine) { t.setStatus(m, StatusFailedExitingRescueMode) }})
	} else {
		c.laterOn(m, c.takes(c.r.cfg.Durations.PowerOff), leave)
	}
	c.watch(m, StatusExitingRescueMode, soonTimeout)
	return ok(c.render(m))
}

// leaveRescue puts a machine back into the state before rescue mode: one that
// was deployed runs again, others are off.
func (t *tx) leaveRescue(m *machine) {
	edit(t, m).powerState = "off"
	if m.previous == StatusDeployed {
		m.powerState = "on"
		t.restart(m)
	}
	t.setStatus(m, m.previous)
	t.vacate(m)
}
