package simulator

import (
	"net/http"
	"strconv"
)

// subnetOperations are the calls of subnets and fabrics.
func subnetOperations() []operation {
	return []operation{
		{http.MethodGet, "/subnets/", "", users, listSubnets, ""},
		{http.MethodGet, "/subnets/{specifier...}/", "", users, readSubnet, ""},
		{http.MethodGet, "/fabrics/", "", users, listFabrics, ""},
	}
}

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
