package simulator

import (
	"net/http"
	"strconv"
)

// spaceOperations are the calls of spaces.
func spaceOperations() []operation {
	return []operation{
		{http.MethodGet, "/spaces/", "", users, listSpaces, ""},
		{http.MethodPost, "/spaces/", "", admins, createSpace, "A VLAN cannot be put into it"},
		{http.MethodGet, "/spaces/{id}/", "", users, readSpace, ""},
	}
}

// space groups VLANs. VLANs name it.
type space struct {
	id                int
	name, description string
}

// noSpace is what MAAS calls the space of VLANs that are in none.
const noSpace = "undefined"

type spaceJSON struct {
	ID          int           `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	VLANs       []vlanJSON    `json:"vlans"`
	Subnets     []*subnetJSON `json:"subnets"`
	ResourceURI string        `json:"resource_uri"`
}

func (s *state) renderSpace(sp *space) spaceJSON {
	out := spaceJSON{ID: sp.id, Name: sp.name, Description: sp.description, VLANs: []vlanJSON{}, Subnets: []*subnetJSON{}}
	out.ResourceURI = apiPrefix + "/spaces/" + strconv.Itoa(sp.id) + "/"
	if sp.id < 0 {
		out.ResourceURI = apiPrefix + "/spaces/" + sp.name + "/"
	}
	for _, v := range s.vlans.all() {
		if v.space == sp.name {
			out.VLANs = append(out.VLANs, renderVLAN(v))
		}
	}
	for _, n := range s.subnets.all() {
		if n.vlan.space == sp.name {
			out.Subnets = append(out.Subnets, renderSubnet(n))
		}
	}
	return out
}

// allSpaces are the spaces, and one that stands for none.
func (s *state) allSpaces() []*space {
	none := "Backward compatibility object to ensure objects not associated with a space can be found."
	return append(s.spaces.all(), &space{id: -1, name: noSpace, description: none})
}

func listSpaces(c *call) (*answer, *refusal) {
	out := []spaceJSON{}
	for _, sp := range c.allSpaces() {
		out = append(out, c.renderSpace(sp))
	}
	return ok(out)
}

// readSpace finds a space by ID or name.
func readSpace(c *call) (*answer, *refusal) {
	for _, sp := range c.allSpaces() {
		if wanted := c.vars["id"]; strconv.Itoa(sp.id) == wanted || sp.name == wanted || "name:"+sp.name == wanted {
			return ok(c.renderSpace(sp))
		}
	}
	return nil, notFound("Space")
}

func createSpace(c *call) (*answer, *refusal) {
	sp := &space{name: c.form.get("name"), description: c.form.get("description")}
	if sp.name != "" && !tagForm().MatchString(sp.name) {
		return nil, invalid("name", badValue)
	}
	for _, other := range c.allSpaces() {
		if other.name == sp.name {
			return nil, invalid("name", "Space with this Name already exists.")
		}
	}
	sp.id = c.spaces.nextID()
	if sp.name == "" {
		sp.name = "space-" + strconv.Itoa(sp.id)
	}
	insert(c.tx, c.spaces, sp.id, sp)
	return ok(c.renderSpace(sp))
}

// spaceNamed finds or makes a space that the configuration names. The lock is
// held.
func (r *Region) spaceNamed(name string) string {
	if name == "" || name == noSpace {
		return noSpace
	}
	s := r.state
	if _, found := s.spaces.find(func(sp *space) bool { return sp.name == name }); !found {
		id := s.spaces.nextID()
		s.spaces.put(id, &space{id: id, name: name})
	}
	return name
}
