package simulator

// abortMachine stops what a machine is busy with. The answer still shows the
// old state; the new one comes after the commit.
func abortMachine(c *call) (*answer, *refusal) {
	m := c.machine
	var to Status
	kind, aborted := "", ""
	switch m.status {
	case StatusDeploying:
		to, kind, aborted = StatusAllocated, "User aborting deployment", "Aborted deployment"
	case StatusCommissioning:
		to, kind, aborted = StatusNew, "User aborting node commissioning", "Aborted commissioning"
	case StatusDiskErasing:
		to, kind, aborted = StatusFailedDiskErasing, "User aborting disk erase", "Aborted disk erasing"
	case StatusTesting:
		to, kind, aborted = m.previous, "User aborting node testing", "Aborted testing"
	default:
		return nil, conflict("Cannot abort in current state: node " + m.systemID + " is in state " + m.status.String() + ".")
	}
	c.byUser(m, kind, c.form.get("comment"))
	shown := c.render(m)
	from := m.status
	stopped := func(t *tx, m *machine) {
		if m.status != from {
			return
		}
		t.setStatus(m, to)
		t.system(m, aborted, "")
	}
	id, run := m.systemID, m.run
	c.afterCommit(func(t *tx) *refusal {
		m, ok := t.machines.get(id)
		if !ok || m.run != run {
			return nil
		}
		return t.stop(m, stopped)
	})
	return ok(shown)
}

// stop switches off a machine whose work is aborted. MAAS 3.5 and newer: the
// work is aborted once the machine is off, and goes on when it cannot be
// switched off.
func (t *tx) stop(m *machine, stopped func(*tx, *machine)) *refusal {
	if !m.powerable() {
		edit(t, m).run++
		stopped(t, m)
		return nil
	}
	if t.r.since(3, 5) {
		return t.order(m, powerOrder{halt: true, then: func(t *tx, m *machine) {
			edit(t, m).run++
			stopped(t, m)
			t.poweredOff(m)
		}})
	}
	run := m.run
	edit(t, m).run++ // what is under way ends now
	refused := t.order(m, powerOrder{halt: true, then: (*tx).poweredOff})
	if refused != nil {
		m.run = run
		return refused
	}
	stopped(t, m)
	return nil
}
