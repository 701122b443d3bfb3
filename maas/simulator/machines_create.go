package simulator

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// machineCreateOperations are the calls that make machines known.
func machineCreateOperations() []operation {
	return []operation{
		{
			http.MethodPost, "/machines/", "", anyone, createMachine,
			"commissioning finds 4 cores, 8192 MiB and a disk of 480 GB in every machine, whose first interface is on the first subnet from the start",
		},
	}
}

// createMachine makes a machine known. What an admin makes is commissioned,
// unless they say no; what others or nobody makes waits in state New for an
// admin to accept it.
func createMachine(c *call) (*answer, *refusal) {
	deployed, refused := c.form.boolean("deployed")
	if refused != nil {
		return nil, refused
	}
	commission := true
	if c.form.has("commission") {
		if commission, refused = c.form.boolean("commission"); refused != nil {
			return nil, refused
		}
	}
	if m := c.enlistedBefore(); c.user == nil && m != nil {
		return ok(c.renderAnonymous(m))
	}
	m, refused := c.newMachine(deployed && c.user != nil)
	if refused != nil {
		return nil, refused
	}
	switch {
	case c.user == nil:
		return ok(c.renderAnonymous(m))
	case c.user.admin && commission && !deployed:
		c.commission(m)
	}
	return ok(c.render(m))
}

// enlistedBefore finds a new machine that has one of the MAC addresses sent: a
// machine that boots again enlists again.
func (c *call) enlistedBefore() *machine {
	for _, mac := range c.form.all("mac_addresses") {
		if m, found := c.machineWithMAC(mac); found && m.status.in(StatusNew, StatusCommissioning) {
			return m
		}
	}
	return nil
}

// newMachine makes a machine from a form, or nothing.
func (c *call) newMachine(deployed bool) (*machine, *refusal) {
	var errs formErrors
	wanted := &machine{domain: c.defaultDomain, zone: 1, architecture: "amd64/generic"}
	c.completeArchitecture(&errs)
	macs := c.newMACs(&errs)
	c.fillMachine(wanted, &errs)
	if wanted.hostname == "" && len(errs.fields) == 0 {
		c.updateHostname(wanted, "", &errs)
	}
	if refused := errs.refusal(); refused != nil {
		return nil, refused
	}
	in := Machine{
		Hostname: wanted.hostname, Domain: c.domainOf(wanted).name, Zone: c.zones.rows[wanted.zone].name, Pool: c.pools.rows[wanted.pool].name,
		Architecture: wanted.architecture, Description: wanted.description, PowerState: "unknown", NeverCommissioned: true, Subnet: "none", DiskGB: -1,
	}
	status := StatusNew
	if deployed {
		status = StatusDeployed
	}
	in.Status = &status
	if len(macs) > 0 {
		in.MAC, in.Subnet = macs[0], ""
	}
	m, err := c.addMachine(in)
	if err != nil {
		return nil, text(http.StatusInternalServerError, err.Error())
	}
	m.unexplored = true // nothing is known of it yet but what was sent
	m.powerType, m.powerParameters, m.cores, m.memoryMiB = wanted.powerType, wanted.powerParameters, wanted.cores, wanted.memoryMiB
	m.swapSize = wanted.swapSize
	for i, mac := range macs[min(1, len(macs)):] {
		c.lastNIC++
		m.nics = append(m.nics, nic{id: c.lastNIC, name: fmt.Sprintf("eno%d", i+2), mac: mac, vlan: m.nics[0].vlan})
	}
	if deployed {
		m.owner = c.user.name
	}
	return m, nil
}

// addMachine adds hardware, to be undone with the request.
func (c *call) addMachine(in Machine) (*machine, error) {
	id, err := c.r.addMachine(in)
	if err != nil {
		return nil, err
	}
	m := c.machines.rows[id]
	c.undo = append(c.undo, func() {
		for _, n := range m.nics {
			for _, l := range n.links {
				c.addresses.remove(l.addr)
			}
		}
		c.machines.remove(id)
	})
	return m, nil
}

// completeArchitecture makes the architecture in a form a whole one. MAAS can
// do without where it can ask the BMC.
func (c *call) completeArchitecture(errs *formErrors) {
	arch := c.form.get("architecture")
	switch {
	case arch == "" && (c.user == nil || c.form.get("power_type") != "ipmi"):
		errs.add("architecture", required)
	case arch != "" && !strings.Contains(arch, "/"):
		sub := c.form.get("subarchitecture")
		if sub == "" {
			sub = "generic"
		}
		c.form.values["architecture"] = []string{arch + "/" + sub}
	}
}

// newMACs reads the MAC addresses of a new machine, which no other may have.
func (c *call) newMACs(errs *formErrors) []string {
	var out []string
	sent := slices.DeleteFunc(slices.Clone(c.form.all("mac_addresses")), func(mac string) bool { return mac == "" })
	if len(sent) == 0 && (c.user == nil || c.form.get("power_type") != "ipmi") {
		errs.add("mac_addresses", required)
	}
	for _, mac := range sent {
		if _, err := net.ParseMAC(mac); err != nil {
			message := pyRepr(mac) + " is not a valid MAC address."
			if len(sent) > 1 {
				message = "One or more MAC addresses is invalid."
			}
			errs.add("mac_addresses", message)
			return nil
		}
		mac = strings.ToLower(mac)
		if m, taken := c.machineWithMAC(mac); taken {
			errs.add("mac_addresses", "MAC address "+mac+" already in use on "+m.hostname+".")
			return nil
		}
		out = append(out, mac)
	}
	return out
}

// anonymousJSON is what those see of a machine who have no key.
type anonymousJSON struct {
	SystemID      string     `json:"system_id"`
	Hostname      string     `json:"hostname"`
	Domain        domainJSON `json:"domain"`
	FQDN          string     `json:"fqdn"`
	Architecture  string     `json:"architecture"`
	Status        Status     `json:"status"`
	StatusName    string     `json:"status_name"`
	StatusAction  *string    `json:"status_action"`
	StatusMessage *string    `json:"status_message"`
	PowerType     string     `json:"power_type"`
	PowerState    string     `json:"power_state"`
	Zone          zoneJSON   `json:"zone"`
	NodeType      int        `json:"node_type"`
	ResourceURI   string     `json:"resource_uri"`
}

func (t *tx) renderAnonymous(m *machine) anonymousJSON {
	all := t.render(m)
	return anonymousJSON{
		SystemID: all.SystemID, Hostname: all.Hostname, Domain: all.Domain, FQDN: all.FQDN, Architecture: all.Architecture, Status: all.Status,
		StatusName: all.StatusName, StatusAction: all.StatusAction, StatusMessage: all.StatusMessage, PowerType: all.PowerType,
		PowerState: all.PowerState, Zone: all.Zone, NodeType: all.NodeType, ResourceURI: all.ResourceURI,
	}
}
