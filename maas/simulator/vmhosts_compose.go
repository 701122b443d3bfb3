package simulator

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// composeMachine makes a virtual machine on a host, and commissions it.
func composeMachine(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	form, refused := c.parseCompose(h, c.form)
	if refused != nil {
		return nil, refused
	}
	m, refused := c.compose(h, form)
	if refused != nil {
		return nil, refused
	}
	if !form.skipCommissioning {
		edit(c.tx, m).status = StatusNew
		m.commissioned = false
		c.commissionComposed(m)
	}
	return ok(struct {
		SystemID    string `json:"system_id"`
		ResourceURI string `json:"resource_uri"`
	}{m.systemID, apiPrefix + "/machines/" + m.systemID + "/"})
}

// commissionComposed commissions a machine for the first time, which finds that
// it is a virtual one.
func (c *call) commissionComposed(m *machine) {
	c.busy(m, StatusCommissioning, MomentCommission, c.takes(c.r.cfg.Durations.Commission), func(m *machine) Status {
		m.commissioned = true
		m.tags = append(slices.Clone(m.tags), virtualTag)
		return StatusReady
	})
	c.ensureTag(virtualTag)
}

// virtualTag is what MAAS's commissioning gives to virtual machines.
const virtualTag = "virtual"

// composeTimeout is how long MAAS waits for a host that composes.
const composeTimeout = 120 * time.Second

// compose has a host make a machine. It is Ready at once, for those who do not
// commission it.
func (c *call) compose(h *vmHost, form composeForm) (*machine, *refusal) {
	if problem := c.overCommitProblem(h, form.cores, form.memoryMiB); problem != "" {
		return nil, composeProblem("Unable to compose KVM instance in '" + h.name + "'. " + problem)
	}
	if form.interfaces {
		return nil, text(http.StatusBadRequest, "Pod must be on a known host if interfaces are specified.")
	}
	if c.vmHostTrouble(MomentRack, h).Fail != "" {
		return nil, noRack("")
	}
	trouble := c.vmHostTrouble(MomentCompose, h)
	took := c.takes(c.r.cfg.Durations.Compose) + trouble.Delay
	if trouble.Stuck || took > composeTimeout {
		c.holds += composeTimeout
		return nil, composeProblem(fmt.Sprintf("Unable to compose a machine because '%s' driver timed out after %.0f seconds.", h.kind, composeTimeout.Seconds()))
	}
	c.holds += took
	if trouble.Fail != "" {
		return nil, composeProblem("Unable to compose machine because: " + trouble.Fail)
	}
	if full := c.fullPool(h, form.disks); full != "" {
		return nil, composeProblem("Unable to compose machine because: Not enough storage space on storage pools: " + full)
	}
	return c.newVirtualMachine(h, form), nil
}

// composeProblem is MAAS's 503 for a compose that did not work out.
func composeProblem(body string) *refusal { return text(http.StatusServiceUnavailable, body) }

// fullPool is a storage pool that has no room for the disks that are to be in
// it; "" when there is none.
func (c *call) fullPool(h *vmHost, disks []composedDisk) string {
	for _, p := range h.known.pools {
		need := int64(0)
		for _, d := range disks {
			if d.pool == p.name {
				need += d.size
			}
		}
		if need > 0 && c.usedIn(h, p.name)+need > p.size {
			return p.name
		}
	}
	return ""
}

// newVirtualMachine adds what a host made. It carries the host's tags, and is
// in the default zone unless another was asked for, whatever the host's is.
func (c *call) newVirtualMachine(h *vmHost, form composeForm) *machine {
	r := c.r
	m := &machine{
		id: c.machines.nextID(), systemID: r.freeSystemID(), hostname: form.hostname, architecture: form.architecture,
		cores: form.cores, memoryMiB: form.memoryMiB, powerType: h.kind, powerState: "off", status: StatusReady, previous: StatusReady,
		netboot: true, commissioned: true, domain: form.domain, zone: form.zone, pool: form.pool, vmHost: h.id,
		tags: slices.Clone(h.tags), hardwareUUID: r.drawUUID(),
	}
	c.lastVirtualMachine++
	m.virtualMachine = c.lastVirtualMachine
	for _, name := range m.tags {
		c.ensureTag(name)
	}
	for m.hostname == "" {
		name := r.petName()
		if _, taken := c.machineNamed(name); !taken {
			m.hostname = name
		}
	}
	c.lastResult += 3
	m.installResult = c.lastResult
	c.addVirtualHardware(m, h, form)
	insert(c.tx, c.machines, m.systemID, m)
	c.touchDNS()
	return m
}

