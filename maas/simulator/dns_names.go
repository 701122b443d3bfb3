package simulator

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// apexName is the name of a resource at the top of its domain.
const apexName = "@"

// defaultTTL is MAAS's default_dns_ttl in seconds.
const defaultTTL = 30

func labelForm() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]{0,62}[a-zA-Z0-9])?$`)
}

// domainBySpecifier finds a domain by ID or name; nil when there is none.
func (s *state) domainBySpecifier(text string) *domain {
	if id, err := strconv.Atoi(text); err == nil {
		return s.domains.rows[id]
	}
	d, _ := s.domainNamed(text)
	return d
}

// splitFQDN takes a name apart as MAAS does: a whole domain is its apex, else
// the name ends at the first dot.
func (s *state) splitFQDN(fqdn string) (name string, d *domain) {
	fqdn = strings.TrimSuffix(fqdn, ".")
	if d, ok := s.domainNamed(fqdn); ok {
		return apexName, d
	}
	name, rest, _ := strings.Cut(fqdn, ".")
	d, _ = s.domainNamed(rest)
	return name, d
}

// dnsTarget reads the name and domain that a form asks for. Fields that are
// not there keep what old has; old is nil for a new resource.
func (c *call) dnsTarget(old *dnsResource) (name string, d *domain, refused *refusal) {
	f := c.form
	if old != nil {
		name, d = old.name, c.domains.rows[old.domain]
	}
	if fqdn := f.get("fqdn"); fqdn != "" && !f.has("name") && !f.has("domain") {
		if strings.HasPrefix(fqdn, "*") {
			return "", nil, text(http.StatusInternalServerError, "cannot unpack non-iterable NoneType object")
		}
		name, d = c.splitFQDN(fqdn)
		if d == nil {
			return "", nil, notFound("Domain")
		}
		return name, d, nil
	}
	if old == nil {
		if refused := c.missingTarget(); refused != nil {
			return "", nil, refused
		}
	}
	if f.has("name") {
		name = f.get("name")
	}
	if f.has("domain") {
		if d = c.domainBySpecifier(f.get("domain")); d == nil {
			return "", nil, notFound("Domain")
		}
	}
	return name, d, nil
}

func (c *call) missingTarget() *refusal {
	hasName, hasDomain := c.form.has("name"), c.form.has("domain")
	var errs formErrors
	switch {
	case hasName && hasDomain:
		return nil
	case hasDomain:
		if c.domainBySpecifier(c.form.get("domain")) == nil {
			return notFound("Domain")
		}
		return text(http.StatusInternalServerError, "'name'")
	case hasName:
		errs.add("domain", required)
	default:
		errs.add("name", required)
		errs.add("domain", required)
	}
	return errs.refusal()
}

// ttlField reads an optional number of seconds; "" means none.
func (c *call) ttlField(field string, least int, old *int, errs *formErrors) *int {
	if !c.form.has(field) {
		return old
	}
	value := strings.TrimSpace(c.form.get(field))
	if value == "" {
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	const most = 1<<31 - 1
	switch {
	case err != nil:
		errs.add(field, notWhole)
	case n < int64(least):
		errs.add(field, tooSmall(least))
	case n > most:
		errs.add(field, tooLarge(most))
	default:
		out := int(n)
		return &out
	}
	return old
}

// ensureResource finds or makes the resource of a name.
func (t *tx) ensureResource(name string, d *domain) *dnsResource {
	res, found := t.resources.find(func(o *dnsResource) bool { return o.name == name && o.domain == d.id })
	if !found {
		res = &dnsResource{id: t.resources.nextID(), name: name, domain: d.id}
		insert(t, t.resources, res.id, res)
	}
	return res
}

func (s *state) resourceFQDN(res *dnsResource) string {
	d := s.domains.rows[res.domain].name
	if res.name == apexName {
		return d
	}
	return res.name + "." + d
}

func (s *state) recordsOf(resource int) []*dnsRecord {
	var out []*dnsRecord
	for _, rec := range s.records.all() {
		if rec.resource == resource {
			out = append(out, rec)
		}
	}
	return out
}

func (s *state) hasCNAME(name string, domain int) bool {
	_, found := s.records.find(func(rec *dnsRecord) bool {
		res := s.resources.rows[rec.resource]
		return rec.rrtype == "CNAME" && res.name == name && res.domain == domain
	})
	return found
}
