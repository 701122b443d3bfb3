package simulator

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// addressOperations are the calls of IP addresses.
func addressOperations() []operation {
	return []operation{
		{http.MethodGet, "/ipaddresses/", "", users, listAddresses, ""},
		{http.MethodPost, "/ipaddresses/", "reserve", users, reserveAddress, "The MAC address that a reservation is for is checked and not kept"},
		{http.MethodPost, "/ipaddresses/", "release", users, releaseAddress, "Addresses that were only observed do not exist"},
	}
}

// listAddresses answers the caller's reserved addresses, or another user's;
// with all=true those of everybody, machines' too.
func listAddresses(c *call) (*answer, *refusal) {
	all, refused := c.query.boolean("all")
	if refused != nil {
		return nil, refused
	}
	var wanted netip.Addr
	if c.query.has("ip") {
		var err error
		if wanted, err = netip.ParseAddr(c.query.get("ip")); err != nil {
			return nil, handled(http.StatusBadRequest, "Parameter 'ip' must contain an IP address.")
		}
	}
	owner, byOwner := c.user.name, !all
	switch {
	case all && !c.user.admin:
		return nil, handled(http.StatusForbidden, "Listing all IP addresses requires admin privileges.")
	case c.query.has("owner") && !c.user.admin:
		return nil, handled(http.StatusForbidden, "Listing another user's IP addresses requires admin privileges.")
	case c.query.has("owner"):
		owner, byOwner = c.query.get("owner"), true
	}
	out := []addressJSON{}
	for _, row := range c.addresses.all() {
		switch {
		case !row.ip.IsValid(), byOwner && row.owner != owner, !all && row.kind != allocReserved, wanted.IsValid() && row.ip != wanted:
		default:
			out = append(out, c.renderAddress(row))
		}
	}
	return ok(out)
}

// reserveAddress keeps an address for the caller: the one asked for, or one of
// a subnet. A hostname gets a DNS resource, or one more address in it.
func reserveAddress(c *call) (*answer, *refusal) {
	ip, n, refused := c.addressWanted()
	if refused != nil {
		return nil, refused
	}
	if ip.IsValid() {
		refused = c.mayReserve(ip, n)
	} else if ip = c.freeAddress(n); !ip.IsValid() {
		refused = n.full()
	}
	if refused != nil {
		return nil, refused
	}
	host, d, refused := c.hostnameWanted()
	if refused != nil {
		return nil, refused
	}
	row := &address{id: c.addresses.nextID(), kind: allocReserved, owner: c.user.name, subnet: n, created: c.now()}
	insert(c.tx, c.addresses, row.id, row)
	c.setIP(row, ip)
	if host != "" {
		c.addToResource(host, d, row)
	}
	return ok(c.renderAddress(row))
}

// addressWanted reads which address a reservation is for, and in which subnet.
// An address counts more than a subnet. It is not valid when any will do.
func (c *call) addressWanted() (netip.Addr, *subnet, *refusal) {
	f := c.form
	asked := f.get("ip")
	if !f.has("ip") {
		asked = f.get("ip_address")
	}
	var ip netip.Addr
	var errs formErrors
	if asked != "" {
		var err error
		if ip, err = netip.ParseAddr(asked); err != nil {
			errs.add("ip_address", notAnAddress)
		}
	}
	mac := f.get("mac")
	if _, err := net.ParseMAC(mac); mac != "" && err != nil {
		errs.add("mac", pyRepr(mac)+" is not a valid MAC address.")
	}
	if refused := errs.refusal(); refused != nil {
		return ip, nil, refused
	}
	if m, found := c.machineWithMAC(mac); found {
		return ip, nil, text(http.StatusBadRequest, "MAC address "+strings.ToLower(mac)+" already belongs to "+m.hostname+
			". Use of the interface API is required, for an interface that belongs to a node.")
	}
	switch {
	case asked != "":
		if n := c.subnetOf(ip); n != nil {
			return ip, n, nil
		}
		return ip, nil, text(http.StatusBadRequest, "No known subnet for IP address: "+asked+".")
	case f.get("subnet") != "":
		if found := c.subnetsBySpecifier(f.get("subnet")); len(found) > 0 {
			return ip, found[0], nil
		}
		return ip, nil, text(http.StatusBadRequest, "Unable to identify subnet: "+f.get("subnet")+".")
	}
	return ip, nil, text(http.StatusBadRequest, "Must supply either the 'subnet' or the 'ip' parameter.")
}

