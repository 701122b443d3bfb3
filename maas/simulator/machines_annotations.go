package simulator

import (
	"net/http"
	"regexp"
)

// annotationKey is what MAAS lets a workload annotation's key be.
func annotationKey() *regexp.Regexp { return regexp.MustCompile(`^[\w.-]+$`) }

// setWorkloadAnnotations merges key=value pairs into a machine's annotations;
// an empty value deletes a key. Only the owner may, not even an admin.
func setWorkloadAnnotations(c *call) (*answer, *refusal) {
	m := c.machine
	if m.owner != c.user.name {
		return nil, conflict("Cannot set workload annotation: it hasn't been acquired.")
	}
	merged := map[string]string{}
	for key, value := range m.annotations {
		merged[key] = value
	}
	for _, key := range c.form.keys {
		if key == "op" {
			continue
		}
		if !annotationKey().MatchString(key) {
			return nil, text(http.StatusInternalServerError, "Invalid character in key name")
		}
		if refused := tooLong("key", key); refused != nil {
			return nil, refused
		}
		if value := c.form.get(key); value != "" {
			merged[key] = value
		} else {
			delete(merged, key)
		}
	}
	edit(c.tx, m).annotations = merged
	return ok(c.render(m))
}
