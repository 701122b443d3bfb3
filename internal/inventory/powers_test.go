package inventory_test

import (
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// MAAS writes no event when it finds a machine off, or on again.
func TestPowerThatChangesIsSeenWithinMinutes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, now string
		raised      bool
	}{
		"off":              {"on", "off", true},
		"on again":         {"off", "on", true},
		"still on":         {"on", "on", false},
		"still off":        {"off", "off", false},
		"no longer known":  {"on", "unknown", false}, // that says little, and the rounds see it
		"on, as it turned": {"unknown", "on", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, machines(2, simulator.StatusDeployed))
			w.ownAll(2)
			w.must(w.region.SetPower("a00000", tc.before))
			w.follow("a00000", inventory.Settled)
			w.follow("a00001", inventory.Settled)
			w.pass(2 * time.Minute)
			w.raised()
			w.must(w.region.SetPower("a00000", tc.now))
			w.pass(2 * time.Minute)
			if tc.raised {
				w.expectRaised("a00000")
			} else {
				w.expectRaised()
			}
			m, ok := w.Look("a00000")
			if ok && tc.raised && string(m.PowerState) != tc.now {
				t.Errorf("the view shows it %s", m.PowerState)
			}
			w.expectShown("a00001", true)
		})
	}
}

// Machines of other users, and those that nobody follows, are not asked for.
func TestPowerIsAskedForOurMachinesAlone(t *testing.T) {
	t.Parallel()
	w := started(t, machines(2, simulator.StatusDeployed))
	w.pass(3 * time.Minute)
	w.ownAll(1)
	w.must(w.region.SetPower("a00001", "off"))
	w.follow("a00000", inventory.Settled)
	w.pass(3 * time.Minute)
	asked := 0
	for _, r := range w.region.Requests() {
		if r.Query.Get("power_state") == "" {
			continue
		}
		asked++
		if r.Query.Get("owner") != "capi" || r.Bytes > 10 {
			t.Errorf("%s: %d bytes", short(r), r.Bytes)
		}
	}
	if asked < 2 || asked > 4 {
		t.Errorf("asked %d times", asked)
	}
}
