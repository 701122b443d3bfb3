package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// domainOperations are the calls of domains.
func domainOperations() []operation {
	return []operation{
		{http.MethodGet, "/domains/", "", users, listDomains, ""},
		{http.MethodPost, "/domains/", "", admins, createDomain, "`forward_dns_servers` is ignored"},
		{http.MethodGet, "/domains/{id}/", "", users, readDomain, ""},
		{http.MethodPut, "/domains/{id}/", "", admins, updateDomain, "`forward_dns_servers` is ignored"},
		{http.MethodDelete, "/domains/{id}/", "", admins, deleteDomain, ""},
		{http.MethodPost, "/domains/{id}/", "set_default", adminsOnly, setDefaultDomain, ""},
	}
}

type domainJSON struct {
	ID            int    `json:"id"`
	Name          string `json:"name"`
	TTL           *int   `json:"ttl"`
	Authoritative bool   `json:"authoritative"`
	RecordCount   int    `json:"resource_record_count"`
	IsDefault     bool   `json:"is_default"`
	ResourceURI   string `json:"resource_uri"`
}

func (s *state) renderDomain(d *domain) domainJSON {
	out := domainJSON{
		ID: d.id, Name: d.name, TTL: d.ttl, Authoritative: d.authoritative, IsDefault: d.id == s.defaultDomain,
		ResourceURI: apiPrefix + "/domains/" + strconv.Itoa(d.id) + "/",
	}
	for _, res := range s.resources.all() {
		if res.domain != d.id {
			continue
		}
		for _, id := range res.addrs {
			if row, ok := s.addresses.get(id); ok && row.ip.IsValid() {
				out.RecordCount++
			}
		}
		out.RecordCount += len(s.recordsOf(res.id))
	}
	return out
}

func listDomains(c *call) (*answer, *refusal) {
	out := []domainJSON{}
	for _, d := range c.domains.all() {
		out = append(out, c.renderDomain(d))
	}
	return ok(out)
}

func (c *call) domainOfPath() (*domain, *refusal) {
	if d := c.domainBySpecifier(c.vars["id"]); d != nil {
		return d, nil
	}
	return nil, notFound("Domain")
}

func readDomain(c *call) (*answer, *refusal) {
	d, refused := c.domainOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(c.renderDomain(d))
}

func createDomain(c *call) (*answer, *refusal) {
	d := &domain{authoritative: true}
	if refused := c.fillDomain(d); refused != nil {
		return nil, refused
	}
	d.id = c.domains.nextID()
	insert(c.tx, c.domains, d.id, d)
	return ok(c.renderDomain(d))
}

func (c *call) fillDomain(d *domain) *refusal {
	var errs formErrors
	if c.form.has("name") || d.name == "" {
		c.checkDomainName(d, c.form.get("name"), &errs)
	}
	if c.form.has("authoritative") {
		d.authoritative = c.form.formBoolean("authoritative")
	}
	d.ttl = c.ttlField("ttl", 1, d.ttl, &errs)
	return errs.refusal()
}

func (c *call) checkDomainName(d *domain, name string, errs *formErrors) {
	switch other, taken := c.domainNamed(name); {
	case name == "":
		errs.add("name", required)
	case taken && other != d:
		errs.add("name", "Domain with this Name already exists.")
	default:
		for _, label := range strings.Split(name, ".") {
			if !labelForm().MatchString(label) {
				errs.add("name", "Invalid domain name: "+name+".")
				if problem := hostLabelProblem(label); problem != "" {
					errs.add("name", problem)
				}
				return
			}
		}
		d.name = name
	}
}

func updateDomain(c *call) (*answer, *refusal) {
	d, refused := c.domainOfPath()
	if refused != nil {
		return nil, refused
	}
	if refused := c.fillDomain(edit(c.tx, d)); refused != nil {
		return nil, refused
	}
	c.touchDNS()
	return ok(c.renderDomain(d))
}

func deleteDomain(c *call) (*answer, *refusal) {
	d, refused := c.domainOfPath()
	if refused != nil {
		return nil, refused
	}
	if d.id == c.defaultDomain {
		return nil, text(http.StatusBadRequest, "This domain is the default domain, it cannot be deleted.")
	}
	const protected = `("Cannot delete some instances of model 'Domain' because they are referenced through protected foreign keys: '%s.domain'.", {%s})`
	if res, used := c.resources.find(func(res *dnsResource) bool { return res.domain == d.id }); used {
		return nil, text(http.StatusInternalServerError, fmt.Sprintf(protected, "DNSResource", "<DNSResource: name="+res.name+">"))
	}
	if m, used := c.machines.find(func(m *machine) bool { return m.domain == d.id }); used {
		return nil, text(http.StatusInternalServerError, fmt.Sprintf(protected, "Node", "<Node: "+m.systemID+" ("+m.hostname+")>"))
	}
	remove(c.tx, c.domains, d.id)
	return deleted()
}

// setDefaultDomain makes a domain the default; machines that nobody uses move
// along.
func setDefaultDomain(c *call) (*answer, *refusal) {
	d, refused := c.domainOfPath()
	if refused != nil {
		return nil, refused
	}
	old := c.defaultDomain
	c.state.defaultDomain = d.id
	c.undo = append(c.undo, func() { c.state.defaultDomain = old })
	for _, m := range c.machines.all() {
		if m.domain == old && m.owner == "" {
			edit(c.tx, m).domain = d.id
		}
	}
	return ok(c.renderDomain(d))
}
