package maas

import (
	"context"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
)

// DNSResource is an address record in MAAS's DNS. MAAS does not keep names unique: several may have one FQDN.
type DNSResource struct {
	ID         int
	FQDN       string
	AddressTTL *int // seconds; nil means the domain's
	Addresses  []DNSAddress
	Records    []DNSRecord // TXT and others at the same name
}

// IPs returns the addresses the record has now, in MAAS's order, which is not the order sent.
func (r DNSResource) IPs() []string {
	var ips []string
	for _, a := range r.Addresses {
		if a.IP != "" {
			ips = append(ips, a.IP)
		}
	}
	return ips
}

// HasEmptyRows reports whether rows without an address hang on the record. Such a row belongs to a machine that was
// released, and fills itself with the machine's next address, whoever deploys it: write the set again to drop it.
func (r DNSResource) HasEmptyRows() bool {
	for _, a := range r.Addresses {
		if a.IP == "" {
			return true
		}
	}
	return false
}

// DNSAddress is one address row of a [DNSResource].
type DNSAddress struct {
	IP        string // "" for the row of a released machine
	AllocType AllocType
	Subnet    *Subnet  // nil outside every subnet
	SystemIDs []string // the machines whose interfaces hold the address
}

// UnmarshalJSON decodes a DNS resource and its rows.
func (r *DNSResource) UnmarshalJSON(data []byte) error {
	var w struct {
		ID          *number      `json:"id"`
		FQDN        string       `json:"fqdn"`
		AddressTTL  *int         `json:"address_ttl"`
		IPAddresses []DNSAddress `json:"ip_addresses"`
		Records     []DNSRecord  `json:"resource_records"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.ID == nil {
		return errShape("a DNS resource has no id")
	}
	*r = DNSResource{ID: int(*w.ID), FQDN: w.FQDN, AddressTTL: w.AddressTTL, Addresses: w.IPAddresses, Records: w.Records}
	return nil
}

// UnmarshalJSON decodes an address row.
func (a *DNSAddress) UnmarshalJSON(data []byte) error {
	var w struct {
		IP         string  `json:"ip"`
		AllocType  number  `json:"alloc_type"`
		Subnet     *Subnet `json:"subnet"`
		Interfaces []struct {
			SystemID string `json:"system_id"`
		} `json:"interface_set"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*a = DNSAddress{IP: w.IP, AllocType: AllocType(w.AllocType), Subnet: w.Subnet}
	for _, i := range w.Interfaces {
		if i.SystemID != "" {
			a.SystemIDs = append(a.SystemIDs, i.SystemID)
		}
	}
	return nil
}

// AllocType says how MAAS came to an address.
type AllocType int

// The allocation types of MAAS.
const (
	AllocAutomatic    AllocType = 0
	AllocSticky       AllocType = 1
	AllocUserReserved AllocType = 4
	AllocDHCP         AllocType = 5
	AllocObserved     AllocType = 6
)

// DNSResourceFilter selects DNS resources; zero selects all. MAAS looks at FQDN only if Name and Domain are empty.
type DNSResourceFilter struct {
	FQDN, Name, Domain string
}

// DNSResourceParams is what a DNS resource shall be.
type DNSResourceParams struct {
	// Name is one label and Domain a domain's name; both empty in an update leave them as they are.
	Name, Domain string
	// AddressTTL is in seconds; 0 leaves it to the domain on create, and unchanged on update.
	AddressTTL int
	// IPAddresses is the whole set. It is always sent: an empty one empties the record.
	IPAddresses []string
}

// DNSResources lists address records. A record that does not exist gives an empty list; a domain that does not, [ErrNotFound].
func (c *Client) DNSResources(ctx context.Context, filter DNSResourceFilter) ([]DNSResource, error) {
	r := read("list_dns_resources", "dnsresources/")
	r.query = fields{}.add("fqdn", filter.FQDN).add("name", filter.Name).add("domain", filter.Domain).values()
	return list[DNSResource](ctx, c, r)
}

// CreateDNSResource makes an address record. It needs an administrator's key.
// Racing creates of one name all succeed in MAAS: list afterwards, keep the lowest ID.
func (c *Client) CreateDNSResource(ctx context.Context, params DNSResourceParams) (*DNSResource, error) {
	r := write("create_dns_resource", "POST", "dnsresources/")
	if params.Name == "" || params.Domain == "" {
		return nil, invalid(r.operation, "name and domain are both needed")
	}
	return c.writeDNSResource(ctx, r, params)
}

// UpdateDNSResource replaces the address set of a record, and what else is given. It needs an administrator's key.
// The last writer wins: MAAS has no way to compare before it writes.
func (c *Client) UpdateDNSResource(ctx context.Context, id int, params DNSResourceParams) (*DNSResource, error) {
	r := write("update_dns_resource", "PUT", "dnsresources/"+strconv.Itoa(id)+"/")
	if err := checkID(r.operation, id); err != nil {
		return nil, err
	}
	return c.writeDNSResource(ctx, r, params)
}

// DeleteDNSResource deletes a record. It needs an administrator's key.
func (c *Client) DeleteDNSResource(ctx context.Context, id int) error {
	r := write("delete_dns_resource", "DELETE", "dnsresources/"+strconv.Itoa(id)+"/")
	if err := checkID(r.operation, id); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}

func (c *Client) writeDNSResource(ctx context.Context, r request, params DNSResourceParams) (*DNSResource, error) {
	// MAAS 3.4 to 3.7: an address it cannot parse is a 500, which would read as "outcome unknown".
	for _, ip := range params.IPAddresses {
		if _, err := netip.ParseAddr(ip); err != nil {
			return nil, invalid(r.operation, "an IP address is malformed")
		}
	}
	if params.AddressTTL < 0 {
		return nil, invalid(r.operation, "the TTL is negative")
	}
	f := fields{}.add("name", params.Name).add("domain", params.Domain).addPositive("address_ttl", params.AddressTTL)
	r.form = f.values()
	// One string with spaces: of a repeated key MAAS keeps only the last.
	r.form.Set("ip_addresses", strings.Join(params.IPAddresses, " "))
	return object[DNSResource](ctx, c, r)
}
