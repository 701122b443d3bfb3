package maasmachine

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	ourUser   = "capi"
	otherUser = "bob"
	ourKey    = "consumer:token:secret"
	userData  = "#cloud-config\n{}\n"
)

// world is a management cluster, a workload cluster and a MAAS region, in one process and in virtual time.
type world struct {
	*testing.T
	clock    *simulator.VirtualClock
	region   *simulator.Region
	maas     *maas.Client
	client   client.Client
	workload client.Client
	events   *events.FakeRecorder
	probed   func(address string) bool
	resolved func() []string // what the control plane's name leads to; nil is what MAAS has
	// inventory and publisher are shared by all reconcilers; nil gives each one of its own, which remembers nothing.
	inventory *inventory.Inventory
	publisher *endpoint.Publisher
	steps     int // that a reconcile takes before it is killed; 0 for all
	// kept is the one reconciler that there is, with what it remembers; nil makes a new one for each reconcile.
	kept *Reconciler
}

// newWorld has a cluster c1 whose infrastructure is provisioned, and three free machines.
func newWorld(t *testing.T, change ...func(*simulator.Config)) *world {
	t.Helper()
	w := &world{T: t, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), events: events.NewFakeRecorder(1000)}
	cfg := simulator.Config{
		Clock: w.clock, PublicURL: "http://region.test/MAAS",
		Users:     []simulator.User{{Name: ourUser, APIKey: ourKey, Admin: true}, {Name: otherUser, APIKey: "a:b:c"}},
		Images:    []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/u-2404"}},
		Machines:  []simulator.Machine{{Hostname: "m1", SystemID: "aaaaa1"}, {Hostname: "m2", SystemID: "aaaaa2"}, {Hostname: "m3", SystemID: "aaaaa3"}},
		Durations: simulator.Durations{Install: 3 * time.Minute, Boot: time.Minute, PowerOn: 10 * time.Second, PowerOff: 20 * time.Second},
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if w.region, err = simulator.New(cfg); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.region.Handler())
	t.Cleanup(func() { server.Close(); w.region.Close() })
	if w.maas, err = maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: ourKey, Now: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w.workload = fake.NewClientBuilder().WithScheme(s).Build()
	w.client = fake.NewClientBuilder().WithScheme(s).
		WithStatusSubresource(&infrav1.MaasMachine{}, &infrav1.MaasCluster{}, &clusterv1.Machine{}, &clusterv1.Cluster{}).
		WithObjects(w.cluster(), w.maasCluster()).Build()
	return w
}

func (w *world) cluster() *clusterv1.Cluster {
	yes := true
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: "c1",
		}},
		Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes}},
	}
}

func (w *world) maasCluster() *infrav1.MaasCluster {
	return &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1", Annotations: map[string]string{infrav1.EndpointMarkAnnotation: "mark"}},
		Spec: infrav1.MaasClusterSpec{
			DNSDomain: "maas", ControlPlaneEndpointKind: infrav1.EndpointMaasDNS,
			ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "c1-abc.maas", Port: 6443},
		},
	}
}

// add makes a Machine, its bootstrap data and its MaasMachine, all of one name.
func (w *world) add(name string, controlPlane bool, change ...func(*infrav1.MaasMachine)) {
	w.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: "c1"}
	if controlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	secret := name + "-bootstrap"
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, UID: "uid"},
		Spec: clusterv1.MachineSpec{
			ClusterName: "c1", Bootstrap: clusterv1.Bootstrap{DataSecretName: &secret},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "MaasMachine", Name: name},
		},
	}
	object := &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: name, UID: "uid"},
		}},
		Spec: infrav1.MaasMachineSpec{Image: "u-2404", MinCPU: 2},
	}
	for _, c := range change {
		c(object)
	}
	data := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: secret}, Data: map[string][]byte{
		"value": []byte(userData), "format": []byte("cloud-config"),
	}}
	for _, o := range []client.Object{machine, data, object} {
		if err := w.client.Create(context.Background(), o); err != nil {
			w.Fatal(err)
		}
	}
}

// reconciler is a new one each time: nothing may depend on what one remembers.
func (w *world) reconciler() *Reconciler {
	if w.kept != nil {
		return w.kept
	}
	machines, publisher := w.inventory, w.publisher
	if machines == nil {
		machines = inventory.New(w.maas, w.clock.Now)
	}
	if publisher == nil {
		publisher = endpoint.NewPublisher(w.maas)
	}
	return &Reconciler{
		Client: w.client, MAAS: w.maas, Endpoint: publisher, Identity: identity.New(w.maas),
		ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c1"}, "maasmachine-watchNodes"),
		Inventory:    machines, Reservations: &placement.Reservations{},
		Recorder: w.events, Now: w.clock.Now, maxSteps: w.steps,
		LookUp: func(context.Context, string) ([]string, error) {
			if w.resolved != nil {
				return w.resolved(), nil
			}
			return w.record(), nil
		},
		Probe: func(_ context.Context, address string, _ int32) bool { return w.probed != nil && w.probed(address) },
	}
}

