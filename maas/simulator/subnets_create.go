package simulator

import (
	"net/netip"
	"strconv"
	"strings"
)

// createSubnet adds a network. Without a VLAN or fabric it lies in the default
// ones.
func createSubnet(c *call) (*answer, *refusal) {
	n := &subnet{description: c.form.get("description")}
	var errs formErrors
	c.fillNetwork(n, &errs)
	c.fillVLAN(n, &errs)
	if refused := errs.refusal(); refused != nil {
		return nil, refused
	}
	if n.name = c.form.get("name"); n.name == "" {
		n.name = n.prefix.String()
	}
	n.options = c.subnetOptions()
	n.id = c.subnets.nextID()
	insert(c.tx, c.subnets, n.id, n)
	return ok(renderSubnet(n))
}

// subnetOptions are flags that a subnet has when nobody clears them, and how
// reverse DNS is done.
type subnetOptions struct {
	rdnsMode                                 int
	activeDiscovery                          bool
	withoutDNS, withoutProxy, withoutManager bool
}

func usualSubnetOptions() subnetOptions { return subnetOptions{rdnsMode: 2} }

func (c *call) subnetOptions() subnetOptions {
	out := usualSubnetOptions()
	cleared := func(field string) bool {
		switch strings.ToLower(c.form.get(field)) {
		case "true", "t", "1":
			return false
		}
		return c.form.has(field)
	}
	out.withoutDNS, out.withoutProxy = cleared("allow_dns"), cleared("allow_proxy")
	out.withoutManager = c.form.has("managed") && !c.form.formBoolean("managed")
	out.activeDiscovery = c.form.formBoolean("active_discovery")
	if mode, err := strconv.Atoi(c.form.get("rdns_mode")); err == nil {
		out.rdnsMode = mode
	}
	return out
}

// fillNetwork reads a network with its gateway and DNS servers.
func (c *call) fillNetwork(n *subnet, errs *formErrors) {
	text := c.form.get("cidr")
	prefix, err := netip.ParsePrefix(text)
	switch {
	case text == "":
		errs.add("cidr", required)
		return
	case err != nil:
		errs.add("cidr", "Required format: <network>/<prefixlen>.")
		return
	case prefix.Bits() == 0:
		errs.add("cidr", "Prefix length must be greater than 0.")
		return
	}
	n.prefix = prefix.Masked()
	c.checkOverlap(n, errs)
	if text := c.form.get("gateway_ip"); text != "" {
		gateway, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			errs.add("gateway_ip", notAnAddress)
		case !n.prefix.Contains(gateway) && !gateway.IsLinkLocalUnicast():
			errs.add("gateway_ip", "Gateway IP must be within CIDR range.")
		default:
			n.gateway = gateway
		}
	}
	for _, list := range c.form.all("dns_servers") {
		for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			server, err := netip.ParseAddr(text)
			if err != nil {
				errs.add("dns_servers", "Invalid IP address: "+text+"; provide a list of space-separated IP addresses")
				continue
			}
			n.dnsServers = append(n.dnsServers, server)
		}
	}
}

// checkOverlap keeps networks apart. MAAS 3.7 refuses those that share
// addresses, older ones only the same network.
func (c *call) checkOverlap(n *subnet, errs *formErrors) {
	for _, other := range c.subnets.all() {
		if c.r.since(3, 7) && other.prefix.Overlaps(n.prefix) {
			errs.add(allFields, "Subnet "+n.prefix.String()+" would overlap with existing subnets.")
			break
		}
	}
	if _, taken := c.subnets.find(func(other *subnet) bool { return other.prefix == n.prefix }); taken {
		errs.add("cidr", "Subnet with this Cidr already exists.")
	}
}

// fillVLAN reads where a new subnet lies: a VLAN by ID, or a fabric by ID and
// in it a VLAN by its tag.
func (c *call) fillVLAN(n *subnet, errs *formErrors) {
	if text := c.form.get("vlan"); text != "" {
		v, found := numbered(c.vlans, text)
		if !found {
			errs.add("vlan", badChoice)
			return
		}
		n.vlan = v
		return
	}
	where, in := "default fabric", (*fabric)(nil)
	if text := c.form.get("fabric"); text != "" {
		f, found := numbered(c.fabrics, text)
		if !found {
			errs.add("fabric", badChoice)
			return
		}
		where, in = "fabric "+f.name, f
	}
	if len(errs.fields) > 0 {
		return
	}
	if in == nil {
		in = c.defaultFabric()
	}
	vid := 0
	if text := c.form.get("vid"); text != "" {
		var err error
		if vid, err = strconv.Atoi(text); err != nil {
			errs.add("vid", notWhole)
			return
		}
	}
	v, found := c.vlans.find(func(v *vlan) bool { return v.fabric == in && v.vid == vid })
	if !found {
		errs.add("vid", "No VLAN with vid "+strconv.Itoa(vid)+" in "+where+".")
		return
	}
	n.vlan = v
}
