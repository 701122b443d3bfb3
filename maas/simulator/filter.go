package simulator

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// filter is what a list or an allocate asks of machines.
type filter struct {
	tests   []func(*machine) bool
	solved  []string // field=value, of the constraints that count
	storage []storageNeed
	nics    []nicNeed
}

func (f *filter) matches(m *machine) bool {
	for _, test := range f.tests {
		if !test(m) {
			return false
		}
	}
	return true
}

// resolved is how MAAS prints the constraints in its 409.
func (f *filter) resolved() string {
	sort.Strings(f.solved)
	return strings.Join(f.solved, " ")
}

// constraint turns the values of one field into a test. The strings it returns
// are the values as MAAS resolved them, and what is wrong with them.
type constraint func(c *call, values []string) (test func(*machine) bool, resolved []string, problem string, refused *refusal)

// parseFilter reads all fields, or says what is wrong with each.
func (c *call) parseFilter(fields params, known map[string]constraint) (*filter, *refusal) {
	f := &filter{}
	var errs formErrors
	for _, key := range fields.keys {
		if key == "op" || key == "format" || strings.HasPrefix(key, "oauth_") {
			continue
		}
		values := fields.all(key)
		switch key {
		case "storage":
			c.addStorage(f, fields.get(key), &errs)
			continue
		case "interfaces":
			if refused := c.addInterfaces(f, fields.get(key), &errs); refused != nil {
				return nil, refused
			}
			continue
		}
		build, ok := known[key]
		if !ok {
			errs.add(key, "No such constraint.")
			continue
		}
		test, resolved, problem, refused := build(c, values)
		switch {
		case refused != nil:
			return nil, refused
		case problem != "":
			errs.add(key, problem)
		case test != nil:
			f.tests = append(f.tests, test)
			f.solved = append(f.solved, key+"="+strings.Join(resolved, ","))
		}
	}
	return f, errs.refusal()
}

// listConstraints are the filters of the list of machines.
func (r *Region) listConstraints() map[string]constraint {
	known := commonConstraints()
	known["id"] = textConstraint(func(c *call, m *machine) string { return m.systemID })
	known["hostname"] = textConstraint(func(c *call, m *machine) string { return m.hostname })
	known["domain"] = textConstraint(func(c *call, m *machine) string { return c.domainOf(m).name })
	known["agent_name"] = textConstraint(func(c *call, m *machine) string { return m.agentName })
	known["mac_address"] = macConstraint
	known["status"] = statusConstraint(false)
	known["not_status"] = statusConstraint(true)
	known["power_state"] = choiceConstraint([]string{"on", "off", "unknown", "error"}, func(m *machine) string { return m.powerState })
	if !r.since(3, 5) {
		return known
	}
	known["deployment_target"] = choiceConstraint([]string{"disk", "memory"}, func(m *machine) string {
		if m.ephemeral {
			return "memory"
		}
		return "disk"
	})
	return known
}

// allocateConstraints are the constraints of allocate.
func allocateConstraints() map[string]constraint {
	known := commonConstraints()
	known["name"] = func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		name := values[len(values)-1]
		return func(m *machine) bool { return name == m.hostname || name == c.fqdn(m) }, []string{name}, "", nil
	}
	return known
}

