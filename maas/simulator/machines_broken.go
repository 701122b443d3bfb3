package simulator

// markBroken hands a machine back as unusable. Only its owner may.
func markBroken(c *call) (*answer, *refusal) {
	m := c.machine
	if m.owner == "" || m.owner != c.user.name {
		return nil, forbidden()
	}
	c.byUser(m, "User marking node broken", c.form.get("comment"))
	was := m.status
	if was.in(releasable()...) && was != StatusBroken {
		c.beginRelease(m)
	} else {
		edit(c.tx, m).run++
	}
	c.setStatus(m, StatusBroken)
	edit(c.tx, m)
	m.errorDescription = c.form.get("comment")
	if m.powerState == "off" || !c.r.since(3, 6) {
		c.dropAddresses(m)
		edit(c.tx, m)
		m.owner, m.annotations = "", nil
		c.dropToken(m)
	}
	if m.powerState == "off" {
		c.system(m, "Released", "")
	} else {
		c.system(m, "Releasing", "")
	}
	if was.in(releasable()...) && m.powerState != "off" {
		c.orderLater(m, powerOrder{halt: true, wipe: true, then: (*tx).poweredOff})
	}
	return ok(c.render(m))
}

// markFixed takes a repaired machine back.
func markFixed(c *call) (*answer, *refusal) {
	m := c.machine
	if m.status != StatusBroken {
		return nil, conflict("Can't mark a non-broken node as 'Ready'.")
	}
	c.byUser(m, "User marking node fixed", c.form.get("comment"))
	to := StatusReady
	if m.previous == StatusDeployed {
		to = StatusDeployed
	}
	c.setStatus(m, to)
	edit(c.tx, m).errorDescription = ""
	return ok(c.render(m))
}
