package simulator

import (
	"net/http"
	"regexp"
	"slices"
)

// tagOperations are the calls of tags.
func tagOperations() []operation {
	return []operation{
		{http.MethodGet, "/tags/", "", users, listTags, ""},
		{http.MethodPost, "/tags/", "", adminsOnly, createTag, ""},
		{http.MethodGet, "/tags/{name}/", "", users, readTag, ""},
		{http.MethodPut, "/tags/{name}/", "", adminsOnly, updateTag, ""},
		{http.MethodDelete, "/tags/{name}/", "", adminsOnly, deleteTag, ""},
		{http.MethodGet, "/tags/{name}/", "machines", users, taggedMachines, ""},
		{http.MethodGet, "/tags/{name}/", "nodes", users, taggedMachines, "lists machines alone"},
		{http.MethodPost, "/tags/{name}/", "update_nodes", users, updateTagNodes, "racks cannot update tags"},
	}
}

type tagJSON struct {
	Name        string `json:"name"`
	Definition  string `json:"definition"`
	Comment     string `json:"comment"`
	KernelOpts  string `json:"kernel_opts"`
	ResourceURI string `json:"resource_uri"`
}

func renderTag(t *tag) tagJSON {
	return tagJSON{t.name, t.definition, t.comment, t.kernelOpts, apiPrefix + "/tags/" + t.name + "/"}
}

func tagForm() *regexp.Regexp { return regexp.MustCompile(`^[\w-]+$`) }

func listTags(c *call) (*answer, *refusal) {
	out := []tagJSON{}
	for _, t := range c.tags.all() {
		out = append(out, renderTag(t))
	}
	return ok(out)
}

func createTag(c *call) (*answer, *refusal) {
	name := c.form.get("name")
	_, taken := c.tags.get(name)
	switch {
	case name == "":
		return nil, invalid("name", required)
	case !tagForm().MatchString(name):
		return nil, invalid("name", badValue)
	case taken:
		return nil, invalid("name", "Tag with this Name already exists.")
	}
	if refused := checkDefinition(c.form.get("definition")); refused != nil {
		return nil, refused
	}
	t := &tag{c.tags.nextID(), name, c.form.get("comment"), c.form.get("definition"), c.form.get("kernel_opts")}
	insert(c.tx, c.tags, name, t)
	return ok(renderTag(t))
}

func (c *call) tagOfPath() (*tag, *refusal) {
	if t, ok := c.tags.get(c.vars["name"]); ok {
		return t, nil
	}
	return nil, notFound("Tag")
}

func readTag(c *call) (*answer, *refusal) {
	t, refused := c.tagOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(renderTag(t))
}

func updateTag(c *call) (*answer, *refusal) {
	t, refused := c.tagOfPath()
	if refused != nil {
		return nil, refused
	}
	if refused := checkDefinition(c.form.get("definition")); refused != nil {
		return nil, refused
	}
	edit(c.tx, t)
	for field, target := range map[string]*string{"comment": &t.comment, "definition": &t.definition, "kernel_opts": &t.kernelOpts} {
		if c.form.has(field) {
			*target = c.form.get(field)
		}
	}
	return ok(renderTag(t))
}

// deleteTag also takes the tag off the machines.
func deleteTag(c *call) (*answer, *refusal) {
	t, refused := c.tagOfPath()
	if refused != nil {
		return nil, refused
	}
	for _, m := range c.machines.all() {
		c.untag(m, t.name)
	}
	remove(c.tx, c.tags, t.name)
	return deleted()
}

func (t *tx) untag(m *machine, name string) {
	if slices.Contains(m.tags, name) {
		edit(t, m).tags = without(m.tags, name)
	}
}

func taggedMachines(c *call) (*answer, *refusal) {
	t, refused := c.tagOfPath()
	if refused != nil {
		return nil, refused
	}
	out := []*machineJSON{}
	for _, m := range c.machines.all() {
		if slices.Contains(m.tags, t.name) && mayAccess(c.user, m, viewers) {
			out = append(out, c.render(m))
		}
	}
	return okMachines(out)
}

// updateTagNodes adds the tag to machines and removes it from others. It
// counts all machines that were named, also those that had or lacked the tag.
func updateTagNodes(c *call) (*answer, *refusal) {
	t, refused := c.tagOfPath()
	if refused != nil {
		return nil, refused
	}
	switch {
	case c.user.admin:
	case c.r.since(3, 5):
		return nil, forbidden()
	default:
		return nil, text(http.StatusForbidden, "Must be a superuser or supply a rack_controller")
	}
	if c.form.has("definition") && c.form.get("definition") != t.definition {
		refused := conflict("Definition supplied " + pyRepr(c.form.get("definition")) + " doesn't match current definition " + pyRepr(t.definition))
		refused.regular = true
		return nil, refused
	}
	added, removed := 0, 0
	for _, id := range c.form.all("add") {
		if m, ok := c.machines.get(id); ok {
			added++
			if !slices.Contains(m.tags, t.name) {
				edit(c.tx, m).tags = append(append([]string(nil), m.tags...), t.name)
			}
		}
	}
	for _, id := range c.form.all("remove") {
		if m, ok := c.machines.get(id); ok {
			removed++
			c.untag(m, t.name)
		}
	}
	return ok(struct {
		Added   int `json:"added"`
		Removed int `json:"removed"`
	}{added, removed})
}

// checkDefinition refuses a definition that is no XPath expression.
func checkDefinition(definition string) *refusal {
	if definition == "" {
		return nil
	}
	if problem := xpathProblem(definition); problem != "" {
		return invalid("definition", "Invalid xpath expression: "+problem)
	}
	return nil
}
