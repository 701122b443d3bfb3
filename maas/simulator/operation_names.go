package simulator

import (
	"net/http"
	"slices"
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
	table := operations()
	out := make([]Operation, len(table))
	for i := range table {
		o := &table[i]
		out[i] = Operation{Name: o.name(), Method: o.method, Path: o.path, Op: o.op, Lacks: o.lacks}
	}
	return out
}

// name is what MAAS's command line calls an operation: its resource, one of
// many or all of them, and what is done.
func (o *operation) name() string {
	segments := strings.Split(strings.Trim(o.path, "/"), "/")
	one := false
	if last := len(segments) - 1; strings.HasPrefix(segments[last], "{") {
		segments, one = segments[:last], true
	}
	segments = slices.DeleteFunc(segments, func(s string) bool { return strings.HasPrefix(s, "{") })
	resource := segments[len(segments)-1]
	switch resource {
	case "resourcepool", "resourcepools":
		resource = strings.Replace(resource, "resourcepool", "resource-pool", 1)
	case "dnsresourcerecords":
		resource = "dnsresource-records"
	case "upload":
		return "boot-resource-file upload"
	case "devices", "blockdevices":
		resource = strings.Replace(resource, "block", "block-", 1)
	}
	if one {
		resource = strings.TrimSuffix(resource, "s")
	}
	return resource + " " + o.verb()
}

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
