package simulator

import (
	"slices"
	"strings"
	"time"
)

// releaseScripts reads which release scripts a release names. MAAS 3.5: one
// field, of which the last counts, with commas between names; older ones ignore
// it.
func (c *call) releaseScripts() ([]string, *refusal) {
	text := c.form.get("scripts")
	if text == "" || !c.r.since(3, 5) {
		return nil, nil
	}
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(c.r.cfg.ReleaseScripts, name) {
			return nil, invalid("scripts", "Select a valid choice. "+name+" is not one of the available choices.")
		}
	}
	return names, nil
}

// runScripts plays release scripts: the machine is switched on for them, and is
// released when they have run. MAAS 3.5 to 3.7: its state is Releasing from the
// start, and the deadline of a release does not count yet.
func (t *tx) runScripts(m *machine) {
	t.beginRelease(m)
	t.setStatus(m, StatusReleasing)
	t.system(m, "Releasing", "")
	t.orderLater(m, powerOrder{
		on: true,
		meanwhile: func(t *tx, m *machine, late time.Duration) {
			t.laterOn(m, t.takes(t.r.cfg.Durations.Test)+late, func(t *tx, m *machine) {
				if m.status == StatusReleasing {
					t.release(m)
				}
			})
		},
		failed: func(t *tx, m *machine) {
			if m.status == StatusReleasing {
				t.markFailed(m, StatusFailedReleasing, "Could not start node for release scripts.")
			}
		},
	})
}
