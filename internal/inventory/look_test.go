package inventory_test

import (
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// What is shown must have been asked for after all that we know to have happened, and be young enough.
func TestLookShowsOnlyWhatProvesSomething(t *testing.T) {
	t.Parallel()
	const id = "aaaaa1"
	for name, tc := range map[string]struct {
		before func(*world) // before the inventory works
		then   func(*world)
		shown  bool
	}{
		"what was read":                 {then: func(w *world) { w.follow(id, inventory.Settled) }, shown: true},
		"a machine that nobody follows": {then: func(w *world) { w.read(id) }},
		"a machine that was read before it was followed": {
			then: func(w *world) { w.read(id); w.Follow(object("a"), id, inventory.Settled) }, shown: true,
		},
		"a machine that was forgotten": {then: func(w *world) { w.follow(id, inventory.Settled); w.Forget(object(id)) }},
		"a machine that only one of two forgot": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				w.Follow(object("b"), id, inventory.Settled)
				w.Forget(object(id))
			}, shown: true,
		},
		"a machine whose follower turned to another": {
			then: func(w *world) { w.follow(id, inventory.Settled); w.Follow(object(id), "aaaaa2", inventory.Settled) },
		},
		"a machine whose follower awaits another": {then: func(w *world) { w.follow(id, inventory.Settled); w.Await(object(id)) }},
		"a machine that was followed before the start": {
			before: func(w *world) { w.Follow(object("a"), id, inventory.Settled) }, then: func(w *world) { w.read(id) }, shown: true,
		},
		"what was read before the event log was followed": {before: func(w *world) { w.follow(id, inventory.Settled) }},
		"what was read before we acted":                   {then: func(w *world) { w.follow(id, inventory.Settled); w.Touched(id) }},
		"what was read after we acted": {
			then: func(w *world) { w.follow(id, inventory.Settled); w.Touched(id); w.read(id) }, shown: true,
		},
		"what was asked for before we acted": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				m, began := w.read(id), w.clock.Now()
				w.clock.Advance(time.Second)
				w.Touched(id)
				w.Learned(m, began)
			},
		},
		"what moves, for 45 s": {
			then: func(w *world) { w.follow(id, inventory.Moving); w.clock.Advance(45 * time.Second) }, shown: true,
		},
		"what moves, after 46 s": {then: func(w *world) { w.follow(id, inventory.Moving); w.clock.Advance(46 * time.Second) }},
		"what is settled, for 15 min": {
			then: func(w *world) { w.follow(id, inventory.Settled); w.clock.Advance(15 * time.Minute) }, shown: true,
		},
		"what is settled, after that": {
			then: func(w *world) { w.follow(id, inventory.Settled); w.clock.Advance(15*time.Minute + time.Second) },
		},
		"what moves for one of two": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				w.Follow(object("b"), id, inventory.Moving)
				w.clock.Advance(time.Minute)
			},
		},
		"what settled": {
			then: func(w *world) {
				w.follow(id, inventory.Moving)
				w.Follow(object(id), id, inventory.Settled)
				w.clock.Advance(time.Minute)
			}, shown: true,
		},
		"what an event was about": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				w.must(w.region.SetStatus(id, simulator.StatusBroken))
				w.hear()
			},
		},
		"what was read after the event": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				w.must(w.region.SetStatus(id, simulator.StatusBroken))
				w.hear()
				w.read(id)
			}, shown: true,
		},
		"while MAAS is away": {
			then: func(w *world) {
				w.follow(id, inventory.Settled)
				w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: 503} })
				w.pass(5 * time.Minute)
			}, shown: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.before != nil {
				tc.before(w)
			}
			w.expectShown(id, false)
			w.Step(t.Context())
			if tc.then != nil {
				tc.then(w)
			}
			w.expectShown(id, tc.shown)
		})
	}
}

func TestLearnedKeepsTheNewerLook(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.follow("aaaaa1", inventory.Settled)
	old, began := w.read("aaaaa1"), w.clock.Now()
	w.clock.Advance(time.Second)
	newer := w.read("aaaaa1")
	w.Learned(old, began)
	if m, ok := w.Look("aaaaa1"); !ok || m != newer {
		t.Errorf("an older look replaced a newer one")
	}
}

// Whatever happens while a batch is on its way goes before what the batch says.
func TestBatchLosesToWhatHappensMeanwhile(t *testing.T) {
	t.Parallel()
	const id = "aaaaa1"
	for name, tc := range map[string]struct {
		meanwhile func(w *world) (learned *maas.Machine)
		shown     bool
	}{
		"nothing": {meanwhile: func(*world) *maas.Machine { return nil }, shown: true},
		"we act":  {meanwhile: func(w *world) *maas.Machine { w.Touched(id); return nil }},
		"we act, a little later": {meanwhile: func(w *world) *maas.Machine {
			w.clock.Advance(time.Second)
			w.Touched(id)
			return nil
		}},
		"an event is heard of": {meanwhile: func(w *world) *maas.Machine {
			w.must(w.region.SetStatus(id, simulator.StatusDeployed))
			w.hear()
			return nil
		}},
		"a newer look": {meanwhile: func(w *world) *maas.Machine {
			w.clock.Advance(time.Second)
			m := &maas.Machine{SystemID: id, Hostname: "newer"}
			w.Learned(m, w.clock.Now())
			return m
		}, shown: true},
		"a look that began before, and ends only now": {meanwhile: func(w *world) *maas.Machine {
			w.Learned(&maas.Machine{SystemID: id, Hostname: "older"}, w.clock.Now().Add(-time.Second))
			return nil
		}, shown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			w.follow(id, inventory.Moving)
			w.clock.Advance(20 * time.Second)
			var learned *maas.Machine
			acted := false
			w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if r.Op == "" && !acted {
					acted = true
					learned = tc.meanwhile(w)
				}
				return simulator.Fault{}
			})
			w.Step(t.Context())
			if !acted {
				t.Fatal("no batch was read")
			}
			m, ok := w.Look(id)
			if ok != tc.shown {
				t.Fatalf("shown: %t, want %t", ok, tc.shown)
			}
			switch {
			case learned != nil && m != learned:
				t.Errorf("the batch won over a newer look")
			case ok && learned == nil && m.Hostname != "m1":
				t.Errorf("an older look, of %s, won over the batch", m.Hostname)
			}
		})
	}
}
