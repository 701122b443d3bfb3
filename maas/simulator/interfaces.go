package simulator

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
)

// The modes of links.
const (
	modeAuto   = "auto"
	modeDHCP   = "dhcp"
	modeStatic = "static"
	modeLinkUp = "link_up"
)

// interfaceOperations are the calls of machines' network interfaces.
func interfaceOperations() []operation {
	const one = "/nodes/{system_id}/interfaces/{id}/"
	return []operation{
		{http.MethodGet, "/nodes/{system_id}/interfaces/", "", viewers, listInterfaces, ""},
		{http.MethodGet, one, "", users, readInterface, ""},
		{http.MethodPost, one, "link_subnet", users, linkSubnet, ""},
		{http.MethodPost, one, "unlink_subnet", users, unlinkSubnet, ""},
		{http.MethodPost, one, "disconnect", users, disconnectInterface, ""},
		{http.MethodPost, one, "set_default_gateway", users, setDefaultGateway, ""},
		{http.MethodPost, one, "add_tag", users, addInterfaceTag, ""},
		{http.MethodPost, one, "remove_tag", users, removeInterfaceTag, ""},
	}
}

// nicCall is a call about one interface: a copy of it, and its place.
type nicCall struct {
	*call
	nic   nic
	index int
}

// nicOfPath finds the interface that a path names, for those who may view or
// administer its machine.
func (c *call) nicOfPath(a access) (*nicCall, *refusal) {
	m, ok := c.machines.get(c.vars["system_id"])
	id, err := strconv.Atoi(c.vars["id"])
	if !ok || err != nil {
		return nil, notFound("Interface")
	}
	i := slices.IndexFunc(m.nics, func(n nic) bool { return n.id == id })
	if i < 0 {
		return nil, notFound("Interface")
	}
	if !mayAccess(c.user, m, a) {
		return nil, forbidden()
	}
	c.machine = m
	return &nicCall{c, m.nics[i], i}, nil
}

// changeable finds an interface that is to be changed: only an admin may, even
// of a user's own machine, and only in some states.
func (c *call) changeable(what string) (*nicCall, *refusal) {
	n, refused := c.nicOfPath(machineAdmins)
	if refused != nil {
		return nil, refused
	}
	if !n.machine.status.in(StatusNew, StatusReady, StatusFailedTesting, StatusAllocated, StatusBroken) {
		return nil, conflict("Cannot " + what + " interface because the machine is not New, Ready, Allocated, or Broken.")
	}
	return n, nil
}

// save puts the copy back into its machine, and answers it.
func (n *nicCall) save() (*answer, *refusal) {
	nics := slices.Clone(n.machine.nics)
	nics[n.index] = n.nic
	edit(n.tx, n.machine).nics = nics
	n.touchDNS()
	return ok(n.renderNIC(n.machine, n.nic))
}

func listInterfaces(c *call) (*answer, *refusal) {
	out := []interfaceJSON{}
	for _, n := range c.machine.nics {
		out = append(out, c.renderNIC(c.machine, n))
	}
	return ok(out)
}

func readInterface(c *call) (*answer, *refusal) {
	n, refused := c.nicOfPath(viewers)
	if refused != nil {
		return nil, refused
	}
	return ok(n.renderNIC(n.machine, n.nic))
}

// unlinkSubnet takes a link away. An interface that is left without any is only
// brought up.
func unlinkSubnet(c *call) (*answer, *refusal) {
	n, refused := c.changeable("unlink subnet")
	if refused != nil {
		return nil, refused
	}
	asked := c.form.get("id")
	if asked == "" {
		return nil, invalid("id", required)
	}
	i := slices.IndexFunc(n.nic.links, func(l link) bool { return strconv.Itoa(l.id) == asked })
	if i < 0 {
		return nil, invalid("id", notAmong("id", asked, n.nic.links))
	}
	n.drop(func(l link) bool { return strconv.Itoa(l.id) == asked })
	if len(n.nic.links) == 0 && n.nic.vlan != nil {
		n.link(modeLinkUp, nil, allocSticky)
	}
	return n.save()
}

// notAmong is the error for the ID of a link that is not there.
func notAmong(field, asked string, links []link) string {
	ids := make([]string, len(links))
	for i, l := range links {
		ids[i] = strconv.Itoa(l.id)
	}
	return notOneOf(asked, field, ids)
}

// disconnectInterface takes all links and the VLAN away.
func disconnectInterface(c *call) (*answer, *refusal) {
	n, refused := c.changeable("disconnect")
	if refused != nil {
		return nil, refused
	}
	n.drop(func(link) bool { return true })
	n.nic.vlan = nil
	return n.save()
}

// setDefaultGateway makes an interface's link the one that the machine's
// traffic leaves by.
func setDefaultGateway(c *call) (*answer, *refusal) {
	n, refused := c.changeable("set default gateway")
	if refused != nil {
		return nil, refused
	}
	var usable []link
	gateways := map[netip.Addr]bool{}
	for _, l := range n.nic.links {
		if l.mode != modeLinkUp && l.subnet != nil && l.subnet.gateway.IsValid() {
			usable = append(usable, l)
			gateways[l.subnet.gateway] = true
		}
	}
	asked := c.form.get("link_id")
	if asked != "" && !slices.ContainsFunc(usable, func(l link) bool { return strconv.Itoa(l.id) == asked }) {
		return nil, invalid("link_id", notAmong("link_id", asked, usable))
	}
	if len(usable) == 0 {
		return nil, invalid(allFields, "This interface has no usable gateways.")
	}
	if asked == "" && len(gateways) > 1 {
		return nil, invalid("link_id", "This field is required; Interface has more than one usable IPv4 gateway.")
	}
	chosen := usable[0]
	for _, l := range usable {
		if strconv.Itoa(l.id) == asked {
			chosen = l
		}
	}
	edit(c.tx, n.machine).gatewayLink = chosen.id
	return ok(n.renderNIC(n.machine, n.nic))
}

func addInterfaceTag(c *call) (*answer, *refusal) {
	return c.tagInterface(func(tags []string, name string) []string {
		if slices.Contains(tags, name) {
			return tags
		}
		return append(slices.Clone(tags), name)
	})
}

func removeInterfaceTag(c *call) (*answer, *refusal) {
	return c.tagInterface(without)
}

func (c *call) tagInterface(change func([]string, string) []string) (*answer, *refusal) {
	n, refused := c.nicOfPath(machineAdmins)
	if refused != nil {
		return nil, refused
	}
	name, refused := c.mandatoryTag()
	if refused != nil {
		return nil, refused
	}
	n.nic.tags = change(n.nic.tags, name)
	return n.save()
}

// allocName is what MAAS calls a kind of addresses.
func allocName(kind int) string {
	switch kind {
	case allocSticky:
		return "Sticky"
	case allocReserved:
		return "User reserved"
	case allocDHCP:
		return "DHCP"
	}
	return "Automatic"
}

// on says whether an interface is on a VLAN that passes a test.
func (n nic) on(test func(*vlan) bool) bool { return n.vlan != nil && test(n.vlan) }
