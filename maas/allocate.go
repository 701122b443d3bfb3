package maas

import "context"

// AllocateParams constrains which machine is allocated; zero fields do not.
//
// Without a SystemID, MAAS may compose a new virtual machine when nothing fits; NotPodTypes {"lxd", "virsh"} forbids that.
type AllocateParams struct {
	SystemID     string
	AgentName    string // finds the machine again when the answer is lost; at most 255 characters
	Comment      string
	Zone, Pool   string
	Architecture string
	Tags         []string // all of them
	NotTags      []string
	NotPodTypes  []string
	MinCPU       int
	MinMemoryMiB int
	Storage      string   // MAAS's syntax: label:sizeGB(tag,…),…
	Interfaces   string   // MAAS's syntax: label:key=value,…;… (MAAS ignores a malformed one)
	Subnets      []string // all of them; each in MAAS's syntax: an ID, a CIDR, a name, or kind:value such as space:dmz
}

// Allocate makes one Ready machine the user's. [ErrConflict] means that none fits, or that the one asked for is taken.
// After [ErrOutcomeUnknown], look for the agent name before allocating again. Compare the system ID in the answer.
func (c *Client) Allocate(ctx context.Context, params AllocateParams) (*Machine, error) {
	r := write("allocate_machine", "POST", "machines/")
	if params.SystemID != "" {
		if err := checkSystemID(r.operation, params.SystemID); err != nil {
			return nil, err
		}
	}
	r.op = "allocate"
	// Empty values are left out: MAAS 3.4 to 3.7 answers an empty zone or pool with 400.
	r.form = fields{}.add("system_id", params.SystemID).add("agent_name", params.AgentName).add("comment", params.Comment).
		add("zone", params.Zone).add("pool", params.Pool).add("arch", params.Architecture).
		addEach("tags", params.Tags).addEach("not_tags", params.NotTags).addEach("not_pod_type", params.NotPodTypes).
		addPositive("cpu_count", params.MinCPU).addPositive("mem", params.MinMemoryMiB).
		add("storage", params.Storage).add("interfaces", params.Interfaces).addEach("subnets", params.Subnets).values()
	return object[Machine](ctx, c, r)
}
