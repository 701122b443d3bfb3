package simulator

// markBroken hands a machine back as unusable. Only its owner may.
func markBroken(c *call) (*answer, *refusal) {
	m := c.machine
	if m.owner == "" || m.owner != c.user.name {
		return nil, forbidden()
	}
	c.breakMachine(m, c.user.name, c.form.get("comment"))
	return ok(c.render(m))
}

// breakMachine releases a machine that can be released, and calls it broken.
func (t *tx) breakMachine(m *machine, username, comment string) {
	t.actedBy(username, m, "User marking node broken", comment)
	was := m.status
	if was.in(releasable()...) && was != StatusBroken {
		t.beginRelease(m)
	} else {
		edit(t, m).run++
	}
	t.setStatus(m, StatusBroken)
	edit(t, m)
	m.errorDescription = comment
	if m.powerState == "off" || !t.r.since(3, 6) {
		t.dropAddresses(m)
		edit(t, m)
		m.owner, m.annotations = "", nil
		t.dropToken(m)
	}
	if m.powerState == "off" {
		t.system(m, "Released", "")
	} else {
		t.system(m, "Releasing", "")
	}
	if was.in(releasable()...) && m.powerState != "off" {
		t.orderLater(m, powerOrder{halt: true, wipe: true, then: (*tx).poweredOff})
	}
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
