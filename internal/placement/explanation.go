package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Explanation says what each constraint left of the candidates.
type Explanation struct {
	total int
	found []finding
}

// finding is what one requirement left.
type finding struct {
	requirement
	left     int
	rejected int
	states   string // of the machines it rejected
}

func (e *Explanation) add(r requirement, left int, rejected []maas.Machine) {
	f := finding{requirement: r, left: left, rejected: len(rejected)}
	if r.byState {
		f.states = countStates(rejected)
	}
	e.found = append(e.found, f)
}

// String reads like: no machine available: 14 in pool "workers", 3 of them have tag "gpu", none of these is Ready
// (2 Deployed, 1 Broken). It is "" when a machine fits.
func (e Explanation) String() string {
	if details := e.Details(); details != "" {
		return "no machine available: " + details
	}
	return ""
}

// Details is String without its beginning, for whoever begins in another way.
func (e Explanation) Details() string {
	if len(e.found) == 0 || e.found[len(e.found)-1].left > 0 {
		return ""
	}
	if e.total == 0 {
		return "MAAS shows us no machine at all"
	}
	var clauses []string
	before := e.total
	for i, f := range e.found {
		switch {
		case f.left == 0:
			clauses = append(clauses, f.none(i == 0))
			return strings.Join(clauses, ", ")
		case i == 0 && f.verb == is && !f.byState:
			clauses = append(clauses, fmt.Sprintf("%d %s", f.left, f.what))
		case i == 0:
			clauses = append(clauses, fmt.Sprintf("%d of %d machines %s %s", f.left, e.total, f.verbFor(f.left), f.what))
		case f.left == before:
			// It took nothing away: not worth a word.
		default:
			clauses = append(clauses, fmt.Sprintf("%d of them %s %s", f.left, f.verbFor(f.left), f.what))
		}
		before = f.left
	}
	return ""
}

func (f finding) none(first bool) string {
	switch {
	case f.taken && f.rejected == 1:
		return "this one was claimed by another MaasMachine just now"
	case f.taken:
		return "all of these were claimed by another MaasMachine just now"
	}
	text := fmt.Sprintf("none of these %s %s", f.verb.one, f.what)
	if first {
		text = fmt.Sprintf("none %s %s", f.verb.one, f.what)
	}
	if f.states != "" {
		text += " (" + f.states + ")"
	}
	return text
}

func (f finding) verbFor(n int) string {
	if n == 1 {
		return f.verb.one
	}
	return f.verb.many
}

// countStates reads like: 2 Deployed, 1 Broken.
func countStates(machines []maas.Machine) string {
	counts := map[maas.Status]int{}
	for _, m := range machines {
		counts[m.Status]++
	}
	var states []maas.Status
	for s := range counts {
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b maas.Status) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return int(a - b)
	})
	var parts []string
	for _, s := range states {
		parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
	}
	return strings.Join(parts, ", ")
}
