package simulator

import (
	"net/http"
	"net/netip"
	"slices"
)

// rackOperations are the calls of rack controllers, of which there is one.
func rackOperations() []operation {
	return []operation{
		{http.MethodGet, "/rackcontrollers/", "", users, listRacks, "the region's one rack never changes"},
		{http.MethodGet, "/rackcontrollers/", "is_registered", users, isRackRegistered, ""},
		{http.MethodGet, "/rackcontrollers/{system_id}/", "", users, readRack, "has no interfaces and no test results"},
	}
}

// The region's one rack controller.
const (
	rackID   = "rck4ck"
	rackName = "rack1"
	rackMAC  = "52:54:00:99:00:01"
	// rackNodeType is MAAS's number for rack controllers.
	rackNodeType = 2
)

type rackJSON struct {
	SystemID     string          `json:"system_id"`
	Hostname     string          `json:"hostname"`
	Description  string          `json:"description"`
	Domain       domainJSON      `json:"domain"`
	FQDN         string          `json:"fqdn"`
	Architecture string          `json:"architecture"`
	CPUCount     int             `json:"cpu_count"`
	Memory       int             `json:"memory"`
	SwapSize     *int            `json:"swap_size"`
	OSystem      string          `json:"osystem"`
	DistroSeries string          `json:"distro_series"`
	PowerType    string          `json:"power_type"`
	PowerState   string          `json:"power_state"`
	IPAddresses  []string        `json:"ip_addresses"`
	InterfaceSet []interfaceJSON `json:"interface_set"`
	Zone         zoneJSON        `json:"zone"`
	StatusAction string          `json:"status_action"`
	NodeType     int             `json:"node_type"`
	NodeTypeName string          `json:"node_type_name"`
	ServiceSet   []serviceJSON   `json:"service_set"`
	Version      string          `json:"version"`
	ResourceURI  string          `json:"resource_uri"`
}

type serviceJSON struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	StatusInfo string `json:"status_info"`
}

func (t *tx) renderRack() rackJSON {
	d := t.domains.rows[t.defaultDomain]
	out := rackJSON{
		SystemID: rackID, Hostname: rackName, Domain: t.renderDomain(d), FQDN: rackName + "." + d.name, Architecture: "amd64/generic",
		CPUCount: 4, Memory: 8192, OSystem: "ubuntu", DistroSeries: "jammy", PowerState: "unknown", IPAddresses: []string{},
		InterfaceSet: []interfaceJSON{}, Zone: renderZone(t.zones.rows[1]), NodeType: rackNodeType, NodeTypeName: "Rack controller",
		Version: t.r.cfg.Version, ResourceURI: apiPrefix + "/rackcontrollers/" + rackID + "/",
	}
	for _, name := range []string{"dhcpd", "dns_rack", "http", "ntp_rack", "proxy_rack", "rackd", "syslog_rack", "tftp"} {
		out.ServiceSet = append(out.ServiceSet, serviceJSON{name, "running", ""})
	}
	for _, ip := range t.rackAddresses() {
		out.IPAddresses = append(out.IPAddresses, ip.String())
	}
	return out
}

// rackAddresses are those of the DNS servers in the subnets whose DHCP the rack
// does: there it answers.
func (s *state) rackAddresses() []netip.Addr {
	var out []netip.Addr
	for _, n := range s.subnets.all() {
		for _, server := range n.dnsServers {
			if n.vlan.dhcp && n.prefix.Contains(server) && !slices.Contains(out, server) {
				out = append(out, server)
			}
		}
	}
	return out
}

func listRacks(c *call) (*answer, *refusal) { return ok([]rackJSON{c.renderRack()}) }

func readRack(c *call) (*answer, *refusal) {
	if c.vars["system_id"] != rackID {
		return nil, notFound("RackController")
	}
	return ok(c.renderRack())
}

// isRackRegistered says whether anything has a MAC address, be it the rack or a
// machine.
func isRackRegistered(c *call) (*answer, *refusal) {
	if c.query.get("mac_address") == rackMAC {
		return ok(true)
	}
	return isRegistered(c)
}
