package scenario

import (
	"fmt"
	"strings"
)

// Summary is one line of what a fault does beside its Do, in the words of the
// scenario: "on machines allocate, skip 1, count 1".
func (f Fault) Summary() string {
	var parts []string
	add := func(name string, used bool, value any) {
		if used {
			parts = append(parts, fmt.Sprintf("%s %v", name, value))
		}
	}
	add("on", len(f.On) > 0, strings.Join(f.On, " or "))
	add("machine", len(f.Machine) > 0, strings.Join(f.Machine, " or "))
	add("user", f.User != "", f.User)
	add("after", f.After > 0, f.After)
	add("for", f.For > 0, f.For)
	add("every", f.Every > 0, f.Every)
	add("skip", f.Skip > 0, f.Skip)
	add("count", f.Count > 0, f.Count)
	if f.Probability != nil {
		add("probability", true, *f.Probability)
	}
	add("answer", f.Answer != "", f.Answer)
	add("status", f.Status > 0, f.Status)
	add("committed", f.Committed, f.Committed)
	add("delay", f.Delay > 0, f.Delay)
	add("age", f.Age > 0, f.Age)
	add("to", f.To != "", f.To)
	add("image", f.Image != "", f.Image)
	add("subnet", f.Subnet != "", f.Subnet)
	if len(parts) == 0 {
		return "always"
	}
	return strings.Join(parts, ", ")
}
