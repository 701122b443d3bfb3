package simulator

import (
	"net/http"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// dnsResourceOperations are the calls of DNS resources.
func dnsResourceOperations() []operation {
	return []operation{
		{http.MethodGet, "/dnsresources/", "", users, listDNSResources, ""},
		{http.MethodPost, "/dnsresources/", "", admins, createDNSResource, ""},
		{http.MethodGet, "/dnsresources/{id}/", "", users, readDNSResource, ""},
		{http.MethodPut, "/dnsresources/{id}/", "", adminsOnly, updateDNSResource, ""},
		{http.MethodDelete, "/dnsresources/{id}/", "", adminsOnly, deleteDNSResource, ""},
	}
}

func listDNSResources(c *call) (*answer, *refusal) {
	all, refused := c.query.boolean("all")
	if refused != nil {
		return nil, refused
	}
	found, refused := c.findDNSResources()
	if refused != nil {
		return nil, refused
	}
	out := []any{}
	if all {
		records, refused := c.addressRecords()
		if refused != nil {
			return nil, refused
		}
		for _, rec := range records {
			out = append(out, rec)
		}
	}
	for _, res := range found {
		out = append(out, c.renderResource(res))
	}
	return ok(out)
}

// findDNSResources applies the filters of the list.
func (c *call) findDNSResources() ([]*dnsResource, *refusal) {
	name, d, refused := c.dnsFilter()
	if refused != nil {
		return nil, refused
	}
	if c.query.has("fqdn") && name == "" && d == nil && !c.query.has("name") && !c.query.has("domain") {
		return nil, nil
	}
	rrtype := c.query.get("rrtype")
	var out []*dnsResource
	for _, res := range c.resources.all() {
		if (name != "" && res.name != name) || (d != nil && res.domain != d.id) {
			continue
		}
		if rrtype != "" && !c.hasRecordOfType(res, rrtype) {
			continue
		}
		out = append(out, res)
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].domain != out[j].domain {
			return out[i].domain < out[j].domain
		}
		return out[i].name < out[j].name
	})
	return out, nil
}

// dnsFilter reads name, domain and fqdn of a list. fqdn counts only where the
// other two are missing.
func (c *call) dnsFilter() (string, *domain, *refusal) {
	q := c.query
	name, fqdn := q.get("name"), q.get("fqdn")
	if text := q.get("domain"); text != "" {
		d := c.domainBySpecifier(text)
		if d == nil {
			return "", nil, notFound("Domain")
		}
		return name, d, nil
	}
	if name != "" || fqdn == "" {
		return name, nil, nil
	}
	name, d := c.splitFQDN(fqdn)
	if d == nil {
		return "", nil, notFound("Domain")
	}
	return name, d, nil
}

func (s *state) hasRecordOfType(res *dnsResource, rrtype string) bool {
	for _, rec := range s.recordsOf(res.id) {
		if rec.rrtype == rrtype {
			return true
		}
	}
	return false
}

func createDNSResource(c *call) (*answer, *refusal) {
	name, d, refused := c.dnsTarget(nil)
	if refused != nil {
		return nil, refused
	}
	res := &dnsResource{name: name, domain: d.id}
	if refused := c.fillResource(res, true); refused != nil {
		return nil, refused
	}
	res.id = c.resources.nextID()
	insert(c.tx, c.resources, res.id, res)
	c.touchDNS()
	return ok(c.renderResource(res))
}

// fillResource sets a resource's TTL and addresses from a form.
func (c *call) fillResource(res *dnsResource, isNew bool) *refusal {
	var errs formErrors
	res.ttl = c.ttlField("address_ttl", 0, res.ttl, &errs)
	if res.name != "" && res.name != apexName && res.name != "*" && !labelForm().MatchString(res.name) {
		errs.add(allFields, "Invalid dnsresource name: "+res.name+".")
	}
	if isNew {
		if _, taken := c.resources.find(func(o *dnsResource) bool {
			return o.name == res.name && o.domain == res.domain && c.arrived.sees(o)
		}); taken {
			errs.add(allFields, "Labels must be unique within their zone.")
		}
	}
	asked := strings.Fields(c.form.get("ip_addresses"))
	if len(errs.fields) == 0 && len(asked) > 0 && c.hasCNAME(res.name, res.domain) {
		errs.add(allFields, "Cannot add address: CNAME present.")
	}
	if refused := errs.refusal(); refused != nil {
		return refused
	}
	if !c.form.has("ip_addresses") {
		res.addrs = c.keptAddresses(res.addrs)
		return nil
	}
	addrs := []int{}
	for _, text := range asked {
		row, refused := c.addressRow(text)
		if refused != nil {
			return refused
		}
		if !slices.Contains(addrs, row.id) {
			addrs = append(addrs, row.id)
		}
	}
	res.addrs = addrs
	return nil
}

