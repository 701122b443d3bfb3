package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// vmHost makes virtual machines. What it has is known once MAAS looked at it.
type vmHost struct {
	id                 int
	name, kind         string // lxd or virsh
	zone, pool         int
	tags               []string
	cpuRatio, memRatio float64
	parameters         map[string]string // how it is reached
	known              hostResources
	// hints bound what a machine may ask for.
	hintCores, hintMemory int
	subnet                *subnet // of its machines
	hardware              hostResources
}

// hostResources is what a host can give to machines.
type hostResources struct {
	cores, memoryMiB int
	localStorage     int64
	architectures    []string
	pools            []storagePool
	version          string // of its software
}

type storagePool struct {
	name, kind, path string
	size             int64
	main             bool
}

// vmHostOperations are the calls of VM hosts, and of pods, their older name.
func vmHostOperations() []operation {
	var out []operation
	for _, list := range []string{"/vm-hosts/", "/pods/"} {
		one := list + "{id}/"
		out = append(out, []operation{
			{http.MethodGet, list, "", users, listVMHosts, ""},
			{http.MethodPost, list, "", admins, createVMHost, "certificates are made up, and discovery finds no machines"},
			{http.MethodGet, one, "", users, readVMHost, ""},
			{http.MethodPut, one, "", admins, updateVMHost, ""},
			{http.MethodDelete, one, "", admins, deleteVMHost, ""},
			{http.MethodPost, one, "refresh", admins, refreshVMHost, "discovery finds no machines"},
			{http.MethodGet, one, "parameters", admins, vmHostParameters, ""},
			{http.MethodPost, one, "compose", admins, composeMachine, "interfaces are refused, as by a host that runs on no machine of MAAS's"},
			{http.MethodPost, one, "add_tag", admins, addVMHostTag, ""},
			{http.MethodPost, one, "remove_tag", admins, removeVMHostTag, ""},
		}...)
	}
	return out
}

// vmHostOfPath finds the host that a path names.
func (c *call) vmHostOfPath() (*vmHost, *refusal) {
	if h, ok := numbered(c.vmHosts, c.vars["id"]); ok {
		return h, nil
	}
	return nil, handled(http.StatusNotFound, "Not Found")
}

func listVMHosts(c *call) (*answer, *refusal) {
	out := []vmHostJSON{}
	for _, h := range c.vmHosts.all() {
		out = append(out, c.renderVMHost(h))
	}
	return ok(out)
}

func readVMHost(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderVMHost(h))
}

// vmHostParameters shows how a host is reached, secrets and all.
func vmHostParameters(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(h.parameters)
}

// consoleTag is on every host that was saved by a request, and on its machines.
const consoleTag = "pod-console-logging"

// createVMHost adds a host. One that cannot be talked to is added all the same,
// with nothing to give.
func createVMHost(c *call) (*answer, *refusal) {
	h := &vmHost{zone: 1, cpuRatio: 1, memRatio: 1, kind: c.form.get("type")}
	if refused := c.fillVMHost(h, true); refused != nil {
		return nil, refused
	}
	address := h.parameters["power_address"]
	if _, taken := c.vmHosts.find(func(o *vmHost) bool { return o.kind == h.kind && o.parameters["power_address"] == address }); taken {
		return nil, text(http.StatusBadRequest, "Pod "+h.name+" with type and parameters already exist.")
	}
	h.hardware, h.subnet = c.hardwareAt(h.kind, address)
	h.id = c.vmHosts.nextID()
	insert(c.tx, c.vmHosts, h.id, h)
	_ = c.discover(h, c.takes(c.r.cfg.Durations.Commission)) // it is added all the same
	return ok(c.renderVMHost(h))
}

// updateVMHost changes a host's settings and looks at it anew.
func updateVMHost(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, h)
	if refused := c.fillVMHost(h, false); refused != nil {
		return nil, refused
	}
	_ = c.discover(h, 0) // the settings are saved all the same
	return ok(c.renderVMHost(h))
}

// refreshVMHost looks at what a host has.
func refreshVMHost(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	if refused := c.discover(h, 0); refused != nil {
		return nil, refused
	}
	return ok(c.renderVMHost(h))
}

