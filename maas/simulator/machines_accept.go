package simulator

import (
	"net/http"
	"strings"
)

// machineAcceptOperations are the calls with which admins take in the machines
// that enlisted themselves.
func machineAcceptOperations() []operation {
	return []operation{
		{http.MethodPost, "/machines/", "accept", anyone, acceptMachines, ""},
		{http.MethodPost, "/machines/", "accept_all", users, acceptAllMachines, ""},
	}
}

// acceptMachines commissions the machines named. That one was accepted before is
// no mistake.
func acceptMachines(c *call) (*answer, *refusal) {
	if c.user == nil {
		return nil, text(http.StatusUnauthorized, "You must be logged in to accept machines.")
	}
	var list []*machine
	var unknown, denied []string
	for _, id := range c.form.all("machines") {
		m, found := c.machines.get(id)
		switch {
		case !found:
			unknown = append(unknown, id)
		case !mayAccess(c.user, m, machineAdmins):
			denied = append(denied, id)
		default:
			list = append(list, m)
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, text(http.StatusBadRequest, "Unknown machine(s): "+strings.Join(unknown, ", ")+".")
	case len(denied) > 0:
		return nil, text(http.StatusForbidden,
			"You don't have the required permission to accept the following machine(s): "+strings.Join(denied, ", ")+".")
	}
	return c.accept(list)
}

// acceptAllMachines commissions all that are new and that the caller may accept.
func acceptAllMachines(c *call) (*answer, *refusal) {
	var list []*machine
	for _, m := range c.machines.all() {
		if m.status == StatusNew && mayAccess(c.user, m, machineAdmins) {
			list = append(list, m)
		}
	}
	return c.accept(list)
}

func (c *call) accept(list []*machine) (*answer, *refusal) {
	out := []*machineJSON{}
	for _, m := range list {
		switch {
		case m.status.in(StatusReady, StatusCommissioning):
			continue // accepted before
		case m.status != StatusNew:
			return nil, conflict("Cannot accept node enlistment: node " + m.systemID + " is in state " + m.status.String() + ".")
		}
		c.commission(m)
		out = append(out, c.render(m))
	}
	return okMachines(out)
}
