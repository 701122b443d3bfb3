package maas

import (
	"bytes"
	"context"
	"net/url"
	"slices"
)

// MachineFilter selects machines; zero selects all that the user may see. Values of one field are alternatives,
// except Tags and Subnets, of which a machine must have all. MAAS answers an unknown zone, pool, tag or subnet, and a malformed
// Storage, with 400 ([ErrInvalid]).
type MachineFilter struct {
	// SystemIDs selects by system ID. nil selects all machines; an empty slice that is not nil selects none.
	SystemIDs []string
	Hostnames []string
	Statuses  []Status // several need MAAS 3.3
	// AgentName selects by what was sent with allocate; "" does not filter. MAAS clears it when a release starts.
	AgentName     string
	Zones, Pools  []string
	Tags, NotTags []string
	Architecture  string // amd64 or amd64/generic
	MinCPU        int
	MinMemoryMiB  int
	Owner         string       // MAAS 3.3 and newer
	PowerStates   []PowerState // MAAS 3.3 and newer
	// Storage, Interfaces and Subnets are in MAAS's syntax, as in [AllocateParams].
	Storage, Interfaces string
	Subnets             []string
}

// Machines lists machines. Many system IDs are asked for in several requests; the answer is not one moment's truth then.
func (c *Client) Machines(ctx context.Context, filter MachineFilter) ([]Machine, error) {
	r := read("list_machines", "machines/")
	for _, s := range filter.Statuses {
		if s.FilterName() == "" {
			return nil, invalid(r.operation, "MAAS has no such status")
		}
	}
	if filter.SystemIDs == nil {
		r.query = filter.query()
		return list[Machine](ctx, c, r)
	}
	machines := []Machine{}
	seen := map[string]bool{}
	for ids := range slices.Chunk(filter.SystemIDs, maxIDsPerRequest) {
		r.query = filter.query()
		r.query["id"] = ids
		some, err := list[Machine](ctx, c, r)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			if !seen[m.SystemID] {
				seen[m.SystemID] = true
				machines = append(machines, m)
			}
		}
	}
	return machines, nil
}

func (f MachineFilter) query() url.Values {
	q := fields{}.addEach("hostname", f.Hostnames).add("agent_name", f.AgentName).
		addEach("zone", f.Zones).addEach("pool", f.Pools).
		addEach("tags", f.Tags).addEach("not_tags", f.NotTags).
		add("arch", f.Architecture).addPositive("cpu_count", f.MinCPU).addPositive("mem", f.MinMemoryMiB).
		add("owner", f.Owner).add("storage", f.Storage).add("interfaces", f.Interfaces).addEach("subnets", f.Subnets)
	for _, s := range f.Statuses {
		q.add("status", s.FilterName())
	}
	for _, p := range f.PowerStates {
		q.add("power_state", string(p))
	}
	return q.values()
}

// Machine reads one machine. [ErrForbidden] means that it is another user's, [ErrNotFound] that MAAS has none by that ID.
func (c *Client) Machine(ctx context.Context, systemID string) (*Machine, error) {
	return c.machineCall(ctx, read("read_machine", "machines/"+systemID+"/"), systemID)
}

// machineCall calls an operation of one machine, and takes no other machine for it.
func (c *Client) machineCall(ctx context.Context, r request, systemID string) (*Machine, error) {
	// An empty ID would make this an operation on the whole collection.
	if err := checkSystemID(r.operation, systemID); err != nil {
		return nil, err
	}
	var machine *Machine
	err := c.do(ctx, r, whole(func(body []byte) error {
		if r.mayBeNull && string(bytes.TrimSpace(body)) == "null" {
			return nil
		}
		machine = new(Machine)
		if err := decodeObject(body, machine); err != nil {
			return err
		}
		if machine.SystemID != systemID {
			return errShape("it is about another machine")
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return machine, nil
}
