package simulator

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// fillVMHost sets a host's fields from a form: all that were sent, or none.
func (c *call) fillVMHost(h *vmHost, isNew bool) *refusal {
	var errs formErrors
	f := c.form
	c.nameVMHost(h, isNew, &errs)
	if isNew || f.has("tags") {
		h.tags = splitTags(f.all("tags"))
	}
	c.placeVMHost(h, &errs)
	ratioField(f, "cpu_over_commit_ratio", &h.cpuRatio, &errs)
	ratioField(f, "memory_over_commit_ratio", &h.memRatio, &errs)
	kind := f.get("type")
	switch {
	case isNew && kind == "":
		errs.add("type", required)
	case kind != "" && kind != "lxd" && kind != "virsh":
		errs.add("type", badChoiceOf(kind))
	case kind != "" && kind != h.kind:
		errs.add("type", "Cannot change the type of a pod. Delete and re-create the pod with a different type.")
	}
	if isNew && len(errs.fields) == 0 && f.get("power_address") == "" {
		// The fields of a type are looked at when all others are right.
		errs.add("power_address", required)
	}
	if refused := errs.refusal(); refused != nil {
		return refused
	}
	h.parameters = hostParameters(h, f)
	c.ensureTag(consoleTag)
	if !slices.Contains(h.tags, consoleTag) {
		h.tags = append(slices.Clone(h.tags), consoleTag)
	}
	return nil
}

func (c *call) nameVMHost(h *vmHost, isNew bool, errs *formErrors) {
	name := c.form.get("name")
	if name == "" {
		if isNew {
			h.name = "vm-host-" + c.r.drawID("abcdefghjkmnpqrstuvwxyz", 6)
		}
		return
	}
	if _, taken := c.vmHosts.find(func(o *vmHost) bool { return o.id != h.id && o.name == name }); taken {
		errs.add("name", "BMC with this Name already exists.")
		return
	}
	h.name = name
}

// placeVMHost reads the zone and the pool, which go by name here.
func (c *call) placeVMHost(h *vmHost, errs *formErrors) {
	if name := c.form.get("zone"); name != "" {
		if z, ok := c.zoneNamed(name); ok {
			h.zone = z.id
		} else {
			errs.add("zone", badChoice)
		}
	}
	if name := c.form.get("pool"); name != "" {
		if p, ok := c.poolNamed(name); ok {
			h.pool = p.id
		} else {
			errs.add("pool", badChoice)
		}
	}
}

func ratioField(f params, field string, target *float64, errs *formErrors) {
	value := f.get(field)
	if value == "" {
		return
	}
	ratio, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		errs.add(field, "Enter a number.")
	case ratio < 0:
		errs.add(field, tooSmall(0))
	case ratio > 10:
		errs.add(field, tooLarge(10))
	default:
		*target = ratio
	}
}

// hostParameters is how a host is reached, changed by what was sent. MAAS makes
// a certificate for an LXD host that comes without one.
func hostParameters(h *vmHost, f params) map[string]string {
	out := map[string]string{"power_address": ""}
	names := []string{"power_address", "power_pass"}
	if h.kind == "lxd" {
		names = []string{"power_address", "project", "certificate", "key"}
		out["project"], out["certificate"], out["key"] = "default", "made up by MAAS", "made up by MAAS"
	} else {
		out["power_pass"] = ""
	}
	maps.Copy(out, h.parameters)
	for _, name := range names {
		if value := strings.TrimSpace(f.get(name)); value != "" {
			out[name] = value
		}
	}
	return out
}

// ensureTag makes a tag that is not there.
func (t *tx) ensureTag(name string) {
	if _, there := t.tags.get(name); there {
		return
	}
	row := &tag{id: t.tags.nextID(), name: name}
	if name == consoleTag {
		row.comment, row.kernelOpts = "Turns on serial console output of composed machines.", "console=tty1 console=ttyS0"
	}
	insert(t, t.tags, name, row)
}
