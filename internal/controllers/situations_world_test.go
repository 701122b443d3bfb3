package controllers_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

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
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The names that stand in messages, and so in the page.
const (
	namespace  = "default"
	cluster    = "prod"
	worker     = "prod-md-0"
	controller = "prod-cp-0"    // a machine of the control plane
	workers    = "prod-workers" // a template
	ourUser    = "capmaas"
	otherUser  = "alice"
	host       = "prod-abc123.maas"
	// As long as MAAS's keys are, for shorter parts are no secrets to redact.
	ourKey    = "kkkkkkkkkkkkkkkkk1:tttttttttttttttttt:sssssssssssssssssssssssssssssss1"
	secondKey = "kkkkkkkkkkkkkkkkk2:uuuuuuuuuuuuuuuuuu:sssssssssssssssssssssssssssssss2"
	userData  = "#cloud-config\npassword: not-for-anybodys-eyes\n"
)

// world is a management cluster, a workload cluster and a MAAS region, in one process and in virtual time.
type world struct {
	*testing.T
	clock    *simulator.VirtualClock
	region   *simulator.Region
	network  *network
	key      string // of MAAS, that we use
	endpoint string // where we think that MAAS is
	client   client.Client
	workload client.Client
	reached  bool          // the workload API server answers
	deaf     bool          // the management cluster's resolver does not ask MAAS's
	hosts    []string      // what it answers instead, if anything
	skew     time.Duration // of our clock
	manager  manager
	told     []event
}

// newWorld has an empty cluster of one MaasCluster, and three free machines.
func newWorld(t *testing.T, change func(*simulator.Config)) *world {
	t.Helper()
	w := &world{T: t, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), key: ourKey, endpoint: "http://maas.example.com/MAAS"}
	cfg := simulator.Config{
		Clock: w.clock, PublicURL: w.endpoint,
		Users: []simulator.User{
			{Name: ourUser, APIKey: ourKey, Admin: true}, {Name: "capmaas-2", APIKey: secondKey, Admin: true}, {Name: otherUser, APIKey: "a:b:c"},
		},
		Pools:  []simulator.Pool{{Name: "workers"}, {Name: "spare"}},
		Zones:  []simulator.Zone{{Name: "rack1"}, {Name: "rack2"}},
		Images: []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/u-2404"}},
		Machines: []simulator.Machine{
			{Hostname: "node1", SystemID: "aaaaa1", Pool: "workers", Zone: "rack1", Tags: []string{"ssd"}},
			{Hostname: "node2", SystemID: "aaaaa2", Pool: "workers", Zone: "rack1"},
			{Hostname: "node3", SystemID: "aaaaa3", Zone: "rack1"},
		},
		Durations: simulator.Durations{Install: 3 * time.Minute, Boot: time.Minute, PowerOn: 10 * time.Second, PowerOff: 20 * time.Second},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if w.region, err = simulator.New(cfg); err != nil {
		t.Fatal(err)
	}
	w.network = &network{real: w.serve(w.region)}
	scheme := runtime.NewScheme() // a small one, for the fake clients walk through all of it
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		w.must(add(scheme))
	}
	w.workload = fake.NewClientBuilder().WithScheme(scheme).Build()
	w.client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&infrav1.MaasMachine{}, &infrav1.MaasMachineTemplate{}, &infrav1.MaasCluster{}, &clusterv1.Machine{}, &clusterv1.Cluster{}).
		WithObjects(w.clusterObject(), w.maasClusterObject()).Build()
	w.starts()
	return w
}

// serve lets a region answer, and returns the way to it.
func (w *world) serve(region *simulator.Region) *http.Transport {
	handler := region.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		// Else the server would tell the real time.
		answer.Header().Set("Date", w.clock.Now().UTC().Format(http.TimeFormat))
		handler.ServeHTTP(answer, r)
	}))
	w.Cleanup(func() { server.Close(); region.Close() })
	way := wayTo(server.Listener.Addr().String())
	w.Cleanup(way.CloseIdleConnections)
	return way
}

// network leads every host name to the region, unless there is trouble.
type network struct {
	real     *http.Transport
	mu       sync.Mutex
	down     error
	stranger string // answers instead of MAAS
	detour   *http.Transport
}

// wayTo leads every host name to one address.
func wayTo(region string) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, kind, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, kind, region)
	}}
}

// RoundTrip sends a request.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	down, stranger := n.down, n.stranger
	n.mu.Unlock()
	switch {
	case down != nil:
		return nil, down
	case stranger != "":
		return http.ReadResponse(bufio.NewReader(strings.NewReader(stranger)), r)
	}
	return n.way().RoundTrip(r)
}

// way is how a request gets to the region that the manager talks to.
func (n *network) way() *http.Transport {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.detour != nil {
		return n.detour
	}
	return n.real
}

// leadsTo lets all requests go to another server; nil ends that.
func (n *network) leadsTo(detour *http.Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.detour = detour
}

// breaks lets every request fail to connect.
func (n *network) breaks() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// heals ends the trouble.
func (n *network) heals() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down, n.stranger = nil, ""
}

// event is what was told about an object.
type event struct {
	kind, object, reason, note string
	// series is by what client-go tells events apart: of those that do not differ in it, people see the first note alone.
	series string
}

