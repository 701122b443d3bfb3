package scenario

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// operationSet is what On selects.
type operationSet struct {
	reads, writes bool            // all of them
	names         map[string]bool // by name, and whether it reads
}

// operationsOf finds the operations that On names.
func operationsOf(on Names) (operationSet, error) {
	out := operationSet{names: map[string]bool{}}
	known := simulator.Operations()
	for _, text := range on {
		switch text {
		case "*":
			out.reads, out.writes = true, true
			continue
		case "reads":
			out.reads = true
			continue
		case "writes":
			out.writes = true
			continue
		}
		found, err := out.add(text, known)
		if err != nil {
			return out, fmt.Errorf("on %q: %w", text, err)
		}
		if !found {
			return out, fmt.Errorf("on %q: %s; \"reads\", \"writes\", \"*\" and the names that `maas --help` has for what is modelled are understood",
				text, whyUnknown(text, known))
		}
	}
	return out, nil
}

// add selects the operations of a name, which may be given by its last words,
// and as the API spells it: mark_broken for mark-broken.
func (s *operationSet) add(text string, known []simulator.Operation) (found bool, err error) {
	pattern := strings.ReplaceAll(strings.Join(strings.Fields(strings.ToLower(text)), " "), "_", "-")
	for _, o := range known {
		whole, err := path.Match(pattern, o.Name)
		if err != nil {
			return false, fmt.Errorf("is no pattern: %w", err)
		}
		if whole || strings.HasSuffix(o.Name, " "+pattern) {
			s.names[o.Name] = isRead(o.Method)
			found = true
		}
	}
	return found, nil
}

// whyUnknown says what is wrong with a name that no modelled operation has.
func whyUnknown(text string, known []simulator.Operation) string {
	var all operationSet
	all.names = map[string]bool{}
	if there, err := all.add(text, simulator.NotModelled()); err == nil && there {
		return "the simulator does not model this operation, and refuses it"
	}
	return "no such operation" + didYouMean(text, operationNames(known))
}

// operationNames are the names of operations and their last words.
func operationNames(known []simulator.Operation) []string {
	var out []string
	for _, o := range known {
		out = append(out, o.Name)
		if _, verb, ok := strings.Cut(o.Name, " "); ok {
			out = append(out, verb)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func (s *operationSet) matches(r simulator.Request) bool {
	if isRead(r.Method) && s.reads || !isRead(r.Method) && s.writes {
		return true
	}
	_, selected := s.names[r.Operation]
	return selected
}

func (s *operationSet) takesReads() bool {
	for _, reads := range s.names {
		if reads {
			return true
		}
	}
	return s.reads
}
