package simulator

// What operators do to a machine's life. Each happens at once, whatever the
// machine's state and lock are, and ends what it was busy with: of a deploy that
// was under way nothing reaches the machine any more.

// OperatorTake releases a machine and allocates it to another user, with the
// events that MAAS writes when the user does both. The error names the machine
// or user that is not there.
func (r *Region) OperatorTake(systemID, user string) error {
	return r.actAs(systemID, user, func(c *call) *refusal {
		c.take(c.machine)
		return nil
	})
}

// OperatorDeploy takes a machine as OperatorTake does and deploys it for the
// user: image is what distro_series would be, the region's default when empty.
// The error is what MAAS would tell the user; when addresses or hardware are
// to blame, the machine stays taken.
func (r *Region) OperatorDeploy(systemID, user, image string) error {
	return r.actAs(systemID, user, func(c *call) *refusal {
		c.take(c.machine)
		c.form.add("distro_series", image)
		return c.deploy(c.machine, deployOptions{ephemeral: len(c.machine.disks) == 0})
	})
}

// OperatorMarkBroken hands a machine back as unusable, as its owner would; one
// that nobody owns is marked by an admin. What MAAS does with owner, addresses
// and power depends on its version.
func (r *Region) OperatorMarkBroken(systemID, comment string) error {
	return r.act(systemID, func(t *tx, m *machine) {
		edit(t, m).locked = false
		by := m.owner
		if by == "" {
			by = t.someAdmin()
		}
		t.breakMachine(m, by, comment)
	})
}

// take frees a machine and makes it the caller's.
func (c *call) take(m *machine) {
	edit(c.tx, m).locked = false
	if m.status != StatusReady || m.owner != "" {
		c.byUser(m, "User releasing node", "")
		edit(c.tx, m).dynamic = false // it is wanted still
		c.beginRelease(m)
		c.setStatus(m, StatusReleasing)
		c.system(m, "Releasing", "")
		if m.powerable() {
			edit(c.tx, m).powerState = "off"
		}
		c.finishRelease(m)
		c.wipe(m)
		c.setStatus(m, StatusReady) // also one that was never commissioned
	}
	c.acquire(m, "", "")
}

// someAdmin is who acts when nobody is named.
func (t *tx) someAdmin() string {
	if u, ok := t.users.find(func(u *user) bool { return u.admin && !u.disabled }); ok {
		return u.name
	}
	return "unknown"
}

// actAs runs f as a call of a user on a machine, as one transaction.
func (r *Region) actAs(systemID, name string, f func(*call) *refusal) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		u, ok := t.users.get(name)
		if !ok {
			return noSuch("user", name)
		}
		return f(&call{tx: t, user: u, machine: m})
	})
}
