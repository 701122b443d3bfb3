package simulator

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"
)

// apiPrefix is where the REST API lives.
const apiPrefix = "/MAAS/api/2.0"

// access says who may call an operation.
type access int

const (
	anyone         access = iota // also without credentials
	users                        // everybody with a key
	admins                       // others are told that the method is for admins
	adminsOnly                   // others get an empty 403
	viewers                      // who may see the machine of the path
	editors                      // who may change it: not when it is locked
	lockers                      // who may lock and unlock it
	machineAdmins                // admins, and not when it is locked
	machineReaders               // admins, also when it is locked
)

// operation is one call of the API. Routing, the names that faults go by and
// the table of what is modelled are made from the list of all of them.
type operation struct {
	method string
	// path below the API's prefix; {name} stands for one segment, {name...} for
	// one or more.
	path string
	// op is empty for plain CRUD.
	op     string
	access access
	handle func(*call) (*answer, *refusal)
	// lacks says what of MAAS's behaviour is missing; empty when nothing that is
	// known is.
	lacks string
}

// call is one request to the API while it runs.
type call struct {
	*tx
	user    *user // nil when anonymous
	vars    map[string]string
	query   params
	body    body
	form    params
	machine *machine // of the path, for the accesses that name one
	arrived arrival
	staged  *stagedChunk
	// acquired is the system ID of the machine that became the caller's.
	acquired string
	// holds is how long the answer lets its client wait, refusal or not; what a
	// transaction waits for with hold is undone with it.
	holds time.Duration
}

// router finds operations. Its resources are the different paths of the table.
type router struct{ resources []*resource }

type resource struct {
	pattern    []string
	command    string // what MAAS's command line calls it
	operations []operation
}

func newRouter(table []operation) *router {
	r := &router{}
	commands := commands()
	for _, op := range table {
		pattern := strings.Split(strings.Trim(op.path, "/"), "/")
		res := r.exact(pattern)
		if res == nil {
			res = &resource{pattern: pattern, command: commands[shape(op.path)]}
			r.resources = append(r.resources, res)
		}
		res.operations = append(res.operations, op)
	}
	return r
}

func (r *router) exact(pattern []string) *resource {
	for _, res := range r.resources {
		if strings.Join(res.pattern, "/") == strings.Join(pattern, "/") {
			return res
		}
	}
	return nil
}

// find returns the resource of a path and the values of its variables.
func (r *router) find(segments []string) (*resource, map[string]string) {
	for _, res := range r.resources {
		if vars, ok := match(res.pattern, segments); ok {
			return res, vars
		}
	}
	return nil, nil
}

func match(pattern, segments []string) (map[string]string, bool) {
	vars := map[string]string{}
	for i, part := range pattern {
		name, variable := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		if rest, many := strings.CutSuffix(name, "..."); variable && many && len(segments) > i {
			vars[rest] = strings.Join(segments[i:], "/")
			return vars, true
		}
		switch {
		case i >= len(segments):
			return nil, false
		case variable:
			vars[name] = segments[i]
		case part != segments[i]:
			return nil, false
		}
	}
	return vars, len(pattern) == len(segments)
}

func (res *resource) operation(method, op string) *operation {
	for i := range res.operations {
		if res.operations[i].method == method && res.operations[i].op == op {
			return &res.operations[i]
		}
	}
	return nil
}

// takesContent says that what is put there is content, not a form.
func (res *resource) takesContent() bool {
	return "/"+strings.Join(res.pattern, "/")+"/" == uploadPath
}

// methods are the HTTP methods that the resource knows.
func (res *resource) methods() []string {
	seen := map[string]bool{}
	for _, op := range res.operations {
		seen[op.method] = true
	}
	out := slices.Sorted(maps.Keys(seen))
	order := map[string]int{"GET": 0, "POST": 1, "PUT": 2, "DELETE": 3}
	sort.SliceStable(out, func(i, j int) bool { return order[out[i]] < order[out[j]] })
	return out
}

func (res *resource) servesAnonymous() bool {
	for _, op := range res.operations {
		if op.access == anyone {
			return true
		}
	}
	return false
}

// split takes a path below the API's prefix apart. MAAS collapses repeated
// slashes, wants a slash at the end, and takes an operation from a last
// segment op-<name> without one.
func split(escaped string) (segments []string, op string, ok bool) {
	for _, part := range strings.Split(escaped, "/") {
		if part == "" {
			continue
		}
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		segments = append(segments, part)
	}
	if strings.HasSuffix(escaped, "/") {
		return segments, "", len(segments) > 0
	}
	if len(segments) > 1 {
		last := segments[len(segments)-1]
		if name, found := strings.CutPrefix(last, "op-"); found {
			return segments[:len(segments)-1], name, true
		}
	}
	return nil, "", false
}

func unknownEndpoint(path string) *refusal {
	return &refusal{status: http.StatusNotFound, contentType: typeText, body: "Unknown API endpoint: " + path + ".", bare: true}
}

// route finds the operation that a request names.
func (res *resource) route(method, op string, anonymous bool) (*operation, *refusal) {
	found := res.operation(method, op)
	if anonymous && (found == nil || found.access != anyone) {
		if !res.servesAnonymous() {
			return nil, unauthenticated()
		}
		found = nil
	}
	if found != nil {
		return found, nil
	}
	known := false
	for _, m := range res.methods() {
		known = known || m == method
	}
	if !known {
		return nil, &refusal{
			status: http.StatusMethodNotAllowed, contentType: typeHTML, regular: true,
			headers: map[string]string{"Allow": strings.Join(res.methods(), ", ")},
		}
	}
	if op == "" {
		op = "None"
	}
	return nil, text(http.StatusBadRequest, "Unrecognised signature: method="+method+" op="+op)
}

// admit checks whether the caller may run an operation, and finds the machine
// of the path.
func (c *call) admit(a access) *refusal {
	switch a {
	case anyone, users:
		return nil
	case admins:
		if !c.user.admin {
			return text(http.StatusForbidden, "This method is reserved for admin users.")
		}
		return nil
	case adminsOnly:
		if !c.user.admin {
			return forbidden()
		}
		return nil
	}
	m, ok := c.machines.get(c.vars["system_id"])
	if !ok {
		return notFound("Machine")
	}
	c.machine = m
	if !mayAccess(c.user, m, a) {
		return forbidden()
	}
	return nil
}

// mayAccess is MAAS's rule: a machine without an owner is everybody's.
func mayAccess(u *user, m *machine, a access) bool {
	own := u.admin || m.owner == "" || m.owner == u.name
	switch a {
	case viewers, lockers:
		return own
	case editors:
		return own && !m.locked
	case machineAdmins:
		return u.admin && !m.locked
	case machineReaders:
		return u.admin
	}
	return false
}
