package simulator

import (
	"net/netip"
	"slices"
	"sort"
	"strings"
)

// rrsetJSON is what the list of resources shows, with all=true, for names that
// have addresses, wherever those come from.
type rrsetJSON struct {
	ID              int          `json:"id"`
	FQDN            string       `json:"fqdn"`
	AddressTTL      *int         `json:"address_ttl"`
	IPAddresses     any          `json:"ip_addresses"`
	ResourceRecords []rrdataJSON `json:"resource_records"`
	ResourceURI     string       `json:"resource_uri"`
}

type rrdataJSON struct {
	SystemID    *string `json:"system_id"`
	NodeType    *int    `json:"node_type"`
	UserID      *int    `json:"user_id"`
	DNSResource *int    `json:"dnsresource_id"`
	TTL         *int    `json:"ttl"`
	RRType      string  `json:"rrtype"`
	RRData      string  `json:"rrdata"`
	DNSData     *int    `json:"dnsdata_id"`
}

// rrsets collects records by name, in the order in which names come up.
type rrsets struct {
	name   string // wanted; any when empty
	domain *domain
	order  []*rrsetJSON
	byFQDN map[string]*rrsetJSON
}

func (l *rrsets) add(label string, d *domain, rr rrdataJSON, ip netip.Addr) {
	if l.name != "" && l.name != label || l.domain != nil && l.domain.id != d.id {
		return
	}
	if rr.RRType = "A"; ip.Is6() {
		rr.RRType = "AAAA"
	}
	rr.RRData = ip.String()
	// The top of a domain has no label, but its dot.
	fqdn := strings.TrimPrefix(label, apexName) + "." + d.name
	set, known := l.byFQDN[fqdn]
	if !known {
		set = &rrsetJSON{ID: -1, FQDN: fqdn, ResourceURI: apiPrefix + "/dnsresources/-1/"}
		l.byFQDN[fqdn] = set
		l.order = append(l.order, set)
	}
	set.ResourceRecords = append(set.ResourceRecords, rr)
}

// addressRecords are the address records of resources, of reserved addresses
// without any, which are named for themselves, of machines, and of the rack.
func (c *call) addressRecords() ([]*rrsetJSON, *refusal) {
	name, d, refused := c.dnsFilter()
	if refused != nil {
		return nil, refused
	}
	list := &rrsets{name: name, domain: d, byFQDN: map[string]*rrsetJSON{}}
	c.resourceRecords(list)
	machines := c.machines.all()
	sort.SliceStable(machines, func(i, j int) bool { return c.fqdn(machines[i]) < c.fqdn(machines[j]) })
	for _, m := range machines {
		for _, ip := range c.machineAddresses(m) {
			list.add(m.hostname, c.domainOf(m), rrdataJSON{SystemID: optional(m.systemID), NodeType: new(int)}, ip)
		}
	}
	for _, ip := range c.rackAddresses() {
		kind := rackNodeType
		list.add(rackName, c.domains.rows[c.defaultDomain], rrdataJSON{SystemID: optional(rackID), NodeType: &kind}, ip)
	}
	return list.order, nil
}

func (c *call) resourceRecords(list *rrsets) {
	holders := map[int][]*dnsResource{} // by address
	first := map[string]*dnsResource{}  // by name
	for _, res := range c.resources.all() {
		for _, id := range res.addrs {
			holders[id] = append(holders[id], res)
		}
		if fqdn := c.resourceFQDN(res); first[fqdn] == nil {
			first[fqdn] = res
		}
	}
	for _, row := range c.addresses.all() {
		if !row.ip.IsValid() {
			continue
		}
		owner := c.userNumber(row.owner)
		if len(holders[row.id]) == 0 && row.kind == allocReserved {
			label := strings.NewReplacer(".", "-", ":", "-").Replace(row.ip.String())
			list.add(label, c.domains.rows[c.defaultDomain], rrdataJSON{UserID: owner}, row.ip)
		}
		for _, res := range holders[row.id] {
			number := first[c.resourceFQDN(res)].id
			list.add(res.name, c.domains.rows[res.domain], rrdataJSON{UserID: owner, DNSResource: &number, TTL: res.ttl}, row.ip)
		}
	}
}

// userNumber is the ID of a user; nil for none.
func (s *state) userNumber(name string) *int {
	if i := slices.Index(s.users.keys, name); i >= 0 {
		i++
		return &i
	}
	return nil
}
