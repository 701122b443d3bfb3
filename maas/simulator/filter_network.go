package simulator

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// subnetsBySpecifier finds subnets as MAAS's specifiers name them: an ID, a
// CIDR, or kind:value.
func (c *call) subnetsBySpecifier(specifier string) []*subnet {
	kind, value, typed := strings.Cut(specifier, ":")
	if !typed {
		kind, value = "", specifier
	}
	var out []*subnet
	for _, n := range c.subnets.all() {
		id := strconv.Itoa(n.id)
		hit := false
		switch kind {
		case "":
			hit = value == id || value == n.prefix.String() || value == n.name
		case "id":
			hit = value == id
		case "cidr":
			hit = value == n.prefix.String()
		case "name":
			hit = value == n.name
		case "ip":
			ip, err := netip.ParseAddr(value)
			hit = err == nil && n.prefix.Contains(ip)
		case "space":
			hit = value == n.vlan.space
		case "fabric":
			hit = value == n.vlan.fabric.name || value == strconv.Itoa(n.vlan.fabric.id)
		case "vid":
			hit = value == strconv.Itoa(n.vlan.vid) || (value == "untagged" && n.vlan.vid == 0)
		case "vlan":
			hit = value == strconv.Itoa(n.vlan.id)
		}
		if hit {
			out = append(out, n)
		}
	}
	return out
}

func (m *machine) onSubnet(wanted []*subnet) bool {
	for _, n := range m.nics {
		for _, l := range n.links {
			for _, w := range wanted {
				if l.subnet == w {
					return true
				}
			}
		}
	}
	return false
}

func subnetConstraint(negate bool) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		var groups [][]*subnet
		var resolved []string
		for _, value := range values {
			found := c.subnetsBySpecifier(value)
			if len(found) == 0 {
				return nil, nil, "No matching subnets found.", nil
			}
			groups = append(groups, found)
			for _, n := range found {
				resolved = append(resolved, strconv.Itoa(n.id))
			}
		}
		return func(m *machine) bool {
			for _, group := range groups {
				if m.onSubnet(group) == negate {
					return false
				}
			}
			return true
		}, resolved, "", nil
	}
}

func vlanConstraint(negate bool) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		wanted := map[*vlan]bool{}
		var resolved []string
		for _, value := range values {
			kind, id, typed := strings.Cut(value, ":")
			if !typed {
				kind, id = "id", value
			}
			for _, v := range c.vlans.all() {
				if (kind == "id" && id == strconv.Itoa(v.id)) || (kind == "vid" && id == strconv.Itoa(v.vid)) || (kind == "name" && id == v.name) {
					wanted[v] = true
					resolved = append(resolved, strconv.Itoa(v.id))
				}
			}
		}
		if len(wanted) == 0 {
			return nil, nil, "No matching VLANs found.", nil
		}
		return func(m *machine) bool {
			on := false
			for _, n := range m.nics {
				on = on || wanted[n.vlan]
			}
			return on != negate
		}, resolved, "", nil
	}
}

func fabricConstraint(negate bool) constraint {
	return func(_ *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		return func(m *machine) bool {
			on := false
			for _, n := range m.nics {
				on = on || n.on(func(v *vlan) bool { return slices.Contains(values, v.fabric.name) })
			}
			return on != negate
		}, values, "", nil
	}
}
