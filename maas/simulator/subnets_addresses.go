package simulator

import (
	"net/netip"
	"slices"
)

// subnetAddressJSON is an address of a subnet with who has it.
type subnetAddressJSON struct {
	IP         string           `json:"ip"`
	AllocType  int              `json:"alloc_type"`
	Created    string           `json:"created"`
	Updated    string           `json:"updated"`
	User       string           `json:"user,omitempty"`
	Node       *nodeSummaryJSON `json:"node_summary,omitempty"`
	DNSRecords []dnsSummaryJSON `json:"dns_records,omitempty"`
}

type nodeSummaryJSON struct {
	SystemID    string `json:"system_id"`
	NodeType    int    `json:"node_type"`
	FQDN        string `json:"fqdn"`
	Hostname    string `json:"hostname"`
	IsContainer bool   `json:"is_container"`
	Via         string `json:"via,omitempty"`
}

type dnsSummaryJSON struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Domain string `json:"domain"`
}

// listSubnetAddresses answers the addresses of a subnet in order, by default
// with the users and machines that have them.
func listSubnetAddresses(c *call) (*answer, *refusal) {
	n, refused := c.subnetOfPath()
	if refused != nil {
		return nil, refused
	}
	with := map[string]bool{"with_username": true, "with_summary": true}
	for name := range with {
		if !c.query.has(name) {
			continue
		}
		if with[name], refused = c.query.boolean(name); refused != nil {
			return nil, refused
		}
	}
	var rows []*address
	for _, row := range c.addresses.all() {
		if row.subnet == n && row.ip.IsValid() {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b *address) int { return netip.Addr.Compare(a.ip, b.ip) })
	out := []subnetAddressJSON{}
	for _, row := range rows {
		created := c.r.timeText(row.created)
		shown := subnetAddressJSON{IP: row.ip.String(), AllocType: row.kind, Created: created, Updated: created}
		if with["with_username"] {
			shown.User = row.owner
		}
		if with["with_summary"] {
			c.summarize(row, &shown)
		}
		out = append(out, shown)
	}
	return ok(out)
}

// summarize names the machine and the DNS resources of an address.
func (c *call) summarize(row *address, shown *subnetAddressJSON) {
	if m, found := c.machines.get(row.machine); found {
		shown.Node = &nodeSummaryJSON{SystemID: m.systemID, FQDN: c.fqdn(m), Hostname: m.hostname}
		for _, n := range m.nics {
			if slices.ContainsFunc(n.links, func(l link) bool { return l.addr == row.id }) {
				shown.Node.Via = n.name
			}
		}
	}
	for _, res := range c.resources.all() {
		if slices.Contains(res.addrs, row.id) {
			shown.DNSRecords = append(shown.DNSRecords, dnsSummaryJSON{res.id, res.name, c.domains.rows[res.domain].name})
		}
	}
}
