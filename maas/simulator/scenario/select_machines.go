package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// machineSet is what Machine selects: all of one of these sets of terms has to
// hold. An empty one selects every machine.
type machineSet [][]term

// term is one condition of a machine.
type term struct {
	kind    string // empty for the hostname or system ID
	pattern string
}

func kinds() []string { return []string{"tag", "zone", "pool", "status", "owner"} }

// machinesOf reads what Machine says.
func machinesOf(machine Names) (machineSet, error) {
	var out machineSet
	for _, text := range machine {
		var all []term
		for part := range strings.SplitSeq(text, "&") {
			one, err := readTerm(strings.TrimSpace(part))
			if err != nil {
				return nil, fmt.Errorf("machine %q: %w", text, err)
			}
			all = append(all, one)
		}
		out = append(out, all)
	}
	return out, nil
}

func readTerm(text string) (term, error) {
	t := term{pattern: text}
	if kind, pattern, ok := strings.Cut(text, ":"); ok {
		if !slices.Contains(kinds(), kind) {
			return t, fmt.Errorf("%q is nothing that a machine is known by%s; there are %s: and the plain hostname or system ID",
				kind+":", didYouMean(kind, kinds()), strings.Join(kinds(), ":, "))
		}
		t = term{kind: kind, pattern: pattern}
	}
	if t.pattern == "" {
		return t, fmt.Errorf("%q names nothing", text)
	}
	if t.kind == "status" {
		t.pattern = plainStatus(t.pattern)
		if err := knownStatus(t.pattern); err != nil {
			return t, err
		}
	}
	if _, err := path.Match(t.pattern, ""); err != nil {
		return t, fmt.Errorf("is no pattern: %w", err)
	}
	return t, nil
}

// plainStatus writes "Failed deployment" as "failed-deployment".
func plainStatus(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func knownStatus(pattern string) error {
	var names []string
	for status := simulator.StatusNew; status <= simulator.StatusFailedTesting; status++ {
		name := plainStatus(status.String())
		if ok, _ := path.Match(pattern, name); ok {
			return nil
		}
		names = append(names, name)
	}
	return fmt.Errorf("no status is called %q%s; there are %s", pattern, didYouMean(pattern, names), strings.Join(names, ", "))
}

// needsOwner says whether more has to be known of a machine than hardware knows.
func (s machineSet) needsOwner() bool {
	for _, all := range s {
		if slices.ContainsFunc(all, func(t term) bool { return t.kind == "status" || t.kind == "owner" }) {
			return true
		}
	}
	return false
}

func (s machineSet) matches(m simulator.MachineSnapshot) bool {
	if len(s) == 0 {
		return true
	}
	return slices.ContainsFunc(s, func(all []term) bool {
		return !slices.ContainsFunc(all, func(t term) bool { return !t.holds(m) })
	})
}

func (t term) holds(m simulator.MachineSnapshot) bool {
	fits := func(name string) bool {
		ok, _ := path.Match(t.pattern, name) // it was checked when it was read
		return ok && name != ""
	}
	switch t.kind {
	case "tag":
		return slices.ContainsFunc(m.Tags, fits)
	case "zone":
		return fits(m.Zone)
	case "pool":
		return fits(m.Pool)
	case "status":
		return fits(plainStatus(m.StatusName))
	case "owner":
		return fits(m.Owner)
	}
	return fits(m.Hostname) || fits(m.SystemID)
}
