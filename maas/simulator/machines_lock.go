package simulator

func lockMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if m.locked {
		return nil, conflict("Machine is already locked")
	}
	if !m.status.in(StatusDeployed, StatusDeploying) {
		return nil, conflict("Can't lock, node is not deployed or deploying")
	}
	c.byUser(m, "User locking node", c.form.get("comment"))
	edit(c.tx, m).locked = true
	return ok(c.render(m))
}

func unlockMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.locked {
		return nil, conflict("Machine is not locked")
	}
	c.byUser(m, "User unlocking node", c.form.get("comment"))
	edit(c.tx, m).locked = false
	return ok(c.render(m))
}
