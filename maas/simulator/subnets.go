package simulator

import (
	"net/http"
	"strconv"
)

func listSubnets(c *call) (*answer, *refusal) {
	out := []*subnetJSON{}
	for _, n := range c.subnets.all() {
		out = append(out, renderSubnet(n))
	}
	return ok(out)
}

// readSubnet finds a subnet by ID, CIDR, name or specifier.
func readSubnet(c *call) (*answer, *refusal) {
	found := c.subnetsBySpecifier(c.vars["specifier"])
	if len(found) == 0 {
		return nil, notFound("Subnet")
	}
	return ok(renderSubnet(found[0]))
}

type fabricJSON struct {
	ID          int        `json:"id"`
	Name        string     `json:"name"`
	ClassType   *string    `json:"class_type"`
	VLANs       []vlanJSON `json:"vlans"`
	ResourceURI string     `json:"resource_uri"`
}

func listFabrics(c *call) (*answer, *refusal) {
	out := []fabricJSON{}
	for _, f := range c.fabrics.all() {
		shown := fabricJSON{ID: f.id, Name: f.name, VLANs: []vlanJSON{}, ResourceURI: apiPrefix + "/fabrics/" + strconv.Itoa(f.id) + "/"}
		for _, v := range c.vlans.all() {
			if v.fabric == f {
				shown.VLANs = append(shown.VLANs, renderVLAN(v))
			}
		}
		out = append(out, shown)
	}
	return ok(out)
}

// listAddresses answers the caller's reserved addresses; with all=true those
// of everybody, machines' too.
func listAddresses(c *call) (*answer, *refusal) {
	all, refused := c.query.boolean("all")
	if refused != nil {
		return nil, refused
	}
	if all && !c.user.admin {
		return nil, text(http.StatusForbidden, "Listing all IP addresses requires admin privileges.")
	}
	out := []addressJSON{}
	for _, row := range c.addresses.all() {
		if !all && (row.kind != allocReserved || row.owner != c.user.name) {
			continue
		}
		if ip := c.query.get("ip"); ip != "" && row.ip.String() != ip {
			continue
		}
		out = append(out, c.renderAddress(row))
	}
	return ok(out)
}
