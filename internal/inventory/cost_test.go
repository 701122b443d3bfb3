package inventory_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// What an hour with 300 deployed machines costs MAAS. All of the provider may ask for 30 requests and 1 MB a minute.
func TestCostAtRest(t *testing.T) {
	t.Parallel()
	const n = 300
	for name, tc := range map[string]struct {
		eachSecond    func(w *world, second int)
		mostKBPerPoll int
	}{
		"nothing happens": {func(*world, int) {}, 1},
		// MAAS before 3.2 logs each poll of a machine's power, every five minutes.
		"power polling is logged": {func(w *world, second int) {
			w.must(w.region.LogEvent(fmt.Sprintf("a%05d", second%n), "DEBUG", "Queried node's BMC", "Power state queried: on"))
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, machines(n, simulator.StatusDeployed))
			w.ownAll(n)
			w.followAll()
			w.raised()
			began := w.clock.Now().Add(time.Nanosecond)
			for second := range 3600 {
				tc.eachSecond(w, second)
				w.pass(time.Second)
			}
			w.expectRaised()
			for i := range n {
				w.expectShown(fmt.Sprintf("a%05d", i), true)
			}
			w.expectCost(n, began, tc.mostKBPerPoll)
		})
	}
}

// expectCost checks an hour's requests.
func (w *world) expectCost(n int, began time.Time, mostKBPerPoll int) {
	w.Helper()
	polls, powers, batches, reads, largest, pollBytes, batchBytes := 0, 0, 0, 0, 0, 0, 0
	for _, r := range w.region.Requests() {
		switch {
		case r.Time.Before(began):
		case r.Op == "query":
			polls, pollBytes = polls+1, pollBytes+r.Bytes
		case len(r.Query["id"]) > 0:
			batches, batchBytes = batches+1, batchBytes+r.Bytes
			reads, largest = reads+len(r.Query["id"]), max(largest, len(r.Query["id"]))
		case r.Query.Get("power_state") == "off":
			powers++
		default:
			w.Errorf("unexpected request: %s", short(r))
		}
	}
	w.Logf("in a minute: %.1f polls of %d bytes, %.1f batches of %d machines (at most %d), %d KB; each machine is read %.1f times an hour",
		float64(polls)/60, pollBytes/polls, float64(batches)/60, reads/batches, largest, (pollBytes+batchBytes)/60/1000, float64(reads)/float64(n))
	if polls > 12*60+2*6 {
		w.Errorf("%d polls in an hour", polls)
	}
	if powers < 59 || powers > 61 {
		w.Errorf("in an hour it was asked %d times which machines are off", powers)
	}
	if batches > 60 {
		w.Errorf("%d batches in an hour", batches)
	}
	if reads < n*4 || reads > n*8 {
		w.Errorf("%d reads of %d machines in an hour", reads, n)
	}
	if largest > n/4 {
		w.Errorf("%d of %d machines were read at once", largest, n)
	}
	if got := pollBytes / polls; got > mostKBPerPoll*1000 {
		w.Errorf("%d bytes in a poll", got)
	}
}

// What is overdue altogether, as after a pause of the whole process, is not read all at once.
func TestOverdueMachinesAreReadBitByBit(t *testing.T) {
	t.Parallel()
	w := started(t, machines(120, simulator.StatusDeployed))
	w.followAll()
	w.clock.Advance(time.Hour)
	began := w.clock.Now()
	w.pass(4 * time.Minute)
	var sizes []int
	for _, r := range w.region.Requests() {
		if !r.Time.Before(began) && r.Op == "" {
			sizes = append(sizes, len(r.Query["id"]))
		}
	}
	if !slices.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("batches of %v", sizes)
	}
}

// machines replaces the region's machines by n with IDs a00000 and so on.
func machines(n int, status simulator.Status) func(*simulator.Config) {
	return func(cfg *simulator.Config) {
		cfg.Machines = nil
		for i := range n {
			cfg.Machines = append(cfg.Machines, simulator.Machine{
				Hostname: fmt.Sprintf("h%05d", i), SystemID: fmt.Sprintf("a%05d", i), Status: &status, PowerState: "on",
			})
		}
	}
}

// ownAll makes all machines ours.
func (w *world) ownAll(n int) {
	w.Helper()
	for i := range n {
		w.must(w.region.SetOwner(fmt.Sprintf("a%05d", i), "capi"))
	}
}

// followAll follows all machines as a manager does that has just started: all at once.
func (w *world) followAll() {
	w.Helper()
	began := w.clock.Now()
	all, err := w.client.Machines(context.Background(), maas.MachineFilter{})
	w.must(err)
	for i := range all {
		w.Follow(object(all[i].SystemID), all[i].SystemID, inventory.Settled)
		w.Learned(&all[i], began)
	}
}
