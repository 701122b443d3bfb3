package endpoint_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// watched is a world whose publisher has a clock of the test's, and whose calls of Changed are counted.
type watched struct {
	*world
	now     time.Time
	changes []endpoint.Record
}

func newWatched(t *testing.T, config simulator.Config) *watched {
	t.Helper()
	w := &watched{world: newWorld(t, config), now: time.Unix(1_800_000_000, 0)}
	w.publisher.Now = func() time.Time { return w.now }
	w.publisher.Changed = func(r endpoint.Record) { w.changes = append(w.changes, r) }
	return w
}

// costs checks what a glance returns, and how many requests it takes.
func (w *watched) costs(requests int, maxAge time.Duration, want ...string) {
	w.Helper()
	before := len(w.region.Requests())
	state, err := w.publisher.Glance(w.Context(), record, maxAge)
	if err != nil || !slices.Equal(state.Addresses, want) {
		w.Errorf("a glance shows %+v, %v, want %v", state, err, want)
	}
	if got := len(w.region.Requests()) - before; got != requests {
		w.Errorf("a glance took %d requests, want %d", got, requests)
	}
}

// rejoin checks how often the machines were called to join again since the last time.
func (w *watched) rejoin(times int) {
	w.Helper()
	if len(w.changes) < times || times == 0 && len(w.changes) > 0 {
		w.Errorf("the machines were called %d times, want %d", len(w.changes), times)
	}
	for _, r := range w.changes {
		if r != record {
			w.Errorf("called for %+v", r)
		}
	}
	w.changes = nil
}

func TestAGlanceCostsNothingWhileSomethingYoungIsKnown(t *testing.T) {
	t.Parallel()
	w := newWatched(t, simulator.Config{})
	w.costs(1, time.Minute)
	w.join("10.20.1.7")
	w.costs(0, time.Minute, "10.20.1.7")
	w.costs(0, 0, "10.20.1.7")
	w.now = w.now.Add(time.Minute)
	w.costs(0, time.Minute, "10.20.1.7")
	w.now = w.now.Add(time.Second)
	w.costs(1, time.Minute, "10.20.1.7")
	w.costs(0, time.Minute, "10.20.1.7")
	w.now = w.now.Add(time.Minute)
	w.ensure(endpoint.Members{Addresses: []string{"10.20.1.7"}, Complete: true})
	w.now = w.now.Add(time.Second)
	w.costs(0, time.Minute, "10.20.1.7")
	if _, err := w.publisher.Leave(t.Context(), record, "", "10.20.1.7"); err != nil {
		t.Fatal(err)
	}
	w.costs(0, time.Minute)
	if _, err := w.publisher.Remove(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	w.costs(1, time.Minute)
	w.rejoin(0)
}

func TestAWriteWithoutAnAnswerIsNotRemembered(t *testing.T) {
	t.Parallel()
	w := newWatched(t, simulator.Config{})
	w.join("10.20.1.7")
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		return simulator.Fault{DropAnswer: r.Method == http.MethodPut}
	})
	if _, err := w.publisher.Join(t.Context(), record, "10.20.1.8"); !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Errorf("join: %v", err)
	}
	w.costs(1, time.Minute, "10.20.1.7", "10.20.1.8")
}

func TestARecordThatIsAsItShouldBeTakesOneRequest(t *testing.T) {
	t.Parallel()
	w := newWatched(t, simulator.Config{})
	w.join("10.20.1.7")
	before := len(w.region.Requests())
	w.ensure(endpoint.Members{Addresses: []string{"10.20.1.7"}, Complete: true})
	if got := len(w.region.Requests()) - before; got != 1 {
		t.Errorf("it took %d requests", got)
	}
}

func TestMachinesAreCalledWhenTheRecordLosesThem(t *testing.T) {
	t.Parallel()
	members := endpoint.Members{SystemIDs: []string{"abc123"}, Addresses: []string{"10.20.1.7", "10.20.1.8"}, Complete: true}
	edit := func(w *watched, change func(id int) error) {
		t.Helper()
		for _, resource := range w.region.Snapshot().DNSResources {
			if err := change(resource.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		happens func(w *watched)
		calls   int
	}{
		"nothing": {func(*watched) {}, 0},
		"an operator takes an address out": {func(w *watched) {
			edit(w, func(id int) error {
				_, err := w.client.UpdateDNSResource(w.Context(), id, maas.DNSResourceParams{IPAddresses: []string{"10.20.1.8"}})
				return err
			})
		}, 1},
		"the record goes": {func(w *watched) {
			edit(w, func(id int) error { return w.client.DeleteDNSResource(w.Context(), id) })
		}, 1},
		"a machine of ours leaves": {func(w *watched) {
			if _, err := w.publisher.Leave(w.Context(), record, "", "10.20.1.7"); err != nil {
				w.Fatal(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, simulator.Config{})
			w.join("10.20.1.7")
			w.join("10.20.1.8")
			w.ensure(members)
			w.rejoin(0)
			test.happens(w)
			w.ensure(members)
			w.rejoin(test.calls)
			w.ensure(members)
			w.rejoin(0)
		})
	}
}

func TestMachinesAreCalledWhenANewProcessHasToMakeTheRecordAgain(t *testing.T) {
	t.Parallel()
	w := newWatched(t, simulator.Config{})
	w.ensure(endpoint.Members{Complete: true, Unused: true})
	w.rejoin(0) // there is nobody to call yet
	if _, err := w.publisher.Remove(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	w.ensure(endpoint.Members{SystemIDs: []string{"abc123"}})
	w.rejoin(1)
}
