package simulator

import (
	"slices"
	"sort"
	"strings"
)

// splitTags takes lists apart as MAAS does: at commas and spaces.
func splitTags(values []string) []string {
	var out []string
	for _, value := range values {
		for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// tagConstraint wants all of the tags, or none of them. Unknown tags are an
// error only where they are wanted.
func tagConstraint(negate bool) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		names := splitTags(values)
		var unknown []string
		for _, name := range names {
			if _, ok := c.tags.get(name); !ok {
				unknown = append(unknown, pyRepr(name))
			}
		}
		if len(unknown) > 0 && !negate {
			sort.Sort(sort.Reverse(sort.StringSlice(unknown)))
			return nil, nil, "No such tag(s): " + strings.Join(unknown, ", ") + ".", nil
		}
		if len(names) == 0 {
			return nil, nil, "", nil
		}
		resolved := append([]string(nil), names...)
		sort.Strings(resolved)
		return func(m *machine) bool {
			for _, name := range names {
				if slices.Contains(m.tags, name) == negate {
					return false
				}
			}
			return true
		}, resolved, "", nil
	}
}
