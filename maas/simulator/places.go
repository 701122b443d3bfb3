package simulator

import (
	"net/http"
	"regexp"
	"strconv"
)

// poolOperations are the calls of resource pools.
func poolOperations() []operation {
	return []operation{
		{http.MethodGet, "/resourcepools/", "", users, listPools, ""},
		{http.MethodPost, "/resourcepools/", "", adminsOnly, createPool, ""},
		{http.MethodGet, "/resourcepool/{id}/", "", users, readPool, ""},
		{http.MethodPut, "/resourcepool/{id}/", "", adminsOnly, updatePool, ""},
		{http.MethodDelete, "/resourcepool/{id}/", "", adminsOnly, deletePool, ""},
	}
}

// zoneOperations are the calls of zones.
func zoneOperations() []operation {
	return []operation{
		{http.MethodGet, "/zones/", "", users, listZones, ""},
		{http.MethodPost, "/zones/", "", admins, createZone, ""},
		{http.MethodGet, "/zones/{name}/", "", users, readZone, ""},
		{http.MethodPut, "/zones/{name}/", "", admins, updateZone, ""},
		{http.MethodDelete, "/zones/{name}/", "", admins, deleteZone, ""},
	}
}

type zoneJSON struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ResourceURI string `json:"resource_uri"`
}

func renderZone(z *zone) zoneJSON {
	return zoneJSON{z.id, z.name, z.description, apiPrefix + "/zones/" + z.name + "/"}
}

type poolJSON struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	ResourceURI string `json:"resource_uri"`
}

func renderPool(p *pool) poolJSON {
	return poolJSON{p.id, p.name, p.description, apiPrefix + "/resourcepool/" + strconv.Itoa(p.id) + "/"}
}

// nameForm is what zones and pools may be called.
func nameForm() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9_ ]*[a-zA-Z0-9])?$`)
}

// placeName reads the name of a zone or pool; old is "" for a new one.
func (c *call) placeName(old, takenText string, taken func(string) bool) (string, *refusal) {
	if old != "" && !c.form.has("name") {
		return old, nil
	}
	name := c.form.get("name")
	switch {
	case name == "":
		return "", invalid("name", required)
	case !nameForm().MatchString(name):
		return "", invalid("name", badValue)
	case name != old && taken(name):
		return "", invalid("name", takenText)
	}
	return name, nil
}

const zoneTaken = "Physical zone with this Name already exists."

func listZones(c *call) (*answer, *refusal) {
	out := []zoneJSON{}
	for _, z := range c.zones.all() {
		out = append(out, renderZone(z))
	}
	return ok(out)
}

func createZone(c *call) (*answer, *refusal) {
	name, refused := c.placeName("", zoneTaken, c.isZone)
	if refused != nil {
		return nil, refused
	}
	z := &zone{c.zones.nextID(), name, c.form.get("description")}
	insert(c.tx, c.zones, z.id, z)
	return ok(renderZone(z))
}

func readZone(c *call) (*answer, *refusal) {
	z, found := c.zoneNamed(c.vars["name"])
	if !found {
		return nil, notFound("Zone")
	}
	return ok(renderZone(z))
}

func updateZone(c *call) (*answer, *refusal) {
	z, found := c.zoneNamed(c.vars["name"])
	if !found {
		return nil, notFound("Zone")
	}
	name, refused := c.placeName(z.name, zoneTaken, c.isZone)
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, z).name = name
	if c.form.has("description") {
		z.description = c.form.get("description")
	}
	return ok(renderZone(z))
}

// deleteZone moves the zone's machines and VM hosts to the default zone.
// Deleting what is not there succeeds.
func deleteZone(c *call) (*answer, *refusal) {
	z, found := c.zoneNamed(c.vars["name"])
	if !found {
		return deleted()
	}
	if z.name == "default" {
		return nil, text(http.StatusBadRequest, "This zone is the default zone, it cannot be deleted.")
	}
	for _, m := range c.machines.all() {
		if m.zone == z.id {
			edit(c.tx, m).zone = 1
		}
	}
	for _, h := range c.vmHosts.all() {
		if h.zone == z.id {
			edit(c.tx, h).zone = 1
		}
	}
	remove(c.tx, c.zones, z.id)
	return deleted()
}

const poolTaken = "Resource pool with this Name already exists."

func listPools(c *call) (*answer, *refusal) {
	out := []poolJSON{}
	for _, p := range c.pools.all() {
		out = append(out, renderPool(p))
	}
	return ok(out)
}

func createPool(c *call) (*answer, *refusal) {
	name, refused := c.placeName("", poolTaken, c.isPool)
	if refused != nil {
		return nil, refused
	}
	p := &pool{c.pools.nextID(), name, c.form.get("description")}
	insert(c.tx, c.pools, p.id, p)
	return ok(renderPool(p))
}

// poolOfPath finds a pool by ID or name.
func (c *call) poolOfPath() (*pool, *refusal) {
	text := c.vars["id"]
	if p, ok := c.poolNamed(text); ok {
		return p, nil
	}
	if p, ok := numbered(c.pools, text); ok {
		return p, nil
	}
	return nil, notFound("ResourcePool")
}

func readPool(c *call) (*answer, *refusal) {
	p, refused := c.poolOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(renderPool(p))
}

func updatePool(c *call) (*answer, *refusal) {
	p, refused := c.poolOfPath()
	if refused != nil {
		return nil, refused
	}
	name, refused := c.placeName(p.name, poolTaken, c.isPool)
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, p).name = name
	if c.form.has("description") {
		p.description = c.form.get("description")
	}
	return ok(renderPool(p))
}

func deletePool(c *call) (*answer, *refusal) {
	p, refused := c.poolOfPath()
	if refused != nil {
		return nil, refused
	}
	if p.id == 0 {
		return nil, text(http.StatusBadRequest, "This is the default pool, it cannot be deleted.")
	}
	for _, m := range c.machines.all() {
		if m.pool == p.id {
			edit(c.tx, m).pool = 0
		}
	}
	for _, h := range c.vmHosts.all() {
		if h.pool == p.id {
			edit(c.tx, h).pool = 0
		}
	}
	remove(c.tx, c.pools, p.id)
	return deleted()
}