func commonConstraints() map[string]constraint {
	none := func(*call, *machine) string { return "" }
	pod := func(c *call, m *machine) string { return c.vmHostOf(m).name }
	podType := func(c *call, m *machine) string { return c.vmHostOf(m).kind }
	return map[string]constraint{
		"system_id":          textConstraint(func(c *call, m *machine) string { return m.systemID }),
		"zone":               placeConstraint("No such zone(s): ", false, (*call).isZone, func(c *call, m *machine) string { return c.zones.rows[m.zone].name }),
		"not_in_zone":        placeConstraint("No such zone(s): ", true, (*call).isZone, func(c *call, m *machine) string { return c.zones.rows[m.zone].name }),
		"pool":               placeConstraint("No such pool(s): ", false, (*call).isPool, func(c *call, m *machine) string { return c.pools.rows[m.pool].name }),
		"not_in_pool":        placeConstraint("No such pool(s): ", true, (*call).isPool, func(c *call, m *machine) string { return c.pools.rows[m.pool].name }),
		"tags":               tagConstraint(false),
		"not_tags":           tagConstraint(true),
		"arch":               archConstraint(false),
		"not_arch":           archConstraint(true),
		"cpu_count":          numberConstraint("Invalid CPU count: number required.", func(m *machine) float64 { return float64(m.cores) }),
		"cpu_speed":          numberConstraint("Invalid CPU speed: number required.", func(m *machine) float64 { return 2600 }),
		"mem":                numberConstraint("Invalid memory: number of MiB required.", func(m *machine) float64 { return float64(m.memoryMiB) }),
		"link_speed":         numberConstraint("Invalid link speed: number required.", func(m *machine) float64 { return 10000 }),
		"owner":              ownerConstraint,
		"pod":                textConstraint(pod),
		"not_pod":            notConstraint(pod),
		"pod_type":           textConstraint(podType),
		"not_pod_type":       notConstraint(podType),
		"subnets":            subnetConstraint(false),
		"not_subnets":        subnetConstraint(true),
		"vlans":              vlanConstraint(false),
		"not_vlans":          vlanConstraint(true),
		"fabrics":            fabricConstraint(false),
		"not_fabrics":        fabricConstraint(true),
		"fabric_classes":     textConstraint(none),
		"not_fabric_classes": notConstraint(none),
	}
}

func (c *call) isZone(name string) bool { _, ok := c.zoneNamed(name); return ok }
func (c *call) isPool(name string) bool { _, ok := c.poolNamed(name); return ok }

func textConstraint(value func(*call, *machine) string) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		return func(m *machine) bool { return slices.Contains(values, value(c, m)) }, values, "", nil
	}
}

func notConstraint(value func(*call, *machine) string) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		return func(m *machine) bool { return !slices.Contains(values, value(c, m)) }, values, "", nil
	}
}

// placeConstraint is about something that must exist.
func placeConstraint(problem string, negate bool, exists func(*call, string) bool, value func(*call, *machine) string) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		var unknown []string
		for _, name := range values {
			if !exists(c, name) {
				unknown = append(unknown, name)
			}
		}
		if len(unknown) > 0 {
			return nil, nil, problem + strings.Join(unknown, ", ") + ".", nil
		}
		return func(m *machine) bool { return slices.Contains(values, value(c, m)) != negate }, values, "", nil
	}
}

func ownerConstraint(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
	for _, name := range values {
		if _, ok := c.users.get(name); !ok {
			return nil, nil, "No such owner: " + pyRepr(name) + ".", nil
		}
	}
	return func(m *machine) bool { return slices.Contains(values, m.owner) }, values, "", nil
}

func numberConstraint(problem string, value func(*machine) float64) constraint {
	return func(_ *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		least, err := strconv.ParseFloat(values[len(values)-1], 64)
		if err != nil {
			return nil, nil, problem, nil
		}
		return func(m *machine) bool { return value(m) >= least }, []string{pyFloat(least)}, "", nil
	}
}

func pyFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func choiceConstraint(choices []string, value func(*machine) string) constraint {
	return func(_ *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		for _, v := range values {
			if !slices.Contains(choices, v) {
				return nil, nil, badChoiceOf(v), nil
			}
		}
		return func(m *machine) bool { return slices.Contains(values, value(m)) }, values, "", nil
	}
}

func statusConstraint(negate bool) constraint {
	return func(_ *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		for _, v := range values {
			if _, ok := statusOfFilter(v); !ok {
				return nil, nil, badChoiceOf(v), nil
			}
		}
		return func(m *machine) bool { return slices.Contains(values, statusNames()[m.status][1]) != negate }, values, "", nil
	}
}

func macForm() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}$`)
}

func macConstraint(_ *call, values []string) (func(*machine) bool, []string, string, *refusal) {
	for _, v := range values {
		if !macForm().MatchString(v) {
			return nil, nil, pyRepr(v) + " is not a valid MAC address.", nil
		}
	}
	return func(m *machine) bool {
		for _, v := range values {
			if m.hasMAC(v) {
				return true
			}
		}
		return false
	}, values, "", nil
}

func (m *machine) hasMAC(mac string) bool {
	for _, n := range m.nics {
		if strings.EqualFold(n.mac, mac) {
			return true
		}
	}
	return false
}
