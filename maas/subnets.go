package maas

import "context"

// Subnet is a range of addresses on a VLAN.
type Subnet struct {
	ID         int      `json:"id"`
	Name       string   `json:"name"`
	CIDR       string   `json:"cidr"`
	GatewayIP  string   `json:"gateway_ip"` // "" when there is none
	DNSServers []string `json:"dns_servers"`
	Managed    bool     `json:"managed"`
	Space      string   `json:"space"` // "undefined" when the VLAN is in none
	VLAN       *VLAN    `json:"vlan"`
}

// VLAN is a broadcast domain on a fabric.
type VLAN struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	VID      int    `json:"vid"`
	MTU      int    `json:"mtu"`
	Fabric   string `json:"fabric"`
	FabricID int    `json:"fabric_id"`
	DHCPOn   bool   `json:"dhcp_on"`
	Space    string `json:"space"`
}

// Subnets lists all subnets.
func (c *Client) Subnets(ctx context.Context) ([]Subnet, error) {
	return list[Subnet](ctx, c, read("list_subnets", "subnets/"))
}
