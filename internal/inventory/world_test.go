package inventory_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const ourKey = "consumer:token:secret"

// world is a MAAS region and an inventory of it, in virtual time.
type world struct {
	*testing.T
	clock  *simulator.VirtualClock
	region *simulator.Region
	served atomic.Pointer[simulator.Region] // what answers, if MAAS is replaced
	client *maas.Client
	*inventory.Inventory
	queue priorityqueue.PriorityQueue[reconcile.Request]
}

// newWorld has three free machines, aaaaa1 to aaaaa3. Nothing was asked yet.
func newWorld(t *testing.T, change ...func(*simulator.Config)) *world {
	t.Helper()
	w := &world{T: t, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	w.region = w.newRegion(change...)
	w.served.Store(w.region)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		w.served.Load().Handler().ServeHTTP(out, in)
	}))
	t.Cleanup(server.Close)
	var err error
	if w.client, err = maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: ourKey, Now: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	w.Inventory = inventory.New(w.client, w.clock.Now)
	w.queue = priorityqueue.New[reconcile.Request](t.Name())
	t.Cleanup(w.queue.ShutDown)
	if err := w.Source().Start(t.Context(), w.queue); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) newRegion(change ...func(*simulator.Config)) *simulator.Region {
	w.Helper()
	cfg := simulator.Config{
		Clock: w.clock, PublicURL: "http://region.test/MAAS",
		Users:     []simulator.User{{Name: "capi", APIKey: ourKey, Admin: true}},
		Machines:  []simulator.Machine{{Hostname: "m1", SystemID: "aaaaa1"}, {Hostname: "m2", SystemID: "aaaaa2"}, {Hostname: "m3", SystemID: "aaaaa3"}},
		Durations: simulator.Durations{Install: 3 * time.Minute, Boot: time.Minute, PowerOn: 10 * time.Second, PowerOff: 20 * time.Second},
	}
	for _, c := range change {
		c(&cfg)
	}
	region, err := simulator.New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(region.Close)
	return region
}

// started has an inventory that knows where the event log ends.
func started(t *testing.T, change ...func(*simulator.Config)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.Step(t.Context())
	return w
}

// pass lets the inventory work for some virtual time.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); ; {
		pause := w.Step(context.Background())
		left := end.Sub(w.clock.Now())
		if pause > left {
			w.clock.Advance(left)
			return
		}
		w.clock.Advance(pause)
	}
}

// hear lets the inventory read what the event log has by now.
func (w *world) hear() {
	w.Helper()
	w.clock.Advance(5 * time.Second)
	w.Step(context.Background())
}

// read looks at a machine directly, as a reconcile does, and feeds the inventory.
func (w *world) read(systemID string) *maas.Machine {
	w.Helper()
	began := w.clock.Now()
	m, err := w.client.Machine(context.Background(), systemID)
	if err != nil {
		w.Fatal(err)
	}
	w.Learned(m, began)
	return m
}

// follow follows a machine that was just read, for an object of the same name.
func (w *world) follow(systemID string, pace inventory.Pace) {
	w.Helper()
	w.Follow(object(systemID), systemID, pace)
	w.read(systemID)
}

func object(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// raised drains the queue.
func (w *world) raised() []string {
	names := []string{}
	for w.queue.Len() > 0 {
		request, _, _ := w.queue.GetWithPriority()
		w.queue.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

func (w *world) expectRaised(want ...string) {
	w.Helper()
	if got := w.raised(); !slices.Equal(got, want) {
		w.Errorf("raised %v, want %v", got, want)
	}
}

func (w *world) expectShown(systemID string, want bool) {
	w.Helper()
	if _, ok := w.Look(systemID); ok != want {
		w.Errorf("%s is shown: %t, want %t", systemID, ok, want)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// asked lists the requests since some moment, in short: "machines?id=aaaaa1,aaaaa2".
func (w *world) asked(since time.Time) []string {
	var all []string
	for _, r := range w.served.Load().Requests() {
		if r.Time.Before(since) {
			continue
		}
		all = append(all, short(r))
	}
	return all
}

func short(r simulator.Request) string {
	text := strings.Trim(strings.TrimPrefix(r.Path, "/MAAS/api/2.0"), "/")
	separator := "?"
	for _, key := range []string{"id", "status", "storage", "interfaces", "subnets", "limit"} {
		if values := r.Query[key]; len(values) > 0 && text != "" {
			text += fmt.Sprintf("%s%s=%s", separator, key, strings.Join(values, ","))
			separator = "&"
		}
	}
	return text
}

// count counts requests that begin with a text.
func count(requests []string, prefix string) int {
	n := 0
	for _, r := range requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}
