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
	id, run := m.systemID, m.run
	c.afterCommit(func(t *tx) *refusal {
		m, ok := t.machines.get(id)
		if !ok || m.run != run {
			return nil
		}
		edit(t, m).run++
		t.setStatus(m, to)
		t.system(m, aborted, "")
		if m.powerable() {
			t.halt(m, false, (*tx).poweredOff)
		}
		return nil
	})
	return ok(shown)
}