// reconcile runs once. An error of the reconcile is the test's.
func (w *world) reconcile(name string) ctrl.Result {
	w.Helper()
	result, err := w.reconciler().Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}})
	if err != nil {
		w.Fatalf("reconcile %s: %v", name, err)
	}
	return result
}

// until reconciles, letting the time pass that each reconcile asks for, until done.
func (w *world) until(name string, done func() bool) {
	w.Helper()
	for range 400 {
		if done() {
			return
		}
		result := w.reconcile(name)
		w.clock.Advance(max(result.RequeueAfter, time.Second))
	}
	w.Fatalf("%s did not get there: %s", name, w.story(name))
}

// pass reconciles for some virtual time.
func (w *world) pass(name string, d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
		result := w.reconcile(name)
		w.clock.Advance(max(result.RequeueAfter, time.Second))
	}
}

func (w *world) get(name string) *infrav1.MaasMachine {
	w.Helper()
	m := &infrav1.MaasMachine{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, m); err != nil {
		w.Fatalf("get %s: %v", name, err)
	}
	return m
}

func (w *world) exists(name string) bool {
	err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &infrav1.MaasMachine{})
	return !apierrors.IsNotFound(err)
}

// edit changes a MaasMachine as a user would.
func (w *world) edit(name string, change func(*infrav1.MaasMachine)) {
	w.Helper()
	m := w.get(name)
	change(m)
	if err := w.client.Update(context.Background(), m); err != nil {
		w.Fatal(err)
	}
}

func (w *world) editCluster(change func(*clusterv1.Cluster)) {
	w.Helper()
	c := &clusterv1.Cluster{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "c1"}, c); err != nil {
		w.Fatal(err)
	}
	change(c)
	if err := w.client.Status().Update(context.Background(), c); err != nil {
		w.Fatal(err)
	}
}

// delete deletes objects of the name as Cluster API does: the Machine first, which a finalizer of its own holds.
func (w *world) delete(name string) {
	w.Helper()
	w.deleteOwner(name)
	w.deleteOnly(name)
}

func (w *world) deleteOnly(name string) {
	w.Helper()
	if err := w.client.Delete(context.Background(), w.get(name)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) deleteOwner(name string) {
	w.Helper()
	machine := &clusterv1.Machine{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, machine); err != nil {
		w.Fatal(err)
	}
	machine.Finalizers = []string{clusterv1.MachineFinalizer}
	if err := w.client.Update(context.Background(), machine); err != nil {
		w.Fatal(err)
	}
	if err := w.client.Delete(context.Background(), machine); err != nil {
		w.Fatal(err)
	}
}

func (w *world) provisioned(name string) func() bool {
	return func() bool {
		p := w.get(name).Status.Initialization.Provisioned
		return p != nil && *p
	}
}

func (w *world) goneFrom(name string) func() bool { return func() bool { return !w.exists(name) } }

// inMAAS finds a machine in the region.
func (w *world) inMAAS(systemID string) simulator.MachineSnapshot {
	w.Helper()
	for _, m := range w.region.Snapshot().Machines {
		if m.SystemID == systemID {
			return m
		}
	}
	w.Fatalf("no machine %q in MAAS", systemID)
	return simulator.MachineSnapshot{}
}

// owned lists the machines that are our user's.
func (w *world) owned() []string {
	var ids []string
	for _, m := range w.region.Snapshot().Machines {
		if m.Owner == ourUser {
			ids = append(ids, m.SystemID)
		}
	}
	return ids
}

// calls counts the requests of an operation that reached the region.
func (w *world) calls(op string) int {
	n := 0
	for _, r := range w.region.Requests() {
		if r.Op == op && r.Method == "POST" {
			n++
		}
	}
	return n
}

// record is what the control plane's name resolves to.
func (w *world) record() []string {
	for _, r := range w.region.Snapshot().DNSResources {
		if r.FQDN == "c1-abc.maas" {
			return r.Addresses
		}
	}
	return nil
}

// story is what the conditions say, for failures.
func (w *world) story(name string) string {
	text := ""
	for _, c := range w.get(name).Status.Conditions {
		text += fmt.Sprintf("\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return text
}

// expect checks a condition's status and reason.
func (w *world) expect(name, condition string, status metav1.ConditionStatus, reason string) {
	w.Helper()
	c := conditions.Get(w.get(name), condition)
	if c == nil || c.Status != status || c.Reason != reason {
		w.Errorf("%s of %s: want %s %s, got %s", condition, name, status, reason, w.story(name))
	}
}

// told drains the events.
func (w *world) told() []string {
	var all []string
	for {
		select {
		case e := <-w.events.Events:
			all = append(all, e)
		default:
			slices.Sort(all)
			return all
		}
	}
}

func ptr[T any](v T) *T { return &v }
