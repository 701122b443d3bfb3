package chaos

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maascluster"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachine"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachinetemplate"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// manager is all that one process of the provider has. Once it is killed, nothing that its code still does gets out, and the next one
// remembers nothing of it.
type manager struct {
	w      *world
	of     *management
	name   string
	ctx    context.Context
	cancel context.CancelFunc

	reconcilers map[string]reconcile.Reconciler
	machines    *maasmachine.Reconciler
	names       *checks.Names
	view        *inventory.Inventory

	queue    map[item]time.Time // when each is due
	failures map[item]int
	raised   raised
	caughtUp map[objectKey]bool
	seen     seen // in the reconcile that is under way
}

// item is an object to be reconciled.
type item struct{ kind, name string }

// kinds are what our controllers reconcile.
var kinds = []string{"MaasCluster", "MaasMachine", "MaasMachineTemplate"}

var errKilled = errors.New("the manager was killed")

func (m *manager) dead() bool { return m.ctx.Err() != nil }

// kill ends the manager; the next one leads a while later.
func (m *manager) kill(why string) {
	if m.dead() {
		return
	}
	m.cancel()
	m.w.tell(m.name, "KILLED %s", why)
	m.w.after(m.w.dice.between(0, 90*time.Second), m.of.starts)
}

// starts starts a manager for a management cluster.
func (g *management) starts() {
	w := g.w
	w.managers++
	m := &manager{
		w: w, of: g, name: g.name + "/manager-" + number(w.managers), queue: map[item]time.Time{}, failures: map[item]int{}, caughtUp: map[objectKey]bool{},
		raised: raised{items: map[item]bool{}}, seen: newSeen(item{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	clock := checks.NewClock(w.clock.Now)
	api, err := maas.New(maas.Config{Endpoint: "http://maas.example.com/MAAS", APIKey: ourKey, Now: w.clock.Now, Transport: network{m}, Observe: clock.Observe})
	w.must(err)
	user, publisher := identity.NewWithClock(api, w.clock.Now), endpoint.NewPublisher(api)
	publisher.Now, publisher.Changed = w.clock.Now, m.rejoins
	m.view, m.names = inventory.New(api, w.clock.Now), checks.NewNames(w.resolve, w.clock.Now)
	m.view.Draw = func(below time.Duration) time.Duration { return time.Duration(w.dice.Int64N(int64(below))) }
	m.view.OneByOne = true
	m.names.Changed = func(key types.NamespacedName) { m.raised.add(item{"MaasCluster", key.Name}) }
	w.must(m.view.Source().Start(m.ctx, m.raised.queue()))
	jitter := func(d time.Duration, part float64) time.Duration {
		return d + time.Duration(w.dice.Float64()*part*float64(d))
	}
	standing := checks.New(checks.Config{MAAS: api, Identity: user, Clock: clock, Now: w.clock.Now, OneByOne: true})
	objects, workloads := m.client(g.store), workloads{m}
	m.machines = &maasmachine.Reconciler{
		Client: objects, MAAS: api, Endpoint: publisher, Identity: user, ClusterCache: workloads, Recorder: recorder{m}, Now: w.clock.Now,
		Inventory: m.view, Reservations: &placement.Reservations{}, Checks: standing, Probe: w.probe, LookUp: w.resolve,
		Token: func() string { return w.dice.text(26) }, Jitter: jitter,
	}
	m.reconcilers = map[string]reconcile.Reconciler{
		"MaasMachine": m.machines,
		"MaasCluster": &maascluster.Reconciler{
			Client: objects, Endpoint: publisher, Identity: user, ClusterCache: workloads, Recorder: recorder{m}, Names: m.names, Checks: standing,
			Suffix: func() string { return w.dice.text(6) }, Mark: func() string { return w.dice.text(20) }, Jitter: jitter,
		},
		"MaasMachineTemplate": &maasmachinetemplate.Reconciler{Client: objects, Inventory: m.view, Host: api.Host(), Jitter: jitter},
	}
	g.manager = m
	w.tell(m.name, "leads")
	for _, kind := range kinds {
		for _, id := range g.store.ids(kind) {
			m.enqueue(item{kind, id.name}, w.dice.between(0, 2*time.Second))
		}
	}
	m.loop(0, m.look)
	m.loop(0, m.lookUp)
	m.loop(0, m.sweep)
}

// loop runs something for as long as the manager lives; act says how long to wait then.
func (m *manager) loop(first time.Duration, act func() time.Duration) {
	m.w.after(first, func() {
		if m.dead() {
			return
		}
		pause := act()
		m.drain()
		m.loop(pause, act)
	})
}

// look lets the shared view follow MAAS. It does so less often than in a program, for the sake of speed.
func (m *manager) look() time.Duration {
	m.seen = newSeen(item{})
	pause := m.view.Step(m.ctx)
	switch {
	case len(all[*clusterv1.Cluster](m.of.store)) == 0:
		return 2 * time.Minute
	case m.w.calm:
		return max(pause, 30*time.Second)
	}
	return max(pause, 10*time.Second)
}

func (m *manager) lookUp() time.Duration {
	m.names.Round(m.ctx)
	return beat
}

func (m *manager) sweep() time.Duration {
	m.seen = newSeen(item{})
	_ = m.machines.SweepTags(m.ctx) // what went wrong is tried again
	return 10 * time.Minute
}

// enqueue lets an object be reconciled, unless that is due sooner already.
func (m *manager) enqueue(i item, in time.Duration) {
	at := m.w.clock.Now().Add(in)
	if due, waits := m.queue[i]; waits && !due.After(at) {
		return
	}
	m.queue[i] = at
	m.w.schedule.add(at, func() {
		if due, waits := m.queue[i]; waits && due.Equal(at) && !m.dead() {
			delete(m.queue, i)
			m.reconcile(i)
		}
	})
}

// reconcile reconciles an object once.
func (m *manager) reconcile(i item) {
	m.seen = newSeen(i)
	m.w.tell(m.name, "looks at %s %s", i.kind, i.name)
	result, err := m.reconcilers[i.kind].Reconcile(m.ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: i.name}})
	m.w.reconciles++
	if m.dead() {
		return
	}
	clear(m.caughtUp)
	m.seen = newSeen(item{})
	m.w.holds()
	m.drain()
	if err != nil {
		m.w.tell(m.name, "reconcile %s %s: %v", i.kind, i.name, err)
		m.enqueue(i, min(time.Second<<min(m.failures[i], 10), 1000*time.Second))
		m.failures[i]++
		return
	}
	delete(m.failures, i)
	if result.RequeueAfter > 0 {
		m.enqueue(i, result.RequeueAfter)
	}
}

// rejoins is told that a record lost addresses.
func (m *manager) rejoins(record endpoint.Record) {
	for _, c := range m.w.clusters {
		if record.Owner == namespace+"/"+c.name {
			for _, o := range all[*infrav1.MaasMachine](m.of.store) {
				if c.has(o) {
					m.raised.add(item{"MaasMachine", o.Name})
				}
			}
		}
	}
}

// drain enqueues what was raised, always in the same order.
func (m *manager) drain() {
	for _, i := range m.raised.take() {
		m.enqueue(i, 0)
	}
}

// raised are objects that something in the process wants to be reconciled. Some of it runs on goroutines.
type raised struct {
	mu    sync.Mutex
	items map[item]bool
}

func (r *raised) add(i item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items[i] = true
}

func (r *raised) take() []item {
	r.mu.Lock()
	defer r.mu.Unlock()
	items := slices.SortedFunc(maps.Keys(r.items), func(a, b item) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	clear(r.items)
	return items
}

// queue is raised as the queue of the controller of machines.
func (r *raised) queue() workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return machineQueue{raised: r}
}

type machineQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request] // of which nothing else is used
	raised                                                  *raised
}

// Add is the one method that is used.
func (q machineQueue) Add(r reconcile.Request) { q.raised.add(item{"MaasMachine", r.Name}) }

// recorder takes events.
type recorder struct{ m *manager }

// Eventf implements client-go's EventRecorder.
func (r recorder) Eventf(about, _ runtime.Object, kind, reason, _, note string, args ...any) {
	if r.m.dead() {
		return
	}
	text := sprintf(note, args...)
	r.m.w.tell(r.m.name, "event of %s: %s %s: %s", idOf(about.(client.Object)), kind, reason, text)
	r.m.w.keepsSecrets("an event of "+idOf(about.(client.Object)).String(), text)
}
