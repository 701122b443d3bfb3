package simulator

import (
	"fmt"
	"sort"
	"strings"
)

// allocateOptions are the fields of an allocate that are no constraints.
func allocateOptions() map[string]bool {
	return map[string]bool{
		"op": true, "agent_name": true, "comment": true, "bridge_all": true, "bridge_type": true, "bridge_stp": true, "bridge_fd": true,
		"dry_run": true, "verbose": true,
	}
}

// allocateMachine takes the cheapest Ready machine that matches for the caller.
func allocateMachine(c *call) (*answer, *refusal) {
	dryRun, verbose, refused := c.allocateFlags()
	if refused != nil {
		return nil, refused
	}
	constraints := params{}
	options := allocateOptions()
	for _, key := range c.form.keys {
		for _, value := range c.form.all(key) {
			if !options[key] {
				constraints.add(key, value)
			}
		}
	}
	f, refused := c.parseFilter(constraints, allocateConstraints())
	if refused != nil {
		return nil, refused
	}
	candidates := c.candidates(f)
	if len(candidates) == 0 {
		m := c.composeForAllocate(constraints)
		if m == nil {
			return nil, c.noneAvailable(f, constraints)
		}
		candidates = []*machine{m}
	}
	agent := c.form.get("agent_name")
	if refused := tooLong("agent_name", agent); refused != nil {
		return nil, refused
	}
	m := candidates[0]
	if !dryRun {
		c.acquire(m, agent, c.form.get("comment"))
	}
	out := c.render(m)
	out.ConstraintsByType = f.labels(m, verbose, candidates)
	return ok(out)
}

func (c *call) allocateFlags() (dryRun, verbose bool, refused *refusal) {
	for _, flag := range []string{"bridge_all", "bridge_stp"} {
		if _, refused := c.form.boolean(flag); refused != nil {
			return false, false, refused
		}
	}
	if kind := c.form.get("bridge_type"); c.form.has("bridge_type") && kind != "standard" && kind != "ovs" {
		return false, false, invalid("bridge_type", "'%(value)s' is not a valid bridge_type.  It should be one of: 'standard', 'ovs'.")
	}
	if _, refused := c.form.integer("bridge_fd", 0); refused != nil {
		return false, false, refused
	}
	if verbose, refused = c.form.boolean("verbose"); refused != nil {
		return false, false, refused
	}
	dryRun, refused = c.form.boolean("dry_run")
	return dryRun, verbose, refused
}

// maxName is the length of MAAS's name columns.
const maxName = 255

func tooLong(field, value string) *refusal {
	if n := len([]rune(value)); n > maxName {
		refused := invalid(field, tooManyLetters(maxName, n))
		refused.contentType = typeBareJSON
		return refused
	}
	return nil
}

// candidates are the machines that an allocate may take, cheapest first.
func (c *call) candidates(f *filter) []*machine {
	var out []*machine
	for _, m := range c.machines.all() {
		if m.status == StatusReady && !m.locked && mayAccess(c.user, m, viewers) && f.matches(m) {
			out = append(out, m)
		}
	}
	cost := func(m *machine) float64 { return float64(m.cores) + float64(m.memoryMiB)/1024 }
	sort.SliceStable(out, func(i, j int) bool { return cost(out[i]) < cost(out[j]) })
	return out
}

// noneAvailable is MAAS's text for an allocate without a match.
func (c *call) noneAvailable(f *filter, constraints params) *refusal {
	if constraints.has("system_id") {
		return conflict("No machine with system ID " + constraints.get("system_id") + " available.")
	}
	if len(constraints.keys) == 0 {
		return conflict("No machine available.")
	}
	var pairs []string
	for _, key := range c.form.keys {
		if key != "op" {
			pairs = append(pairs, "("+pyRepr(key)+", "+pyReprList(c.form.all(key))+")")
		}
	}
	return conflict(fmt.Sprintf("No available machine matches constraints: [%s] (resolved to \"%s\")", strings.Join(pairs, ", "), f.resolved()))
}

// acquire makes a Ready machine the caller's.
func (c *call) acquire(m *machine, agent, comment string) {
	edit(c.tx, m)
	m.owner, m.agentName = c.user.name, agent
	c.acquired = m.systemID
	c.byUser(m, "User acquiring node", comment)
	c.setStatus(m, StatusAllocated)
}
