package simulator

import "strconv"

type vlanJSON struct {
	ID            int     `json:"id"`
	Name          string  `json:"name"`
	VID           int     `json:"vid"`
	MTU           int     `json:"mtu"`
	Fabric        string  `json:"fabric"`
	FabricID      int     `json:"fabric_id"`
	DHCPOn        bool    `json:"dhcp_on"`
	ExternalDHCP  *string `json:"external_dhcp"`
	RelayVLAN     any     `json:"relay_vlan"`
	PrimaryRack   *string `json:"primary_rack"`
	SecondaryRack *string `json:"secondary_rack"`
	Space         string  `json:"space"`
	ResourceURI   string  `json:"resource_uri"`
}

func renderVLAN(v *vlan) vlanJSON {
	out := vlanJSON{
		ID: v.id, Name: v.name, VID: v.vid, MTU: v.mtu, Fabric: v.fabric.name, FabricID: v.fabric.id, DHCPOn: v.dhcp, Space: v.space,
		ResourceURI: apiPrefix + "/vlans/" + strconv.Itoa(v.id) + "/",
	}
	if v.dhcp {
		out.PrimaryRack = optional(rackID)
	}
	return out
}

type subnetJSON struct {
	ID               int      `json:"id"`
	Name             string   `json:"name"`
	Description      string   `json:"description"`
	VLAN             vlanJSON `json:"vlan"`
	CIDR             string   `json:"cidr"`
	GatewayIP        *string  `json:"gateway_ip"`
	DNSServers       []string `json:"dns_servers"`
	RDNSMode         int      `json:"rdns_mode"`
	ActiveDiscovery  bool     `json:"active_discovery"`
	AllowDNS         bool     `json:"allow_dns"`
	AllowProxy       bool     `json:"allow_proxy"`
	Managed          bool     `json:"managed"`
	DisabledBootArch []string `json:"disabled_boot_architectures"`
	Space            string   `json:"space"`
	ResourceURI      string   `json:"resource_uri"`
}

func renderSubnet(n *subnet) *subnetJSON {
	if n == nil {
		return nil
	}
	out := &subnetJSON{
		ID: n.id, Name: n.name, Description: n.description, VLAN: renderVLAN(n.vlan), CIDR: n.prefix.String(), DNSServers: []string{},
		RDNSMode: n.options.rdnsMode, AllowDNS: !n.options.withoutDNS, AllowProxy: !n.options.withoutProxy, Managed: !n.options.withoutManager,
		ActiveDiscovery: n.options.activeDiscovery, DisabledBootArch: []string{}, Space: n.vlan.space,
		ResourceURI: apiPrefix + "/subnets/" + strconv.Itoa(n.id) + "/",
	}
	if n.gateway.IsValid() {
		out.GatewayIP = optional(n.gateway.String())
	}
	for _, server := range n.dnsServers {
		out.DNSServers = append(out.DNSServers, server.String())
	}
	return out
}

type linkJSON struct {
	ID        int         `json:"id"`
	Mode      string      `json:"mode"`
	IPAddress string      `json:"ip_address,omitempty"`
	Subnet    *subnetJSON `json:"subnet,omitempty"`
}

type interfaceJSON struct {
	ID              int        `json:"id"`
	SystemID        string     `json:"system_id"`
	Name            string     `json:"name"`
	Type            string     `json:"type"`
	MACAddress      string     `json:"mac_address"`
	Enabled         bool       `json:"enabled"`
	Tags            []string   `json:"tags"`
	Params          any        `json:"params"`
	Parents         []string   `json:"parents"`
	Children        []string   `json:"children"`
	EffectiveMTU    int        `json:"effective_mtu"`
	Vendor          string     `json:"vendor"`
	Product         string     `json:"product"`
	FirmwareVersion *string    `json:"firmware_version"`
	LinkConnected   bool       `json:"link_connected"`
	InterfaceSpeed  int        `json:"interface_speed"`
	LinkSpeed       int        `json:"link_speed"`
	NUMANode        int        `json:"numa_node"`
	SRIOVMaxVF      int        `json:"sriov_max_vf"`
	Discovered      any        `json:"discovered"`
	VLAN            *vlanJSON  `json:"vlan"`
	Links           []linkJSON `json:"links"`
	ResourceURI     string     `json:"resource_uri"`
}

func (s *state) renderNIC(m *machine, n nic) interfaceJSON {
	out := interfaceJSON{
		ID: n.id, SystemID: m.systemID, Name: n.name, Type: "physical", MACAddress: n.mac, Enabled: true, Tags: append([]string{}, n.tags...), Params: "",
		Parents: []string{}, Children: []string{}, EffectiveMTU: 1500, Vendor: "Intel", Product: "X550", FirmwareVersion: optional("1.0"),
		LinkConnected: true, InterfaceSpeed: 10000, LinkSpeed: 10000, Links: []linkJSON{},
		ResourceURI: apiPrefix + "/nodes/" + m.systemID + "/interfaces/" + strconv.Itoa(n.id) + "/",
	}
	if n.vlan != nil {
		shown := renderVLAN(n.vlan)
		out.VLAN, out.EffectiveMTU = &shown, n.vlan.mtu
	}
	for _, l := range n.links {
		rendered := linkJSON{ID: l.id, Mode: l.mode, Subnet: renderSubnet(l.subnet)}
		if row, ok := s.addresses.get(l.addr); ok && row.ip.IsValid() {
			rendered.IPAddress = row.ip.String()
		}
		out.Links = append(out.Links, rendered)
	}
	return out
}
