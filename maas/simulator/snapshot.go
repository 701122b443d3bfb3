package simulator

import (
	"maps"
	"sort"
	"time"
)

// Snapshot is what a region holds, in a form that compares and prints well.
type Snapshot struct {
	Machines     []MachineSnapshot     `json:"machines"`
	DNSResources []DNSResourceSnapshot `json:"dnsResources"`
	// ReservedIPs are the addresses that users reserved, most of them by
	// putting them into a DNS resource.
	ReservedIPs []ReservedIPSnapshot `json:"reservedIPs"`
	Tags        []string             `json:"tags"`
	Zones       []string             `json:"zones"`
	Pools       []string             `json:"pools"`
	Domains     []string             `json:"domains"`
	VMHosts     []VMHostSnapshot     `json:"vmHosts,omitempty"`
	// Events are the newest 100,000 at least.
	Events []EventSnapshot `json:"events,omitempty"`
}

// MachineSnapshot is one machine.
type MachineSnapshot struct {
	SystemID      string            `json:"systemID"`
	Hostname      string            `json:"hostname"`
	Domain        string            `json:"domain"`
	Status        Status            `json:"status"`
	StatusName    string            `json:"statusName"`
	StatusMessage string            `json:"statusMessage,omitempty"`
	Owner         string            `json:"owner,omitempty"`
	AgentName     string            `json:"agentName,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Locked        bool              `json:"locked,omitempty"`
	PowerState    string            `json:"powerState"`
	Addresses     []string          `json:"addresses,omitempty"`
	Zone          string            `json:"zone"`
	Pool          string            `json:"pool"`
	Tags          []string          `json:"tags,omitempty"`
	Image         string            `json:"image,omitempty"` // osystem/series
	HasUserData   bool              `json:"hasUserData,omitempty"`
	Description   string            `json:"description,omitempty"`
	Error         string            `json:"error,omitempty"`
	// VMHost is the name of the host that made it, and Dynamic says that it did so
	// for an allocate: the machine goes when it is released.
	VMHost  string `json:"vmHost,omitempty"`
	Dynamic bool   `json:"dynamic,omitempty"`
}

// DNSResourceSnapshot is one DNS resource with its records.
type DNSResourceSnapshot struct {
	ID         int                 `json:"id"`
	FQDN       string              `json:"fqdn"`
	AddressTTL *int                `json:"addressTTL,omitempty"`
	Addresses  []string            `json:"addresses"` // "" for a row that lost its address
	Records    []DNSRecordSnapshot `json:"records,omitempty"`
}

// DNSRecordSnapshot is a record other than an address.
type DNSRecordSnapshot struct {
	Type string `json:"type"`
	Data string `json:"data"`
	TTL  *int   `json:"ttl,omitempty"`
}

// ReservedIPSnapshot is an address that a user reserved.
type ReservedIPSnapshot struct {
	IP    string `json:"ip"`
	Owner string `json:"owner"`
}

// EventSnapshot is one event.
type EventSnapshot struct {
	ID          int       `json:"id"`
	Time        time.Time `json:"time"`
	SystemID    string    `json:"systemID"`
	Username    string    `json:"username"`
	Level       string    `json:"level"`
	Type        string    `json:"type"`
	Description string    `json:"description,omitempty"`
}

// WithoutHistory drops events and the numbers and messages that only tell what
// happened before: two snapshots without history are equal when the region
// holds the same.
func (s Snapshot) WithoutHistory() Snapshot {
	s.Events = nil
	machines := append([]MachineSnapshot(nil), s.Machines...)
	for i := range machines {
		machines[i].StatusMessage = ""
	}
	s.Machines = machines
	resources := append([]DNSResourceSnapshot(nil), s.DNSResources...)
	for i := range resources {
		resources[i].ID = 0
	}
	s.DNSResources = resources
	return s
}

// Snapshot returns what the region holds now.
func (r *Region) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	out := Snapshot{Machines: []MachineSnapshot{}, DNSResources: []DNSResourceSnapshot{}, ReservedIPs: []ReservedIPSnapshot{}}
	for _, m := range s.machines.all() {
		out.Machines = append(out.Machines, s.snapshotMachine(m))
	}
	for _, res := range s.resources.all() {
		out.DNSResources = append(out.DNSResources, s.snapshotResource(res))
	}
	for _, row := range s.addresses.all() {
		if row.kind == allocReserved {
			out.ReservedIPs = append(out.ReservedIPs, ReservedIPSnapshot{row.ip.String(), row.owner})
		}
	}
	sort.Slice(out.ReservedIPs, func(i, j int) bool { return out.ReservedIPs[i].IP < out.ReservedIPs[j].IP })
	for _, e := range s.events {
		out.Events = append(out.Events, EventSnapshot{e.id, e.created, e.systemID, e.username, levelName(e.level), e.kind, e.description})
	}
	for _, row := range s.tags.all() {
		out.Tags = append(out.Tags, row.name)
	}
	for _, row := range s.zones.all() {
		out.Zones = append(out.Zones, row.name)
	}
	for _, row := range s.pools.all() {
		out.Pools = append(out.Pools, row.name)
	}
	for _, row := range s.domains.all() {
		out.Domains = append(out.Domains, row.name)
	}
	for _, h := range s.vmHosts.all() {
		out.VMHosts = append(out.VMHosts, s.snapshotVMHost(h))
	}
	return out
}

// Machine returns one machine of the Snapshot, and whether there is any of that
// system ID.
func (r *Region) Machine(systemID string) (MachineSnapshot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.state.machines.get(systemID)
	if !ok {
		return MachineSnapshot{}, false
	}
	return r.state.snapshotMachine(m), true
}

func (s *state) snapshotMachine(m *machine) MachineSnapshot {
	out := MachineSnapshot{
		SystemID: m.systemID, Hostname: m.hostname, Domain: s.domainOf(m).name, Status: m.status, StatusName: m.status.String(),
		Owner: m.owner, AgentName: m.agentName, Locked: m.locked, PowerState: m.powerState,
		Zone: s.zones.rows[m.zone].name, Pool: s.pools.rows[m.pool].name,
		HasUserData: m.hasUserData, Description: m.description, Error: m.errorDescription, VMHost: s.vmHostOf(m).name, Dynamic: m.dynamic,
	}
	if len(m.annotations) > 0 {
		out.Annotations = maps.Clone(m.annotations)
	}
	for _, ip := range s.machineAddresses(m) {
		out.Addresses = append(out.Addresses, ip.String())
	}
	out.Tags = append([]string(nil), m.tags...)
	if m.osystem != "" {
		out.Image = m.osystem + "/" + m.series
	}
	if e := s.latestEvent[m.systemID]; e != nil {
		out.StatusMessage = e.message()
	}
	return out
}

func (s *state) snapshotResource(res *dnsResource) DNSResourceSnapshot {
	out := DNSResourceSnapshot{ID: res.id, FQDN: s.resourceFQDN(res), AddressTTL: res.ttl, Addresses: []string{}}
	for _, id := range res.addrs {
		text := ""
		if row, ok := s.addresses.get(id); ok && row.ip.IsValid() {
			text = row.ip.String()
		}
		out.Addresses = append(out.Addresses, text)
	}
	sort.Strings(out.Addresses)
	for _, rec := range s.recordsOf(res.id) {
		out.Records = append(out.Records, DNSRecordSnapshot{rec.rrtype, rec.data, rec.ttl})
	}
	return out
}
