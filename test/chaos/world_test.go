package chaos

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// world is all that a seed makes.
type world struct {
	t        testing.TB
	dice     dice
	plan     plan
	clock    *simulator.VirtualClock
	schedule schedule
	story    story
	broken   []string

	region  *simulator.Region
	handler http.Handler
	scheme  *runtime.Scheme
	// machines are the system IDs of all that there ever were, and strangers those of others, as they have to stay.
	machines  []string
	strangers map[string]simulator.MachineSnapshot
	begin     map[string]simulator.MachineSnapshot // as they were
	tenants   map[string]*tenant
	exchange  *exchange // the request on its way

	managements []*management
	clusters    []*cluster
	managers    int
	reconciles  int
	uids        int

	weather weather
	calm    bool
	busy    bool // somebody does something meanwhile
	old     *simulator.View
	// spoilt are machines that an operator took, marked or deleted, and lateAllocations those that a late request got.
	spoilt          map[string]string
	lateAllocations map[string]bool
	landedInDNS     bool // a late request changed a DNS record
}

// management is a management cluster.
type management struct {
	w       *world
	name    string
	store   *store
	manager *manager
	lag     time.Duration // of its manager's caches
}

func newWorld(t testing.TB, seed uint64) *world {
	d := newDice(seed)
	w := &world{
		t: t, dice: d, plan: drawPlan(d), clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		strangers: map[string]simulator.MachineSnapshot{}, begin: map[string]simulator.MachineSnapshot{}, tenants: map[string]*tenant{},
		spoilt: map[string]string{}, lateAllocations: map[string]bool{},
	}
	w.clock.MoveWithRequests(true)
	w.tell("seed", "%d: %+v", seed, w.plan)
	var err error
	w.scheme, err = newScheme()
	w.must(err)
	w.region, err = simulator.New(w.plan.region(seed, w.clock, d))
	w.must(err)
	w.handler = w.region.Handler()
	w.must(w.region.SetOwner("sssss1", otherUser))
	w.must(w.region.SetOwner("sssss2", ourUser))
	for _, m := range w.region.Snapshot().Machines {
		w.machines = append(w.machines, m.SystemID)
		w.begin[m.SystemID] = m
	}
	for _, id := range []string{"sssss1", "sssss2"} {
		w.strangers[id] = w.begin[id]
	}
	w.region.AddIntercept(w.intercepts)
	w.region.AddHardware(w.trouble)
	names := []string{"a"}
	if w.plan.moves {
		names = append(names, "b")
	}
	for _, name := range names {
		g := &management{w: w, name: name, store: w.newStore(name)}
		g.store.changed = g.watches
		w.managements = append(w.managements, g)
	}
	for n, p := range w.plan.clusters {
		c := &cluster{
			w: w, plan: p, name: "c" + number(n+1), of: w.managements[0],
			wanted: map[role]int{controlPlane: p.controlPlanes, worker: p.workers}, generation: map[role]int{}, ill: map[string]time.Time{}, drained: map[string]time.Time{},
		}
		c.workload = w.newStore("workload " + c.name)
		c.workload.changed = func(objectKey, client.Object, client.Object) { c.of.raisesMachines(c) }
		w.clusters = append(w.clusters, c)
	}
	return w
}

// close ends a world.
func (w *world) close() {
	for _, g := range w.managements {
		if g.manager != nil {
			g.manager.cancel()
		}
	}
	w.region.Close()
}

func (w *world) isStranger(systemID string) bool {
	_, is := w.strangers[systemID]
	return is
}

// record is what a name resolves to.
func (w *world) record(host string) []string {
	var addresses []string
	for _, r := range w.region.Snapshot().DNSResources {
		if r.FQDN != host {
			continue
		}
		for _, address := range r.Addresses {
			if address != "" {
				addresses = append(addresses, address)
			}
		}
	}
	return addresses
}

func (w *world) clusterOfHost(host string) *cluster {
	for _, c := range w.clusters {
		if c.host() == host {
			return c
		}
	}
	return nil
}

// resolve answers for MAAS's DNS.
func (w *world) resolve(_ context.Context, name string) ([]string, error) {
	if addresses := w.record(name); len(addresses) > 0 {
		return addresses, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (w *world) must(err error) {
	if err != nil {
		w.t.Fatalf("the world does not work: %v\n  %s", err, w.story.last(20))
	}
}

func same(a, b simulator.MachineSnapshot) bool {
	a.StatusMessage, b.StatusMessage = "", ""
	return reflect.DeepEqual(a, b)
}

func number(n int) string                       { return strconv.Itoa(n) }
func uid(n int) types.UID                       { return types.UID("uid-" + number(n)) }
func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
func labelsOf(o metav1.Object) labels.Set       { return o.GetLabels() }

func cond(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}
