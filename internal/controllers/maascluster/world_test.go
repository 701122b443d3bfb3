package maascluster

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// world is a management cluster with the cluster c1, a region, and a reconciler that remembers. Time is the test's.
type world struct {
	*testing.T
	client     client.Client
	request    ctrl.Request
	region     *simulator.Region
	operator   *maas.Client
	reconciler *Reconciler
	events     *events.FakeRecorder
	clock      *simulator.VirtualClock
	resolves   []string
	looked     int // up
}

func newWorld(t *testing.T, config simulator.Config) *world {
	t.Helper()
	w := &world{T: t, events: events.NewFakeRecorder(1000), clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	now := w.clock.Now
	config.Clock = w.clock
	var err error
	if w.region, err = simulator.New(config); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.region.Handler())
	t.Cleanup(func() { server.Close(); w.region.Close() })
	key := simulator.DefaultAPIKey
	if len(config.Users) > 0 {
		key = config.Users[0].APIKey
	}
	if w.operator, err = maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: key, Now: now}); err != nil {
		t.Fatal(err)
	}
	w.client, w.request = stored(t)
	user, publisher := identity.NewWithClock(w.operator, now), endpoint.NewPublisher(w.operator)
	publisher.Now = now
	w.reconciler = &Reconciler{
		Client: w.client, Endpoint: publisher, Identity: user, Recorder: w.events,
		Checks:       checks.New(checks.Config{MAAS: w.operator, Identity: user, Now: now}),
		Names:        checks.NewNames(func(context.Context, string) ([]string, error) { w.looked++; return w.resolves, nil }, now),
		ClusterCache: clustercache.NewFakeEmptyClusterCache(),
	}
	return w
}

// stored is a management cluster with a Cluster and its MaasCluster.
func stored(t *testing.T) (client.Client, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1", UID: "uid"}}
	object := &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "uid"},
		}},
		Spec: infrav1.MaasClusterSpec{DNSDomain: "maas"},
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(object, cluster).WithObjects(cluster, object).Build(),
		ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}

func (w *world) reconcile() ctrl.Result {
	w.Helper()
	result, err := w.reconciler.Reconcile(w.Context(), w.request)
	if err != nil {
		w.Fatal(err)
	}
	return result
}

// settle reconciles until the endpoint is chosen, and once more.
func (w *world) settle() {
	w.Helper()
	for range 6 {
		w.reconcile()
	}
}

func (w *world) object() *infrav1.MaasCluster {
	w.Helper()
	object := &infrav1.MaasCluster{}
	if err := w.client.Get(w.Context(), w.request.NamespacedName, object); err != nil {
		w.Fatal(err)
	}
	return object
}

// edit changes the MaasCluster as a user would.
func (w *world) edit(change func(*infrav1.MaasClusterSpec)) {
	w.Helper()
	object := w.object()
	change(&object.Spec)
	if err := w.client.Update(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

func (w *world) create(object client.Object) {
	w.Helper()
	if err := w.client.Create(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// expect checks conditions, written as type=status/reason.
func (w *world) expect(want string) {
	w.Helper()
	object := w.object()
	for _, want := range strings.Fields(want) {
		kind, state, _ := strings.Cut(want, "=")
		got := "absent"
		if c := conditions.Get(object, kind); c != nil {
			got = string(c.Status) + "/" + c.Reason
		}
		if got != state {
			w.Errorf("%s is %s, want %s: %+v", kind, got, state, conditions.Get(object, kind))
		}
	}
}

func (w *world) message(kind string) string {
	w.Helper()
	return conditions.GetMessage(w.object(), kind)
}

// told returns the events since the last time that are about something.
func (w *world) told(reason string) (told []string) {
	for {
		select {
		case e := <-w.events.Events:
			if strings.Contains(e, reason) {
				told = append(told, e)
			}
		default:
			return told
		}
	}
}

func template(name string, spec infrav1.MaasMachineSpec) *infrav1.MaasMachineTemplate {
	t := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "uid"},
	}}}
	t.Spec.Template.Spec = spec
	return t
}
