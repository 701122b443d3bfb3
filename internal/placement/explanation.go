package placement

import (
	"cmp"
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
	names    string // of some of them, where there is something to do about them
}

func (e *Explanation) add(r requirement, left int, rejected []maas.Machine) {
	f := finding{requirement: r, left: left, rejected: len(rejected)}
	if r.byState {
		f.states = countStates(rejected)
	}
	if r.amiss.one != "" {
		f.names = nameSome(rejected)
	}
	e.found = append(e.found, f)
}

// String reads like: no machine available: 14 in pool "workers", 3 of them have tag "gpu", none of these is Ready
// (2 Deployed, 1 Broken): add machines to MAAS, wait until some are released, or ask for less. It is "" when a machine fits.
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
		return "MAAS shows no machine to the API key's user: add machines and commission them, or look at that user's rights"
	}
	var clauses []string
	before := e.total
	for i, f := range e.found {
		switch {
		case f.left == 0:
			clauses = append(clauses, f.none(i == 0))
			return strings.Join(clauses, ", ") + ": " + f.todo
		case i == 0 && f.left == e.total:
			clauses = append(clauses, fmt.Sprintf("%s %s %s", machines(e.total), f.verbFor(f.left), f.what))
		case i == 0 && f.verb == is && !f.byState:
			clauses = append(clauses, fmt.Sprintf("%d %s", f.left, f.what))
		case i == 0:
			clauses = append(clauses, fmt.Sprintf("%d of %s %s %s", f.left, machines(e.total), f.verbFor(f.left), f.what))
		case f.left == before:
			// It took nothing away: not worth a word.
		default:
			clauses = append(clauses, fmt.Sprintf("%d of them %s %s", f.left, f.verbFor(f.left), f.what))
		}
		before = f.left
	}
	return ""
}

// none says that nothing is left, of all machines or of those that the clause before named.
func (f finding) none(first bool) string {
	one, these := "this one", "these"
	if first {
		one, these = "the only machine", machines(f.rejected)
	}
	text := ""
	switch {
	case f.rejected == 1 && f.amiss.one != "":
		text = one + " " + f.amiss.one
	case f.amiss.many != "" && first:
		text = "all " + these + " " + f.amiss.many
	case f.amiss.many != "":
		text = "all of these " + f.amiss.many
	case f.rejected == 1:
		text = fmt.Sprintf("%s %s %s", one, f.verb.not, f.what)
	default:
		text = fmt.Sprintf("none of %s %s %s", these, f.verb.one, f.what)
	}
	if about := cmp.Or(f.states, f.names); about != "" {
		text += " (" + about + ")"
	}
	return text
}

func machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

func (f finding) verbFor(n int) string {
	if n == 1 {
		return f.verb.one
	}
	return f.verb.many
}

// nameSome reads like: node1, node2, node3 and 5 more.
func nameSome(machines []maas.Machine) string {
	const some = 3
	var names []string
	for _, m := range machines {
		names = append(names, cmp.Or(m.Hostname, m.SystemID))
	}
	slices.Sort(names)
	if len(names) > some {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:some], ", "), len(names)-some)
	}
	return strings.Join(names, ", ")
}

// countStates reads like: 2 Deployed, 1 Broken.
func countStates(machines []maas.Machine) string {
	if len(machines) == 1 {
		return machines[0].Status.String()
	}
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
