package inventory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// readTimes lists when batches had a machine, since some moment.
func (w *world) readTimes(systemID string, since time.Time) []time.Time {
	var times []time.Time
	for _, r := range w.region.Requests() {
		if !r.Time.Before(since) && slices.Contains(r.Query["id"], systemID) {
			times = append(times, r.Time)
		}
	}
	return times
}

func TestRoundsReadEachMachineAtItsPace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pace        inventory.Pace
		least, most time.Duration // between two reads
		batches     int           // a minute
		watch       time.Duration
	}{
		"settled": {inventory.Settled, 7 * time.Minute, 14 * time.Minute, 1, 2 * time.Hour},
		"moving":  {inventory.Moving, 15 * time.Second, 30 * time.Second, 4, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			for _, id := range []string{"aaaaa1", "aaaaa2", "aaaaa3"} {
				w.follow(id, tc.pace)
				w.pass(4 * time.Second)
			}
			began := w.clock.Now()
			w.pass(tc.watch)
			for _, id := range []string{"aaaaa1", "aaaaa2", "aaaaa3"} {
				w.expectShown(id, true)
				times := w.readTimes(id, began)
				gaps := map[time.Duration]bool{}
				for i := 1; i < len(times); i++ {
					gaps[times[i].Sub(times[i-1])] = true
					if d := times[i].Sub(times[i-1]); d < tc.least || d > tc.most {
						t.Errorf("%s was read again after %s, want %s to %s", id, d, tc.least, tc.most)
					}
				}
				if tc.pace == inventory.Settled && len(gaps) < 3 {
					t.Errorf("%s is read every %v: what was read together will be for ever", id, gaps)
				}
				if least := int(tc.watch / tc.most); len(times) < least-1 {
					t.Errorf("%s was read %d times in %s", id, len(times), tc.watch)
				}
			}
			if got := count(w.asked(began), "machines?"); got > int(tc.watch.Minutes())*tc.batches {
				t.Errorf("%d batches in %s", got, tc.watch)
			}
		})
	}
}

// What differs raises who follows; what does not is only newer.
func TestRoundsRaiseWhatChanged(t *testing.T) {
	t.Parallel()
	const id = "aaaaa1"
	quietly := func(*world) error { return nil }
	for name, tc := range map[string]struct {
		change func(*world) error // that no event tells of
		raised bool
	}{
		"nothing":     {quietly, false},
		"the owner":   {func(w *world) error { return w.region.SetOwner(id, "capi") }, true},
		"the power":   {func(w *world) error { return w.region.SetPower(id, "on") }, true},
		"the lock":    {func(w *world) error { return w.region.Lock(id, true) }, true},
		"annotations": {func(w *world) error { return w.region.SetAnnotations(id, map[string]string{"a": "b"}) }, true},
		"the name":    {func(w *world) error { return w.region.Rename(id, "other") }, true},
		"a message":   {func(w *world) error { return w.region.LogEvent(id, "INFO", "Configuring OS", "") }, false},
	} {
		for _, pace := range []inventory.Pace{inventory.Settled, inventory.Moving} {
			t.Run(fmt.Sprintf("%s %d", name, pace), func(t *testing.T) {
				t.Parallel()
				w := started(t)
				w.follow(id, pace)
				w.must(tc.change(w))
				began := w.clock.Now()
				w.pass(map[inventory.Pace]time.Duration{inventory.Settled: 15 * time.Minute, inventory.Moving: 30 * time.Second}[pace])
				if len(w.readTimes(id, began)) == 0 {
					t.Fatal("it was not read")
				}
				if tc.raised {
					w.expectRaised(id)
				} else {
					w.expectRaised()
				}
				w.expectShown(id, true)
				w.pass(15 * time.Minute)
				w.expectRaised()
			})
		}
	}
}

// Zones and tags are changed through the API, as people do.
func TestRoundsRaiseWhatWasMovedOrTagged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(cfg *simulator.Config){
		"nothing": func(*simulator.Config) {},
		"zone":    func(cfg *simulator.Config) { cfg.Zones = []simulator.Zone{{Name: "b"}}; cfg.Machines[0].Zone = "b" },
		"pool":    func(cfg *simulator.Config) { cfg.Pools = []simulator.Pool{{Name: "b"}}; cfg.Machines[0].Pool = "b" },
		"tags":    func(cfg *simulator.Config) { cfg.Machines[0].Tags = []string{"gpu"} },
		"address": func(cfg *simulator.Config) { cfg.Subnets = []simulator.Subnet{{CIDR: "10.99.0.0/24"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, deployed("aaaaa1"))
			w.follow("aaaaa1", inventory.Moving)
			w.served.Store(w.newRegion(deployed("aaaaa1"), change))
			w.pass(30 * time.Second)
			if name == "nothing" {
				w.expectRaised()
			} else {
				w.expectRaised("aaaaa1")
			}
		})
	}
}

// That a batch lacks a machine proves nothing: whoever follows it looks directly, and is told once.
func TestMissingMachineIsToldOnce(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.follow("aaaaa1", inventory.Moving)
	w.follow("aaaaa2", inventory.Moving)
	w.must(w.region.OperatorDelete("aaaaa1"))
	w.pass(25 * time.Second)
	w.expectShown("aaaaa1", false)
	w.expectShown("aaaaa2", true)
	w.expectRaised("aaaaa1")
	w.pass(10 * time.Minute)
	w.expectRaised()
}

func TestFailedBatchConcludesNothing(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.follow("aaaaa1", inventory.Moving)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if strings.HasSuffix(r.Path, "/machines/") {
			return simulator.Fault{Status: 503}
		}
		return simulator.Fault{}
	})
	w.pass(40 * time.Second)
	w.expectShown("aaaaa1", true)
	w.pass(10 * time.Second)
	w.expectShown("aaaaa1", false)
	w.expectRaised()
	began := w.clock.Now()
	w.pass(10 * time.Minute)
	if got := count(w.asked(began), "machines?"); got < 4 || got > 10 {
		t.Errorf("%d attempts in ten minutes", got)
	}
	w.region.SetIntercept(nil)
	w.pass(2 * time.Minute)
	w.expectShown("aaaaa1", true)
}

// Should nobody look after an event or an act, the rounds do, and soon.
func TestRoundsMakeUpForLooksThatFailed(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*world){
		"an event": func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken)); w.hear() },
		"an act":   func(w *world) { w.Touched("aaaaa1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			w.follow("aaaaa1", inventory.Settled)
			then(w)
			w.expectShown("aaaaa1", false)
			w.pass(80 * time.Second)
			w.expectShown("aaaaa1", true)
		})
	}
}
