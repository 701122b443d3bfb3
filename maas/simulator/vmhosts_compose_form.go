package simulator

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

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
			errs.add("architecture", badChoiceOf(arch))
		}
		out.architecture = arch
	}
	countField(f, "cpu_speed", 0, 300, math.MaxInt, &errs)
	if out.hostname = f.get("hostname"); out.hostname != "" {
		if _, taken := c.machineNamed(out.hostname); taken {
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

// countField reads a number of something from least to most.
func countField(f params, field string, otherwise, least, most int, errs *formErrors) int {
	value := strings.TrimSpace(f.get(field))
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		errs.add(field, notWhole)
	case n > most:
		errs.add(field, tooLarge(most))
	case n < least:
		errs.add(field, tooSmall(least))
	}
	return n
}

// pinnedCores counts the cores of the host that are asked for one by one.
func pinnedCores(f params, most int, errs *formErrors) int {
	seen := map[int]bool{}
	for _, value := range f.all("pinned_cores") {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= most {
			errs.add("pinned_cores", badChoiceOf(value))
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
	if _, there := numbered(in, value); !there {
		errs.add(field, badChoice)
		return
	}
	*target, _ = strconv.Atoi(value) // a number that is there
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
