package simulator

import (
	"strconv"
	"time"
)

type dnsResourceJSON struct {
	ID              int             `json:"id"`
	FQDN            string          `json:"fqdn"`
	AddressTTL      *int            `json:"address_ttl"`
	IPAddresses     []addressJSON   `json:"ip_addresses"`
	ResourceRecords []dnsRecordJSON `json:"resource_records"`
	ResourceURI     string          `json:"resource_uri"`
}

type dnsRecordJSON struct {
	ID          int    `json:"id"`
	FQDN        string `json:"fqdn"`
	TTL         *int   `json:"ttl"`
	RRType      string `json:"rrtype"`
	RRData      string `json:"rrdata"`
	ResourceURI string `json:"resource_uri"`
}

type addressJSON struct {
	IP            *string         `json:"ip"`
	AllocType     int             `json:"alloc_type"`
	AllocTypeName string          `json:"alloc_type_name"`
	Created       string          `json:"created"`
	Subnet        *subnetJSON     `json:"subnet"`
	Owner         *userJSON       `json:"owner"`
	InterfaceSet  []interfaceJSON `json:"interface_set"`
	ResourceURI   string          `json:"resource_uri"`
}

func (t *tx) renderResource(res *dnsResource) dnsResourceJSON {
	out := dnsResourceJSON{
		ID: res.id, FQDN: t.resourceFQDN(res), AddressTTL: res.ttl, IPAddresses: []addressJSON{}, ResourceRecords: []dnsRecordJSON{},
		ResourceURI: apiPrefix + "/dnsresources/" + strconv.Itoa(res.id) + "/",
	}
	for _, id := range res.addrs {
		if row, ok := t.addresses.get(id); ok {
			out.IPAddresses = append(out.IPAddresses, t.renderAddress(row))
		}
	}
	for _, rec := range t.recordsOf(res.id) {
		out.ResourceRecords = append(out.ResourceRecords, t.renderRecord(rec))
	}
	return out
}

func (s *state) renderRecord(rec *dnsRecord) dnsRecordJSON {
	return dnsRecordJSON{
		ID: rec.id, FQDN: s.resourceFQDN(s.resources.rows[rec.resource]), TTL: rec.ttl, RRType: rec.rrtype, RRData: rec.data,
		ResourceURI: apiPrefix + "/dnsresourcerecords/" + strconv.Itoa(rec.id) + "/",
	}
}

func (t *tx) renderAddress(row *address) addressJSON {
	out := addressJSON{
		AllocType: row.kind, AllocTypeName: allocName(row.kind), Created: t.r.timeText(row.created), Subnet: renderSubnet(row.subnet),
		InterfaceSet: []interfaceJSON{}, ResourceURI: apiPrefix + "/ipaddresses/",
	}
	if row.ip.IsValid() {
		out.IP = optional(row.ip.String())
	}
	if u, ok := t.users.get(row.owner); ok {
		shown := renderUser(u)
		out.Owner = &shown
	}
	if m, ok := t.machines.get(row.machine); ok {
		for _, n := range m.nics {
			for _, l := range n.links {
				if l.addr == row.id {
					out.InterfaceSet = append(out.InterfaceSet, t.renderNIC(m, n))
				}
			}
		}
	}
	return out
}

// timeText prints a time as MAAS does. MAAS 3.4 leaves out that it is UTC.
func (r *Region) timeText(t time.Time) string {
	if r.since(3, 5) {
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000")
}