// discover asks a host what it has. That of a new LXD host is known only when
// MAAS has commissioned it.
func (c *call) discover(h *vmHost, after time.Duration) *refusal {
	trouble := c.vmHostTrouble(MomentDiscover, h)
	if trouble.Fail != "" {
		return text(http.StatusServiceUnavailable, trouble.Fail)
	}
	know := func(t *tx, h *vmHost) {
		edit(t, h)
		h.known = h.hardware
		h.hintCores, h.hintMemory = h.known.cores, h.known.memoryMiB
	}
	if h.kind != "lxd" || after <= 0 {
		know(c.tx, h)
		return nil
	}
	id, r := h.id, c.r
	c.later(after, func() {
		r.change(func(t *tx) *refusal {
			if h, ok := t.vmHosts.get(id); ok {
				know(t, h)
			}
			return nil
		})
	})
	return nil
}

// deleteVMHost removes a host with its machines, and with decompose also what
// ran there, which makes no difference here.
func deleteVMHost(c *call) (*answer, *refusal) {
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	for _, m := range c.machines.all() {
		if m.vmHost == h.id {
			c.tx.deleteMachine(m)
		}
	}
	remove(c.tx, c.vmHosts, h.id)
	return deleted()
}

func addVMHostTag(c *call) (*answer, *refusal) {
	name, refused := c.mandatoryTag()
	if refused != nil {
		return nil, refused
	}
	if strings.Contains(name, ",") {
		return nil, text(http.StatusBadRequest, `Tag may not contain a ",".`)
	}
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	c.tagVMHost(h, name)
	return ok(c.renderVMHost(h))
}

func removeVMHostTag(c *call) (*answer, *refusal) {
	name, refused := c.mandatoryTag()
	if refused != nil {
		return nil, refused
	}
	h, refused := c.vmHostOfPath()
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, h).tags = without(h.tags, name)
	return ok(c.renderVMHost(h))
}

func (c *call) mandatoryTag() (string, *refusal) {
	if name := c.form.get("tag"); name != "" {
		return name, nil
	}
	return "", missing("tag")
}

func (t *tx) tagVMHost(h *vmHost, name string) {
	if !slices.Contains(h.tags, name) {
		edit(t, h).tags = append(slices.Clone(h.tags), name)
	}
}

// usedOf sums up what a host's machines have of it.
func (s *state) usedOf(h *vmHost) resourcesJSON {
	var out resourcesJSON
	for _, m := range s.machines.all() {
		if m.vmHost != h.id {
			continue
		}
		out.Cores += m.cores
		out.Memory += m.memoryMiB
		for _, d := range m.disks {
			out.LocalStorage += d.size
		}
	}
	return out
}

// usedIn is how much of a storage pool a host's machines use.
func (s *state) usedIn(h *vmHost, pool string) int64 {
	var used int64
	for _, m := range s.machines.all() {
		if m.vmHost != h.id {
			continue
		}
		for _, d := range m.disks {
			if d.storagePool == pool {
				used += d.size
			}
		}
	}
	return used
}

// vmHostTrouble asks the hardware about a host.
func (c *call) vmHostTrouble(moment Moment, h *vmHost) Trouble {
	return c.r.trouble(HardwareEvent{
		Moment: moment, Hostname: h.name, Zone: c.zones.rows[h.zone].name, Pool: c.pools.rows[h.pool].name, Tags: slices.Clone(h.tags),
	})
}

// overCommitProblem says that a host has no room left; "" when it has.
func (s *state) overCommitProblem(h *vmHost, cores, memoryMiB int) string {
	used := s.usedOf(h)
	problem := func(what string, ratio float64, total, used, asked int) string {
		if float64(total)*ratio >= float64(used+asked) {
			return ""
		}
		return fmt.Sprintf("%s overcommit ratio is %s and there are %d available resources; %d requested.", what, pyFloat(ratio), total-used, asked)
	}
	return problem("CPU", h.cpuRatio, h.known.cores, used.Cores, cores) + problem("Memory", h.memRatio, h.known.memoryMiB, used.Memory, memoryMiB)
}

// vmHostOf is the host that made a machine; one without a name for others.
func (s *state) vmHostOf(m *machine) *vmHost {
	if h, ok := s.vmHosts.get(m.vmHost); ok {
		return h
	}
	return &vmHost{}
}
