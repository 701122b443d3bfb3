package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// traffic is what MAAS was asked, by operation.
type traffic struct {
	Requests  int                  `json:"requests"`
	Bytes     int                  `json:"bytes"` // of the answers' bodies
	Operation map[string]operation `json:"operations"`
}

type operation struct {
	Requests int         `json:"requests"`
	Bytes    int         `json:"bytes"`
	Statuses map[int]int `json:"statuses"` // requests by HTTP status; 0 where the answer was dropped
}

// count sums up the access log.
func count(log []simulator.Request) traffic {
	t := traffic{Operation: map[string]operation{}}
	for _, r := range log {
		name := nameOf(r)
		o := t.Operation[name]
		if o.Statuses == nil {
			o.Statuses = map[int]int{}
		}
		o.Requests++
		o.Bytes += r.Bytes
		o.Statuses[r.Status]++
		t.Operation[name] = o
		t.Requests++
		t.Bytes += r.Bytes
	}
	return t
}

// byRequests lists the operations, the most frequent first.
func (t traffic) byRequests() []string {
	return slices.SortedFunc(maps.Keys(t.Operation), func(a, b string) int {
		if d := t.Operation[b].Requests - t.Operation[a].Requests; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

// identity is a system ID or a number in a path.
var identity = regexp.MustCompile(`^[346789abcdefghjkmnpqrtwxy]{6}$|^[0-9]+$`)

// nameOf reads like: GET machines/?agent_name, or POST machines/{id}/ deploy. Of filters only the names count.
func nameOf(r simulator.Request) string {
	parts := strings.Split(strings.TrimPrefix(r.Path, "/MAAS/api/2.0/"), "/")
	for i := range parts[1:] {
		if identity.MatchString(parts[i+1]) {
			parts[i+1] = "{id}"
		}
	}
	name := r.Method + " " + strings.Join(parts, "/")
	if r.Op != "" {
		name += " " + r.Op
	}
	filters := slices.DeleteFunc(slices.Sorted(maps.Keys(r.Query)), func(key string) bool { return key == "op" })
	if r.Method == "GET" && len(filters) > 0 {
		name += "?" + strings.Join(filters, "&")
	}
	return name
}
