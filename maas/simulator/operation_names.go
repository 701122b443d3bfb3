package simulator

import (
	"net/http"
	"strings"
)

// Operation is a call of the API, as the simulator knows it.
type Operation struct {
	// Name is what MAAS's own command line calls it, such as "machines allocate",
	// "machine deploy", "dnsresource update" or "zones read".
	Name string
	// Method, Path (below /MAAS/api/2.0) and Op are what is sent for it. Op is
	// empty for plain reads and writes.
	Method, Path, Op string
	// Lacks says what of MAAS's behaviour is missing; empty when nothing that is
	// known is.
	Lacks string
}

// Operations are all that the simulator knows, in the order of the API.
func Operations() []Operation {
	table, commands := operations(), commands()
	out := make([]Operation, len(table))
	for i := range table {
		o := &table[i]
		out[i] = Operation{Name: commands[shape(o.path)] + " " + o.verb(), Method: o.method, Path: o.path, Op: o.op, Lacks: o.lacks}
	}
	return out
}

// NotModelled are the operations of MAAS's API that the simulator does not
// know: it answers them as it answers what MAAS does not know.
func NotModelled() []Operation {
	modelled := map[string]bool{}
	for _, o := range Operations() {
		modelled[o.call()] = true
	}
	var out []Operation
	for _, resource := range maasResources() {
		for _, o := range resource.operations() {
			if !modelled[o.call()] {
				out = append(out, o)
			}
		}
	}
	return out
}

// Area says which part of MAAS an operation belongs to, such as "DNS".
func (o Operation) Area() string {
	for _, resource := range maasResources() {
		if shape(resource.path) == shape(o.Path) {
			return resource.area
		}
	}
	return ""
}

// call is what distinguishes an operation from all others.
func (o Operation) call() string { return o.Method + " " + shape(o.Path) + " " + o.Op }

// commands are the names that MAAS's command line has for the paths of its API,
// by their shapes.
func commands() map[string]string {
	out := map[string]string{}
	for _, resource := range maasResources() {
		out[shape(resource.path)] = resource.command
	}
	return out
}

// verb is what MAAS's command line calls what is done to a resource.
func (o *operation) verb() string {
	if o.op != "" {
		return strings.ReplaceAll(o.op, "_", "-")
	}
	switch o.method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		return "delete"
	}
	return "read"
}
