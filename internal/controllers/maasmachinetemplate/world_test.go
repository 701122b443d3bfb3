package maasmachinetemplate

import (
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	namespace = "default"
	name      = "workers"
)

// world is a management cluster with one template and a MAAS region, in one process and in virtual time.
type world struct {
	*testing.T
	clock  *simulator.VirtualClock
	region *simulator.Region
	client client.Client
	*Reconciler
}

func newWorld(t *testing.T, machines []simulator.Machine, objects ...client.Object) *world {
	t.Helper()
	w := &world{T: t, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	var err error
	w.region, err = simulator.New(simulator.Config{
		Clock: w.clock, PublicURL: "http://region.test/MAAS", Pools: []simulator.Pool{{Name: "gpu"}}, Machines: machines,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.region.Handler())
	t.Cleanup(func() { server.Close(); w.region.Close() })
	maasClient, err := maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: simulator.DefaultAPIKey, Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w.client = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&infrav1.MaasMachineTemplate{}).WithObjects(objects...).Build()
	w.Reconciler = &Reconciler{Client: w.client, Inventory: inventory.New(maasClient, w.clock.Now), Host: "maas.test"}
	return w
}

// template makes a template whose machines have a spec.
func template(spec infrav1.MaasMachineSpec) *infrav1.MaasMachineTemplate {
	spec.Image = "ubuntu/jammy"
	return &infrav1.MaasMachineTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1},
		Spec:       infrav1.MaasMachineTemplateSpec{Template: infrav1.MaasMachineTemplateResource{Spec: spec}},
	}
}

// reconcile runs until nothing asks for more at once, which setting Paused does.
func (w *world) reconcile() ctrl.Result {
	w.Helper()
	var result ctrl.Result
	for range 2 {
		var err error
		if result, err = w.Reconcile(w.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}); err != nil {
			w.Fatal(err)
		}
	}
	return result
}

func (w *world) get() *infrav1.MaasMachineTemplate {
	w.Helper()
	object := &infrav1.MaasMachineTemplate{}
	if err := w.client.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		w.Fatal(err)
	}
	return object
}

// asked is how often the region was asked for machines.
func (w *world) asked() int {
	n := 0
	for _, r := range w.region.Requests() {
		if r.Path == "/MAAS/api/2.0/machines/" {
			n++
		}
	}
	return n
}

// offered reads a template as the cluster autoscaler does: as text under paths, whatever the type.
func offered(t *testing.T, object runtime.Object) (capacity, nodeInfo map[string]string) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	if capacity, _, err = unstructured.NestedStringMap(content, "status", "capacity"); err != nil {
		t.Fatal(err)
	}
	if nodeInfo, _, err = unstructured.NestedStringMap(content, "status", "nodeInfo"); err != nil {
		t.Fatal(err)
	}
	return capacity, nodeInfo
}
