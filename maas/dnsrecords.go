package maas

import (
	"context"
	"strconv"
)

// DNSRecord is a record other than an address: NS, MX, SRV, CNAME, SSHFP or TXT.
type DNSRecord struct {
	ID   int    `json:"id"`
	FQDN string `json:"fqdn"`
	Type string `json:"rrtype"`
	Data string `json:"rrdata"`
	TTL  *int   `json:"ttl"` // seconds; nil means the domain's
}

// DNSRecordFilter selects records; zero selects all. MAAS looks at FQDN only if Name and Domain are empty.
type DNSRecordFilter struct {
	FQDN, Name, Domain, Type string
}

// DNSRecordParams is what a new record shall be. A and AAAA are refused: those are DNS resources.
type DNSRecordParams struct {
	Name, Domain string
	Type, Data   string
	TTL          int // seconds; 0 leaves it to the domain
}

// DNSRecords lists records. A domain that does not exist is [ErrNotFound].
func (c *Client) DNSRecords(ctx context.Context, filter DNSRecordFilter) ([]DNSRecord, error) {
	r := read("list_dns_records", "dnsresourcerecords/")
	r.query = fields{}.add("fqdn", filter.FQDN).add("name", filter.Name).
		add("domain", filter.Domain).add("rrtype", filter.Type).values()
	return list[DNSRecord](ctx, c, r)
}

// CreateDNSRecord makes a record. It needs an administrator's key.
func (c *Client) CreateDNSRecord(ctx context.Context, params DNSRecordParams) (*DNSRecord, error) {
	r := write("create_dns_record", "POST", "dnsresourcerecords/")
	if params.Name == "" || params.Domain == "" || params.Type == "" || params.Data == "" {
		return nil, invalid(r.operation, "name, domain, type and data are all needed")
	}
	r.form = fields{}.add("name", params.Name).add("domain", params.Domain).add("rrtype", params.Type).
		add("rrdata", params.Data).addPositive("ttl", params.TTL).values()
	return object[DNSRecord](ctx, c, r)
}

// DeleteDNSRecord deletes a record. It needs an administrator's key.
func (c *Client) DeleteDNSRecord(ctx context.Context, id int) error {
	r := write("delete_dns_record", "DELETE", "dnsresourcerecords/"+strconv.Itoa(id)+"/")
	if err := checkID(r.operation, id); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}
