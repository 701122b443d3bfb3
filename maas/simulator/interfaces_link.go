package simulator

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// linkRequest is what a link_subnet asks for.
type linkRequest struct {
	mode           string
	subnet         *subnet
	ip             netip.Addr
	force, gateway bool
}

// linkSubnet gives an interface a link. Links outlive a release, and so do
// STATIC addresses.
func linkSubnet(c *call) (*answer, *refusal) {
	force, refused := c.form.boolean("force")
	if refused != nil {
		return nil, refused
	}
	n, refused := c.changeable("link subnet")
	if refused != nil {
		return nil, refused
	}
	asked, refused := n.parseLink(force)
	if refused != nil {
		return nil, refused
	}
	if asked.mode == modeLinkUp || asked.force {
		n.drop(func(link) bool { return true })
	}
	if asked.force && asked.subnet != nil || n.nic.vlan == nil {
		n.nic.vlan = nil
		if asked.subnet != nil {
			n.nic.vlan = asked.subnet.vlan
		}
	}
	if refused := n.add(asked); refused != nil {
		return nil, refused
	}
	if asked.gateway {
		edit(c.tx, n.machine).gatewayLink = n.nic.links[len(n.nic.links)-1].id
	}
	return n.save()
}

// parseLink reads the form. What it says is wrong comes in MAAS's order: field
// by field, then what follows from the mode.
func (n *nicCall) parseLink(force bool) (linkRequest, *refusal) {
	out := linkRequest{force: force, gateway: n.form.formBoolean("default_gateway")}
	var errs formErrors
	out.subnet = n.linkedSubnet(force, &errs)
	if text := n.form.get("ip_address"); text != "" {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			errs.add("ip_address", notAnAddress)
		}
		out.ip = ip
	}
	out.mode = strings.ToLower(n.form.get("mode"))
	modes := []string{modeAuto, modeDHCP, modeStatic, modeLinkUp}
	switch {
	case out.mode == "":
		errs.add("mode", required)
	case !slices.Contains(modes, out.mode):
		errs.add("mode", notOneOf(out.mode, "mode", modes))
	default:
		n.checkMode(out, &errs)
		checkGateway(out, &errs)
	}
	return out, errs.refusal()
}

// linkedSubnet finds the subnet that is named; without force only one of the
// interface's VLAN will do.
func (n *nicCall) linkedSubnet(force bool, errs *formErrors) *subnet {
	specifier := n.form.get("subnet")
	if specifier == "" {
		return nil
	}
	for _, found := range n.subnetsBySpecifier(specifier) {
		if force || n.nic.vlan == nil || found.vlan == n.nic.vlan {
			return found
		}
	}
	if !strings.Contains(specifier, ":") {
		specifier = "id=" + specifier
	} else {
		specifier = strings.Replace(specifier, ":", "=", 1)
	}
	errs.add("subnet", "None found with "+specifier+".")
	return nil
}

func (n *nicCall) checkMode(asked linkRequest, errs *formErrors) {
	switch asked.mode {
	case modeAuto, modeStatic:
		if asked.subnet == nil {
			errs.add("subnet", required)
		} else if asked.mode == modeStatic && asked.ip.IsValid() && !asked.subnet.prefix.Contains(asked.ip) {
			errs.add("ip_address", "IP address is not in the given subnet '"+describeSubnet(asked.subnet)+"'.")
		}
	case modeDHCP:
		for _, l := range n.nic.links {
			switch {
			case l.mode == modeDHCP && l.subnet != nil:
				errs.add("mode", "Interface is already set to DHCP from '"+describeSubnet(l.subnet)+"'.")
			case l.mode == modeDHCP:
				errs.add("mode", "Interface is already set to DHCP.")
			}
		}
	case modeLinkUp:
		if !asked.force && slices.ContainsFunc(n.nic.links, func(l link) bool { return l.mode != modeLinkUp }) {
			errs.add("mode", "Cannot configure interface to link up (with no IP address) while other links are already configured. "+
				"Specify force=True to override this behavior and delete all links.")
		}
	}
}

func checkGateway(asked linkRequest, errs *formErrors) {
	switch {
	case !asked.gateway:
	case asked.mode != modeAuto && asked.mode != modeStatic:
		errs.add("default_gateway", "Cannot use in mode '"+asked.mode+"'.")
	case asked.subnet == nil:
		errs.add("default_gateway", "Subnet is required when default_gateway is True.")
	case !asked.subnet.gateway.IsValid():
		errs.add("default_gateway", "Cannot set as default gateway because subnet "+describeSubnet(asked.subnet)+" doesn't provide a gateway IP address.")
	}
}

// describeSubnet is how MAAS prints a subnet in its messages.
func describeSubnet(n *subnet) string {
	if n.name == n.prefix.String() {
		return n.name
	}
	return n.name + " (" + n.prefix.String() + ")"
}

// add gives the interface its link. One that only brought it up makes way, and
// so does DHCP.
func (n *nicCall) add(asked linkRequest) *refusal {
	switch asked.mode {
	case modeAuto:
		n.link(modeAuto, asked.subnet, allocAuto)
	case modeDHCP:
		n.link(modeDHCP, asked.subnet, allocDHCP)
	case modeLinkUp:
		n.link(modeLinkUp, asked.subnet, allocSticky)
	case modeStatic:
		ip := asked.ip
		if !ip.IsValid() {
			if ip = n.freeAddress(asked.subnet); !ip.IsValid() {
				return asked.subnet.full()
			}
		}
		if len(n.byAddress[ip]) > 0 {
			return &refusal{status: http.StatusNotFound, contentType: typeText, body: "IP address is already in use."}
		}
		n.setIP(n.link(modeStatic, asked.subnet, allocSticky), ip)
	}
	newest := n.nic.links[len(n.nic.links)-1].id
	n.drop(func(l link) bool {
		return l.id != newest && (l.mode == modeLinkUp || l.mode == modeDHCP && asked.mode != modeLinkUp)
	})
	return nil
}

// link adds a link with an address row of its own, whose ID it has, as in MAAS.
func (n *nicCall) link(mode string, to *subnet, kind int) *address {
	row := &address{id: n.addresses.nextID(), kind: kind, subnet: to, machine: n.machine.systemID, created: n.now()}
	insert(n.tx, n.addresses, row.id, row)
	n.nic.links = append(slices.Clone(n.nic.links), link{id: row.id, mode: mode, subnet: to, addr: row.id})
	return row
}

// drop removes links with their address rows, also from DNS resources.
func (n *nicCall) drop(which func(link) bool) {
	for _, l := range n.nic.links {
		if row, there := n.addresses.get(l.addr); there && which(l) {
			n.setIP(row, netip.Addr{})
			n.forgetAddress(row)
		}
	}
	n.nic.links = slices.DeleteFunc(slices.Clone(n.nic.links), which)
}