// Eventf records. It is client-go's EventRecorder.
func (w *world) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) {
	object := regarding.(client.Object)
	w.told = append(w.told, event{
		kind: kind, object: object.GetName(), reason: reason, note: fmt.Sprintf(note, args...),
		series: strings.Join([]string{object.GetName(), object.GetResourceVersion(), kind, reason, action}, " "),
	})
}

// warnings are the events that tell of trouble.
func (w *world) warnings() []event {
	var all []event
	for _, e := range w.told {
		if e.kind == corev1.EventTypeWarning {
			all = append(all, e)
		}
	}
	return all
}

// api talks to MAAS as the provider would.
func (w *world) api(observe func(maas.Call)) *maas.Client {
	w.Helper()
	api, err := maas.New(maas.Config{Endpoint: w.endpoint, APIKey: w.key, Now: w.now, Transport: w.network, Observe: observe})
	w.must(err)
	return api
}

// now is what the clock of the manager's host shows.
func (w *world) now() time.Time { return w.clock.Now().Add(w.skew) }

// manager is what runs of the provider.
type manager struct {
	clusters  *maascluster.Reconciler
	machines  *maasmachine.Reconciler
	templates *maasmachinetemplate.Reconciler
	names     *checks.Names
	view      *inventory.Inventory
}

// starts starts the manager, anew if it ran. It remembers nothing then.
func (w *world) starts() {
	w.Helper()
	clock := checks.NewClock(w.now)
	api := w.api(clock.Observe)
	publisher, user := endpoint.NewPublisher(api), identity.NewWithClock(api, w.now)
	facts := checks.New(checks.Config{MAAS: api, Identity: user, Clock: clock, Now: w.now})
	names, view := checks.NewNames(w.resolve, w.now), inventory.New(api, w.now)
	w.manager = manager{
		clusters: &maascluster.Reconciler{
			Client: w.client, Endpoint: publisher, Identity: user, ClusterCache: w.workloads(), Recorder: w, Names: names,
			Checks: facts,
		},
		machines: &maasmachine.Reconciler{
			Client: w.client, MAAS: api, Endpoint: publisher, Identity: user, ClusterCache: w.workloads(), Recorder: w, Now: w.now,
			Inventory: view, Reservations: &placement.Reservations{}, Checks: facts,
			LookUp: w.resolve,
			Probe:  func(context.Context, string, int32) bool { return false },
		},
		templates: &maasmachinetemplate.Reconciler{Client: w.client, Inventory: view, Host: api.Host()},
		names:     names,
		view:      view,
	}
}

// startsWith starts the manager with another key.
func (w *world) startsWith(key string) {
	w.Helper()
	w.key = key
	w.starts()
}

// workloads is Cluster API's connection to the workload cluster.
func (w *world) workloads() clustercache.ClusterCache {
	if !w.reached {
		return clustercache.NewFakeEmptyClusterCache()
	}
	return clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: namespace, Name: cluster}, "maasmachine-watchNodes")
}

// resolve answers for MAAS's DNS, unless nobody in the management cluster asks it.
func (w *world) resolve(_ context.Context, name string) ([]string, error) {
	if len(w.hosts) > 0 {
		return w.hosts, nil
	}
	for _, record := range w.region.Snapshot().DNSResources {
		if record.FQDN == name && !w.deaf {
			return record.Addresses, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// look lets every reconciler run once, and Cluster API between them.
func (w *world) look() {
	w.Helper()
	w.manager.clusters.ClusterCache, w.manager.machines.ClusterCache = w.workloads(), w.workloads()
	run := func(reconcile func(context.Context, ctrl.Request) (ctrl.Result, error), name string) {
		_, err := reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
		if err != nil {
			w.Fatalf("reconcile %s: %v", name, err)
		}
	}
	w.manager.view.Step(context.Background())
	run(w.manager.clusters.Reconcile, cluster)
	w.clusterAPI()
	list := &infrav1.MaasMachineList{}
	w.must(w.client.List(context.Background(), list))
	for i := range list.Items {
		run(w.manager.machines.Reconcile, list.Items[i].Name)
	}
	run(w.manager.templates.Reconcile, workers)
	w.manager.names.Round(context.Background())
}

// pass lets time pass, with a look at least every half minute.
func (w *world) pass(d time.Duration) {
	w.Helper()
	const often = 30 * time.Second
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
		w.look()
		w.clock.Advance(min(often, end.Sub(w.clock.Now())))
	}
	w.look()
}

// until lets time pass until something is so.
func (w *world) until(done func() bool) {
	w.Helper()
	for range 100 {
		if done() {
			return
		}
		w.look()
		w.clock.Advance(10 * time.Second)
	}
	w.Fatalf("it did not come to that:%s", w.story())
}

// story is what all conditions say, for failures.
func (w *world) story() string {
	text := &strings.Builder{}
	for _, name := range objects() {
		for _, c := range w.conditions(name) {
			fmt.Fprintf(text, "\n  %s %s=%s %s: %s", name, c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, e := range w.told {
		fmt.Fprintf(text, "\n  event %s %s %s: %s", e.object, e.kind, e.reason, e.note)
	}
	return text.String()
}

// objects are all whose conditions count.
func objects() []string { return []string{cluster, workers, controller, worker} }