// mayReserve refuses an address that is taken, or that lies in a range. Those of
// gateways and DNS servers can be reserved.
func (c *call) mayReserve(ip netip.Addr, n *subnet) *refusal {
	for _, r := range n.dynamic {
		if r.contains(ip) {
			return text(http.StatusForbidden, "IP address "+ip.String()+" belongs to an existing dynamic range. To reserve this IP address, "+
				"a MAC address is required. (Create a device instead.)")
		}
	}
	for _, r := range n.reserved {
		if r.contains(ip) {
			return text(http.StatusNotFound, ip.String()+" is within the reserved range from "+r.first.String()+" to "+r.last.String())
		}
	}
	if len(c.byAddress[ip]) > 0 {
		return text(http.StatusNotFound, "The IP address "+ip.String()+" is already in use.")
	}
	return nil
}

// hostnameWanted reads the name that a reservation gets. A name without a
// domain lies in the default one.
func (c *call) hostnameWanted() (string, *domain, *refusal) {
	host := c.form.get("hostname")
	d := c.domains.rows[c.defaultDomain]
	if strings.Index(host, ".") > 0 {
		name, rest, _ := strings.Cut(host, ".")
		found, exists := c.domainNamed(rest)
		if !exists {
			return "", nil, notFound("Domain")
		}
		host, d = name, found
	}
	if host != "" && !labelForm().MatchString(host) {
		return "", nil, invalid(allFields, "Invalid dnsresource name: "+host+".")
	}
	return host, d, nil
}

func (c *call) addToResource(name string, d *domain, row *address) {
	res := c.ensureResource(name, d)
	edit(c.tx, res).addrs = append(slices.Clone(res.addrs), row.id)
	c.touchDNS()
}

// releaseAddress gives a reserved address back. Admins can take any address
// from anybody.
func releaseAddress(c *call) (*answer, *refusal) {
	if refused := c.form.mandatory("ip"); refused != nil {
		return nil, refused
	}
	force, refused := c.form.boolean("force")
	if refused != nil {
		return nil, refused
	}
	if _, refused := c.form.boolean("discovered"); refused != nil {
		return nil, refused
	}
	if force && !c.user.admin {
		return nil, handled(http.StatusForbidden, "Force-releasing an IP address requires admin privileges.")
	}
	asked := c.form.get("ip")
	ip, err := netip.ParseAddr(asked)
	if err != nil {
		return nil, invalid("ip", notAnAddress)
	}
	row, found := c.addresses.find(func(row *address) bool {
		return row.ip == ip && (force || row.kind == allocReserved && row.owner == c.user.name)
	})
	switch {
	case !found && force:
		return nil, text(http.StatusBadRequest, "IP address "+asked+" does not exist.")
	case !found:
		return nil, text(http.StatusBadRequest, "IP address "+asked+" does not exist, is not the correct type of address, or does not belong to "+
			"the requesting user.\nIf you are sure you want to release this address, use force=true as a MAAS administrator.")
	}
	c.unlink(row)
	c.setIP(row, netip.Addr{})
	c.forgetAddress(row)
	return deleted()
}

// unlink takes an address's link from the machine that has it.
func (c *call) unlink(row *address) {
	m, found := c.machines.get(row.machine)
	if !found {
		return
	}
	nics := slices.Clone(m.nics)
	for i, n := range nics {
		nics[i].links = slices.DeleteFunc(slices.Clone(n.links), func(l link) bool { return l.addr == row.id })
	}
	edit(c.tx, m).nics = nics
}
