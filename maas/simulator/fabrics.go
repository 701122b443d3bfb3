package simulator

import (
	"net/http"
	"strconv"
)

// fabricOperations are the calls of fabrics and of the VLANs in them.
func fabricOperations() []operation {
	return []operation{
		{http.MethodGet, "/fabrics/", "", users, listFabrics, ""},
		{http.MethodGet, "/fabrics/{id}/", "", users, readFabric, ""},
		{http.MethodGet, "/fabrics/{id}/vlans/", "", users, listVLANs, ""},
		{http.MethodGet, "/fabrics/{id}/vlans/{vid}/", "", users, readVLANOfFabric, ""},
		{http.MethodGet, "/vlans/{id}/", "", users, readVLAN, ""},
	}
}

type fabricJSON struct {
	ID          int        `json:"id"`
	Name        string     `json:"name"`
	ClassType   *string    `json:"class_type"`
	VLANs       []vlanJSON `json:"vlans"`
	ResourceURI string     `json:"resource_uri"`
}

func (s *state) renderFabric(f *fabric) fabricJSON {
	out := fabricJSON{ID: f.id, Name: f.name, VLANs: []vlanJSON{}, ResourceURI: apiPrefix + "/fabrics/" + strconv.Itoa(f.id) + "/"}
	for _, v := range s.vlans.all() {
		if v.fabric == f {
			out.VLANs = append(out.VLANs, renderVLAN(v))
		}
	}
	return out
}

func listFabrics(c *call) (*answer, *refusal) {
	out := []fabricJSON{}
	for _, f := range c.fabrics.all() {
		out = append(out, c.renderFabric(f))
	}
	return ok(out)
}

// fabricOfPath finds a fabric by ID or name.
func (c *call) fabricOfPath() (*fabric, *refusal) {
	wanted := c.vars["id"]
	f, found := c.fabrics.find(func(f *fabric) bool {
		return strconv.Itoa(f.id) == wanted || f.name == wanted || "name:"+f.name == wanted
	})
	if !found {
		return nil, notFound("Fabric")
	}
	return f, nil
}

func readFabric(c *call) (*answer, *refusal) {
	f, refused := c.fabricOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderFabric(f))
}

func listVLANs(c *call) (*answer, *refusal) {
	f, refused := c.fabricOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderFabric(f).VLANs)
}

func readVLANOfFabric(c *call) (*answer, *refusal) {
	f, refused := c.fabricOfPath()
	if refused != nil {
		return nil, refused
	}
	v, found := c.vlans.find(func(v *vlan) bool { return v.fabric == f && strconv.Itoa(v.vid) == c.vars["vid"] })
	if !found {
		return nil, notFound("VLAN")
	}
	return ok(renderVLAN(v))
}

func readVLAN(c *call) (*answer, *refusal) {
	v, found := numbered(c.vlans, c.vars["id"])
	if !found {
		return nil, notFound("VLAN")
	}
	return ok(renderVLAN(v))
}

// defaultFabric is the fabric of subnets that name none, which MAAS calls
// fabric-0. It is made when it is first needed.
func (t *tx) defaultFabric() *fabric {
	if f, found := t.fabrics.get(0); found {
		return f
	}
	f := &fabric{name: "fabric-0"}
	insert(t, t.fabrics, f.id, f)
	v := &vlan{id: firstVLAN, mtu: 1500, name: "untagged", fabric: f, space: noSpace}
	if all := t.vlans.all(); len(all) > 0 {
		v.id = all[len(all)-1].id + 1
	}
	insert(t, t.vlans, v.id, v)
	return f
}
