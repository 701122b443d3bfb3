package maascluster

import (
	"context"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
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

func TestAManagerThatEndsSaysNothingOfMAAS(t *testing.T) {
	t.Parallel()
	region, err := simulator.New(simulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(region.Handler())
	t.Cleanup(func() { server.Close(); region.Close() })
	client, request := stored(t)
	reconcile := func(ctx context.Context) *infrav1.MaasCluster {
		t.Helper()
		// A new reconciler each time, which remembers nothing.
		if _, err := newReconciler(t, client, server.URL+"/MAAS").Reconcile(ctx, request); err != nil {
			t.Fatal(err)
		}
		object := &infrav1.MaasCluster{}
		if err := client.Get(t.Context(), request.NamespacedName, object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	before := reconcile(t.Context())
	for range 10 {
		if conditions.IsTrue(before, infrav1.ClusterReadyCondition) {
			break
		}
		before = reconcile(t.Context())
	}
	if !conditions.IsTrue(before, infrav1.ClusterReadyCondition) {
		t.Fatalf("the cluster does not become ready: %+v", before.Status.Conditions)
	}
	ctx, end := context.WithCancel(t.Context())
	region.SetIntercept(func(simulator.Request) simulator.Fault {
		end()
		return simulator.Fault{DropAnswer: true}
	})
	after := reconcile(ctx)
	if ctx.Err() == nil {
		t.Fatal("MAAS was not asked")
	}
	if !equality.Semantic.DeepEqual(before.Status, after.Status) {
		t.Errorf("the status changed: %+v", after.Status.Conditions)
	}
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

func newReconciler(t *testing.T, c client.Client, url string) *Reconciler {
	t.Helper()
	api, err := maas.New(maas.Config{Endpoint: url, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	user := identity.New(api)
	return &Reconciler{
		Client: c, Endpoint: endpoint.NewPublisher(api), Identity: user, Recorder: events.NewFakeRecorder(100),
		Checks: checks.New(checks.Config{MAAS: api, Identity: user}), Names: checks.NewNames(nil, nil),
		ClusterCache: clustercache.NewFakeEmptyClusterCache(),
	}
}
