package simulator

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// updateMachine changes a machine's settings: all that were sent, or none.
func updateMachine(c *call) (*answer, *refusal) {
	var errs formErrors
	m := edit(c.tx, c.machine)
	c.fillMachine(m, &errs)
	if refused := errs.refusal(); refused != nil {
		return nil, refused
	}
	c.touchDNS()
	return ok(c.render(m))
}

// fillMachine reads the settings of a machine that a form holds.
func (c *call) fillMachine(m *machine, errs *formErrors) {
	f := c.form
	if f.has("hostname") {
		c.updateHostname(m, f.get("hostname"), errs)
	}
	if f.has("domain") {
		if d := c.domainBySpecifier(f.get("domain")); d != nil {
			m.domain = d.id
		} else {
			errs.add("domain", "Unable to find domain "+f.get("domain"))
		}
	}
	if f.has("description") {
		m.description = f.get("description")
	}
	if name := f.get("zone"); name != "" {
		if z, ok := c.zoneNamed(name); ok {
			m.zone = z.id
		} else {
			errs.add("zone", badChoice)
		}
	}
	if name := f.get("pool"); name != "" {
		if p, ok := c.poolNamed(name); ok {
			m.pool = p.id
		} else {
			errs.add("pool", badChoice)
		}
	}
	c.updateHardware(m, errs)
}

func (c *call) updateHostname(m *machine, name string, errs *formErrors) {
	if name == "" {
		name = "node-" + c.r.drawID("abcdefghjkmnpqrstuvwxyz", 8)
	}
	host, domainName, qualified := strings.Cut(name, ".")
	domainID := m.domain
	if problem := hostLabelProblem(host); problem != "" {
		errs.add("hostname", problem)
		return
	}
	if qualified {
		d, ok := c.domainNamed(domainName)
		if !ok {
			errs.add("hostname", "Nonexistant domain.")
			return
		}
		domainID = d.id
	}
	if _, taken := c.machines.find(func(o *machine) bool { return o != m && o.hostname == host }); taken {
		errs.add("hostname", "Node with this Hostname already exists.")
		return
	}
	m.hostname, m.domain = host, domainID
}

func hostLabelProblem(label string) string {
	switch {
	case strings.Contains(label, "_"):
		return "Host label cannot contain underscore: " + pyRepr(label) + "."
	case len(label) > 63:
		return "Label is too long: " + pyRepr(label) + ".  Maximum allowed is 63 characters."
	case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
		return "Label cannot start or end with hyphen: " + pyRepr(label) + "."
	}
	return ""
}

func (c *call) updateHardware(m *machine, errs *formErrors) {
	f := c.form
	if text := f.get("swap_size"); text != "" {
		if size, ok := parseSize(text); ok {
			m.swapSize = &size
		} else {
			errs.add("swap_size", "Invalid size for swap: "+text)
		}
	}
	if arch := f.get("architecture"); arch != "" {
		usable := c.usableArchitectures()
		if !slices.Contains(usable, arch) {
			errs.add("architecture", notOneOf(arch, "architecture", usable))
		} else {
			m.architecture = arch
		}
	}
	for field, target := range map[string]*int{"cpu_count": &m.cores, "memory": &m.memoryMiB} {
		if text := f.get(field); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				errs.add(field, notWhole)
				continue
			}
			*target = n
		}
	}
	if kind := f.get("power_type"); kind != "" {
		if !slices.Contains([]string{"ipmi", "manual", "lxd", "virsh", "webhook", "redfish", "amt", "apc", "hmc", "moonshot", "openbmc"}, kind) {
			errs.add("power_type", badChoiceOf(kind))
		} else {
			c.setPowerParameters(m, m.powerType != kind)
			m.powerType = kind
			return
		}
	}
	c.setPowerParameters(m, false)
}

// parseSize reads a number of bytes, perhaps with a decimal unit.
func parseSize(text string) (int64, bool) {
	factor := 1.0
	if units := "KMGTP"; text != "" {
		if i := strings.IndexByte(units, text[len(text)-1]); i >= 0 {
			factor = math.Pow(1000, float64(i+1))
			text = text[:len(text)-1]
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return int64(float64(n) * factor), err == nil
}

func deleteMachine(c *call) (*answer, *refusal) {
	c.tx.deleteMachine(c.machine)
	return deleted()
}
