package simulator

import "net/http"

// nodeOperations are the calls of nodes, MAAS's older name for machines.
func nodeOperations() []operation {
	return []operation{
		{http.MethodGet, "/nodes/", "", users, listMachines, "lists machines alone, no devices and controllers"},
		{http.MethodGet, "/nodes/", "is_registered", anyone, isRegistered, ""},
		{http.MethodGet, "/nodes/{system_id}/", "", viewers, readMachine, ""},
	}
}

// machineListOperations are the calls of the list of machines.
func machineListOperations() []operation {
	return []operation{
		{http.MethodGet, "/machines/", "", users, listMachines, "no filter `devices`; all machines have one CPU speed, one link speed and no fabric class"},
		{http.MethodGet, "/machines/", "list_allocated", users, listAllocated, ""},
		{http.MethodGet, "/machines/", "is_registered", anyone, isRegistered, ""},
		{http.MethodPost, "/machines/", "allocate", users, allocateMachine, "the `bridge_*` options make no bridges"},
		{http.MethodPost, "/machines/", "release", users, releaseMachines, ""},
	}
}

// listMachines answers the machines that the caller may see and that match all
// filters, in the order in which they were made.
func listMachines(c *call) (*answer, *refusal) {
	f, refused := c.parseFilter(c.query, c.r.listConstraints())
	if refused != nil {
		return nil, refused
	}
	out := []*machineJSON{}
	for _, m := range c.machines.all() {
		if mayAccess(c.user, m, viewers) && f.matches(m) {
			out = append(out, c.render(m))
		}
	}
	return okMachines(out)
}

func readMachine(c *call) (*answer, *refusal) { return ok(c.render(c.machine)) }

// listAllocated answers the caller's machines in state Allocated.
func listAllocated(c *call) (*answer, *refusal) {
	ids := map[string]bool{}
	for _, id := range c.query.all("id") {
		ids[id] = true
	}
	out := []*machineJSON{}
	for _, m := range c.machines.all() {
		if m.owner == c.user.name && m.status == StatusAllocated && (len(ids) == 0 || ids[m.systemID]) {
			out = append(out, c.render(m))
		}
	}
	return okMachines(out)
}

// isRegistered says whether some machine has a MAC address.
func isRegistered(c *call) (*answer, *refusal) {
	mac := c.query.get("mac_address")
	if mac == "" {
		return nil, missing("mac_address")
	}
	_, found := c.machineWithMAC(mac)
	return ok(found)
}