func (c *call) addVirtualHardware(m *machine, h *vmHost, form composeForm) {
	r := c.r
	vendor := qemuMAC
	if h.kind == "lxd" {
		vendor = lxdMAC
	}
	c.lastNIC++
	eth0 := nic{id: c.lastNIC, name: "eth0", mac: r.freeMAC(vendor)}
	if h.subnet != nil {
		row := &address{id: c.addresses.nextID(), kind: allocAuto, subnet: h.subnet, machine: m.systemID, created: c.now()}
		insert(c.tx, c.addresses, row.id, row)
		eth0.vlan = h.subnet.vlan
		eth0.links = []link{{id: row.id, mode: modeAuto, subnet: h.subnet, addr: row.id}}
	}
	m.nics = []nic{eth0}
	for i, d := range form.disks {
		c.lastDisk++
		m.disks = append(m.disks, disk{
			id: c.lastDisk, name: "sd" + string(rune('a'+i)), model: "QEMU HARDDISK", serial: "lxd_" + strconv.Itoa(i), size: d.size,
			tags: append([]string{}, d.tags...), storagePool: d.pool, partitionUUID: r.drawUUID(),
		})
	}
}

// composeForAllocate makes a machine for an allocate that found none, on the
// first host that may and can; nil when there is none. MAAS does so for every
// user and even in a dry run, but never for an allocate that names a machine.
// Whatever goes wrong is forgotten.
func (c *call) composeForAllocate(constraints params) *machine {
	if constraints.has("system_id") {
		return nil
	}
	wanted := params{}
	for field, key := range map[string]string{"cpu_count": "cores", "mem": "memory"} {
		if n := smallest(constraints.all(field)); n > 0 {
			wanted.add(key, strconv.Itoa(n))
		}
	}
	if archs := constraints.all("arch"); len(archs) > 0 {
		arch := slices.Min(archs)
		if !strings.Contains(arch, "/") {
			arch += "/generic"
		}
		wanted.add("architecture", arch)
	}
	for _, key := range []string{"storage", "interfaces"} {
		if value := constraints.get(key); value != "" {
			wanted.add(key, value)
		}
	}
	for _, h := range c.vmHosts.all() {
		if !c.mayComposeOn(h, constraints) {
			continue
		}
		form, refused := c.parseCompose(h, wanted)
		if refused != nil {
			continue
		}
		if m, refused := c.compose(h, form); refused == nil {
			m.dynamic = true
			return m
		}
	}
	return nil
}

// smallest is the least of some numbers, without its fraction.
func smallest(values []string) int {
	least := math.Inf(1)
	for _, value := range values {
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			least = min(least, n)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return int(least)
}

// mayComposeOn says whether an allocate's constraints allow a host. They are
// about the host, not about what it would make: its zone and its tags, which
// must all be named one by one, its name and its type.
func (c *call) mayComposeOn(h *vmHost, constraints params) bool {
	all := constraints.all
	switch {
	case constraints.get("zone") != "" && c.zones.rows[h.zone].name != constraints.get("zone"):
		return false
	case !hasAll(h.tags, all("tags")):
		return false
	case len(all("not_tags")) > 0 && hasAll(h.tags, all("not_tags")):
		return false
	case len(all("pod")) > 0 && !slices.Contains(all("pod"), h.name):
		return false
	case len(all("pod_type")) > 0 && !slices.Contains(all("pod_type"), h.kind):
		return false
	case slices.Contains(all("not_pod"), h.name), slices.Contains(all("not_pod_type"), h.kind):
		return false
	}
	return true
}
