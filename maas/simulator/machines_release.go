package simulator

import (
	"net/http"
	"strings"
)

func releasable() []Status {
	return []Status{
		StatusAllocated, StatusReserved, StatusBroken, StatusDeploying, StatusDeployed, StatusFailedDeployment, StatusFailedDiskErasing,
		StatusFailedReleasing,
	}
}

// releaseMachine gives a machine back, wiping its disks first if asked to.
// There is nothing to do for one that is Ready or on its way.
func releaseMachine(c *call) (*answer, *refusal) {
	m := c.machine
	erase := c.form.formBoolean("erase")
	if c.r.since(3, 5) {
		erase = erase || c.form.formBoolean("quick_erase") || c.form.formBoolean("secure_erase")
	} else if _, refused := c.form.boolean("erase"); refused != nil {
		return nil, refused
	}
	scripts, unknown := c.releaseScripts()
	switch {
	case m.status.in(StatusReady, StatusReleasing):
		return ok(c.render(m))
	case !m.status.in(releasable()...):
		return nil, conflict("Machine cannot be released in its current state ('" + m.status.String() + "').")
	}
	if unknown != nil {
		return nil, unknown
	}
	c.byUser(m, "User releasing node", c.form.get("comment"))
	switch {
	case erase || c.erasesOnRelease():
		c.erase(m)
	case len(scripts) > 0:
		c.runScripts(m)
	default:
		c.tx.release(m)
	}
	return ok(c.render(m))
}

// releaseMachines releases many at once, or none.
func releaseMachines(c *call) (*answer, *refusal) {
	var chosen []*machine
	var unknown, denied, wrong []string
	seen := map[string]bool{}
	for _, id := range c.form.all("machines") {
		if seen[id] || id == "" {
			continue
		}
		seen[id] = true
		m, found := c.machines.get(id)
		switch {
		case !found:
			unknown = append(unknown, id)
		case !mayAccess(c.user, m, editors):
			denied = append(denied, id)
		case m.status != StatusReady && !m.status.in(releasable()...):
			wrong = append(wrong, id+" ('"+m.status.String()+"')")
		default:
			chosen = append(chosen, m)
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, text(http.StatusBadRequest, "Unknown machine(s): "+strings.Join(unknown, ", ")+".")
	case len(denied) > 0:
		return nil, text(http.StatusForbidden,
			"You don't have the required permission to release the following machine(s): "+strings.Join(denied, ", ")+".")
	case len(wrong) > 0:
		return nil, conflict("Machine(s) cannot be released in their current state: " + strings.Join(wrong, ", ") + ".")
	}
	released := []string{}
	for _, m := range chosen {
		if m.status == StatusReady {
			continue
		}
		c.byUser(m, "User releasing node", c.form.get("comment"))
		if c.erasesOnRelease() {
			c.erase(m)
		} else {
			c.tx.release(m)
		}
		released = append(released, m.systemID)
	}
	return ok(released)
}
