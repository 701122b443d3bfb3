package simulator

import (
	"net/http"
	"slices"
	"sort"
	"strings"
)

// dnsRecordOperations are the calls of DNS records other than addresses.
func dnsRecordOperations() []operation {
	return []operation{
		{http.MethodGet, "/dnsresourcerecords/", "", users, listDNSRecords, ""},
		{http.MethodPost, "/dnsresourcerecords/", "", admins, createDNSRecord, ""},
		{http.MethodGet, "/dnsresourcerecords/{id}/", "", users, readDNSRecord, ""},
		{http.MethodPut, "/dnsresourcerecords/{id}/", "", adminsOnly, updateDNSRecord, ""},
		{http.MethodDelete, "/dnsresourcerecords/{id}/", "", adminsOnly, deleteDNSRecord, ""},
	}
}

// recordTypes are the types of records that can be made; addresses are not
// among them.
func recordTypes() []string { return []string{"NS", "MX", "SRV", "CNAME", "SSHFP", "TXT"} }

func listDNSRecords(c *call) (*answer, *refusal) {
	found, refused := c.findDNSResources()
	if refused != nil {
		return nil, refused
	}
	rrtype := c.query.get("rrtype")
	list := []dnsRecordJSON{}
	for _, res := range found {
		for _, rec := range c.recordsOf(res.id) {
			if rrtype == "" || rec.rrtype == rrtype {
				list = append(list, c.renderRecord(rec))
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return ok(list)
}

// createDNSRecord adds a record, and the resource of its name if there is none.
func createDNSRecord(c *call) (*answer, *refusal) {
	name, d, refused := c.dnsTarget(nil)
	if refused != nil {
		return nil, refused
	}
	res := c.ensureResource(name, d)
	var errs formErrors
	rec := &dnsRecord{rrtype: strings.ToUpper(c.form.get("rrtype")), data: c.form.get("rrdata")}
	rec.ttl = c.ttlField("ttl", 1, nil, &errs)
	c.checkRecord(rec, &errs)
	if refused := errs.refusal(); refused != nil {
		return nil, refused
	}
	if refused := c.checkCNAME(rec, res); refused != nil {
		return nil, refused
	}
	rec.id, rec.resource = c.records.nextID(), res.id
	insert(c.tx, c.records, rec.id, rec)
	c.touchDNS()
	return ok(c.renderRecord(rec))
}

func (c *call) checkRecord(rec *dnsRecord, errs *formErrors) {
	if !c.form.has("rrtype") {
		errs.add("rrtype", required)
	} else if !slices.Contains(recordTypes(), rec.rrtype) {
		errs.add("rrtype", c.form.get("rrtype")+" is not one of "+strings.Join(recordTypes(), " ")+".")
	}
	if rec.data == "" {
		errs.add("rrdata", required)
	}
}

// checkCNAME keeps an alias apart from everything else of its name.
func (c *call) checkCNAME(rec *dnsRecord, res *dnsResource) *refusal {
	others := c.recordsOf(res.id)
	if rec.rrtype == "CNAME" && (len(res.addrs) > 0 || len(others) > 0) {
		return invalid(allFields, "CNAME records for a name cannot coexist with non-CNAME records.")
	}
	for _, other := range others {
		if other.rrtype == "CNAME" {
			return invalid(allFields, "CNAME records for a name cannot coexist with non-CNAME records.")
		}
	}
	return nil
}

func (c *call) recordOfPath() (*dnsRecord, *refusal) {
	rec, ok := numbered(c.records, c.vars["id"])
	if !ok {
		return nil, notFound("DNSData")
	}
	return rec, nil
}

func readDNSRecord(c *call) (*answer, *refusal) {
	rec, refused := c.recordOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderRecord(rec))
}

func updateDNSRecord(c *call) (*answer, *refusal) {
	rec, refused := c.recordOfPath()
	if refused != nil {
		return nil, refused
	}
	var errs formErrors
	edit(c.tx, rec)
	rec.ttl = c.ttlField("ttl", 1, rec.ttl, &errs)
	if data := c.form.get("rrdata"); data != "" {
		rec.data = data
	}
	if refused := errs.refusal(); refused != nil {
		return nil, refused
	}
	c.touchDNS()
	return ok(c.renderRecord(rec))
}

// deleteDNSRecord removes a record, and its resource when nothing is left in it.
func deleteDNSRecord(c *call) (*answer, *refusal) {
	rec, refused := c.recordOfPath()
	if refused != nil {
		return nil, refused
	}
	remove(c.tx, c.records, rec.id)
	if res := c.resources.rows[rec.resource]; len(res.addrs) == 0 && len(c.recordsOf(res.id)) == 0 {
		remove(c.tx, c.resources, res.id)
	}
	c.touchDNS()
	return deleted()
}
