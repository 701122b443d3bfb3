package simulator

import (
	"maps"
	"net/http"
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
		errs.add("type", "This field is required.")
	case kind != "" && kind != "lxd" && kind != "virsh":
		errs.add("type", "Select a valid choice. "+kind+" is not one of the available choices.")
	case kind != "" && kind != h.kind:
		errs.add("type", "Cannot change the type of a pod. Delete and re-create the pod with a different type.")
	}
	if isNew && len(errs.fields) == 0 && f.get("power_address") == "" {
		// The fields of a type are looked at when all others are right.
		errs.add("power_address", "This field is required.")
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

// badChoice is the error for an object that does not exist.
const badChoice = "Select a valid choice. That choice is not one of the available choices."

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
		errs.add(field, "Ensure this value is greater than or equal to 0.")
	case ratio > 10:
		errs.add(field, "Ensure this value is less than or equal to 10.")
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

// composeForm is what a compose asks for.
type composeForm struct {
	cores, memoryMiB   int
	architecture       string
	hostname           string
	domain, zone, pool int
	disks              []composedDisk
	interfaces         bool
	skipCommissioning  bool
}

type composedDisk struct {
	size int64
	pool string
	tags []string
}

const (
	defaultComposedCores   = 1
	defaultComposedMemory  = 2048
	leastComposedMemory    = 1024
	defaultComposedStorage = "root:8(local)"
)

// parseCompose reads what a machine shall have, within what the host has.
func (c *call) parseCompose(h *vmHost, f params) (composeForm, *refusal) {
	out := composeForm{domain: c.defaultDomain, zone: 1, pool: h.pool}
	var errs formErrors
	out.cores = countField(f, "cores", defaultComposedCores, 1, h.hintCores, &errs)
	if pinned := pinnedCores(f, h.hintCores, &errs); pinned > 0 {
		out.cores = pinned
	}
	out.memoryMiB = countField(f, "memory", defaultComposedMemory, leastComposedMemory, h.hintMemory, &errs)
	if len(h.known.architectures) > 0 {
		out.architecture = h.known.architectures[0]
	}
	if arch := f.get("architecture"); arch != "" {
		if !slices.Contains(h.known.architectures, arch) {
			errs.add("architecture", "Select a valid choice. "+arch+" is not one of the available choices.")
		}
		out.architecture = arch
	}
	countField(f, "cpu_speed", 0, 300, 0, &errs)
	if out.hostname = f.get("hostname"); out.hostname != "" {
		if _, taken := c.machines.find(func(o *machine) bool { return o.hostname == out.hostname }); taken {
			errs.add("hostname", `Node with hostname "`+out.hostname+`" already exists`)
		} else if problem := hostLabelProblem(out.hostname); problem != "" {
			errs.add("hostname", problem)
		}
	}
	idField(f, "domain", c.domains, &out.domain, &errs)
	idField(f, "zone", c.zones, &out.zone, &errs)
	idField(f, "pool", c.pools, &out.pool, &errs)
	c.composedDisks(h, f, &out, &errs)
	out.interfaces = f.get("interfaces") != ""
	out.skipCommissioning = f.formBoolean("skip_commissioning")
	return out, errs.refusal()
}

// countField reads a number of something; most is no bound when it is negative
// or the field has none.
func countField(f params, field string, otherwise, least, most int, errs *formErrors) int {
	value := strings.TrimSpace(f.get(field))
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		errs.add(field, "Enter a whole number.")
	case n > most && field != "cpu_speed":
		errs.add(field, "Ensure this value is less than or equal to "+strconv.Itoa(most)+".")
	case n < least:
		errs.add(field, "Ensure this value is greater than or equal to "+strconv.Itoa(least)+".")
	}
	return n
}

// pinnedCores counts the cores of the host that are asked for one by one.
func pinnedCores(f params, most int, errs *formErrors) int {
	seen := map[int]bool{}
	for _, value := range f.all("pinned_cores") {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= most {
			errs.add("pinned_cores", "Select a valid choice. "+value+" is not one of the available choices.")
			return 0
		}
		seen[n] = true
	}
	return len(seen)
}

// idField reads the ID of something that must exist.
func idField[V any](f params, field string, in *table[int, V], target *int, errs *formErrors) {
	value := f.get(field)
	if value == "" {
		return
	}
	id, err := strconv.Atoi(value)
	if _, there := in.get(id); err != nil || !there {
		errs.add(field, badChoice)
		return
	}
	*target = id
}

// composedDisks reads label:size(pool,tag),…; sizes are in GB of 10^9 bytes. A
// disk is in the pool that one of its tags names, else in the host's own.
func (c *call) composedDisks(h *vmHost, f params, out *composeForm, errs *formErrors) {
	value := f.get("storage")
	if value == "" {
		value = defaultComposedStorage
	}
	var asked filter
	c.addStorage(&asked, value, errs)
	for _, need := range asked.storage {
		disk := composedDisk{size: need.bytes}
		for _, p := range h.known.pools {
			if p.main {
				disk.pool = p.name
			}
		}
		for _, name := range need.tags {
			if slices.ContainsFunc(h.known.pools, func(p storagePool) bool { return p.name == name }) {
				disk.pool = name
				continue
			}
			disk.tags = append(disk.tags, name)
		}
		out.disks = append(out.disks, disk)
	}
}

// composeProblem is MAAS's 503 for a compose that did not work out.
func composeProblem(body string) *refusal { return text(http.StatusServiceUnavailable, body) }