// keptAddresses is what an update without addresses leaves. MAAS 3.4 to 3.7:
// reserved addresses go when the resource also holds a row that lost its
// address.
func (c *call) keptAddresses(addrs []int) []int {
	lost := false
	for _, id := range addrs {
		if row, ok := c.addresses.get(id); ok && !row.ip.IsValid() {
			lost = true
		}
	}
	if !lost {
		return addrs
	}
	var kept []int
	for _, id := range addrs {
		if row, ok := c.addresses.get(id); ok && row.kind != allocReserved {
			kept = append(kept, id)
		}
	}
	return kept
}

// addressRow finds the row of an address or an address row's ID. An address
// that no row holds is reserved for the caller.
func (c *call) addressRow(s string) (*address, *refusal) {
	if id, err := strconv.Atoi(s); err == nil {
		if row, ok := c.addresses.get(id); ok {
			return row, nil
		}
		return nil, notFound("StaticIPAddress")
	}
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return nil, text(http.StatusInternalServerError, "failed to detect a valid IP address from "+pyRepr(s))
	}
	if ids := c.byAddress[ip]; len(ids) > 0 {
		return c.addresses.rows[ids[0]], nil
	}
	row := &address{id: c.addresses.nextID(), kind: allocReserved, owner: c.user.name, subnet: c.subnetOf(ip), created: c.now()}
	insert(c.tx, c.addresses, row.id, row)
	c.setIP(row, ip)
	return row, nil
}

// resourceOfPath finds the resource that a path names.
func (c *call) resourceOfPath() (*dnsResource, *refusal) {
	res, ok := numbered(c.resources, c.vars["id"])
	if !ok {
		return nil, notFound("DNSResource")
	}
	return res, nil
}

func readDNSResource(c *call) (*answer, *refusal) {
	res, refused := c.resourceOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderResource(res))
}

// updateDNSResource changes a resource. Addresses that are sent replace the
// whole set. Renaming to a taken name is allowed, as in MAAS.
func updateDNSResource(c *call) (*answer, *refusal) {
	res, refused := c.resourceOfPath()
	if refused != nil {
		return nil, refused
	}
	name, d, refused := c.dnsTarget(res)
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, res)
	res.name, res.domain = name, d.id
	if refused := c.fillResource(res, false); refused != nil {
		return nil, refused
	}
	c.touchDNS()
	return ok(c.renderResource(res))
}

// deleteDNSResource removes a resource with its records, and since MAAS 3.6
// the reservations that nothing else uses.
func deleteDNSResource(c *call) (*answer, *refusal) {
	res, refused := c.resourceOfPath()
	if refused != nil {
		return nil, refused
	}
	for _, rec := range c.recordsOf(res.id) {
		remove(c.tx, c.records, rec.id)
	}
	remove(c.tx, c.resources, res.id)
	if c.r.since(3, 6) {
		for _, id := range res.addrs {
			c.freeReservation(id)
		}
	}
	c.touchDNS()
	return deleted()
}

// freeReservation drops a reserved address that no resource uses.
func (t *tx) freeReservation(id int) {
	row, ok := t.addresses.get(id)
	if !ok || row.kind != allocReserved {
		return
	}
	if _, used := t.resources.find(func(o *dnsResource) bool { return slices.Contains(o.addrs, id) }); used {
		return
	}
	t.setIP(row, netip.Addr{})
	remove(t, t.addresses, id)
}

// forgetAddress removes an address row for good. A resource that held nothing
// else goes too.
func (t *tx) forgetAddress(row *address) {
	for _, res := range t.resources.all() {
		if !slices.Contains(res.addrs, row.id) {
			continue
		}
		edit(t, res).addrs = without(res.addrs, row.id)
		if len(res.addrs) == 0 && len(t.recordsOf(res.id)) == 0 {
			remove(t, t.resources, res.id)
		}
	}
	remove(t, t.addresses, row.id)
	t.touchDNS()
}
