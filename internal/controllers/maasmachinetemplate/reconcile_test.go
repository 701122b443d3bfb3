package maasmachinetemplate

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// fleet has a small and a large machine in the default pool, one in the pool gpu that is taken, one that is not commissioned, and one that
// is retired.
func fleet() []simulator.Machine {
	deployed, fresh, retired := simulator.StatusDeployed, simulator.StatusNew, simulator.StatusRetired
	return []simulator.Machine{
		{Hostname: "small", Cores: 4, MemoryMiB: 32768, DiskGB: 200, Tags: []string{"ssd"}},
		{Hostname: "large", Cores: 64, MemoryMiB: 16384, DiskGB: 100},
		{Hostname: "gpu", Pool: "gpu", Cores: 32, MemoryMiB: 262144, DiskGB: 1000, Status: &deployed, Tags: []string{"gpu"}},
		{Hostname: "fresh", Cores: 1, MemoryMiB: 512, DiskGB: 10, Status: &fresh, NeverCommissioned: true, Tags: []string{"unknown"}},
		{Hostname: "retired", Cores: 1, MemoryMiB: 1024, DiskGB: 10, Status: &retired},
		{Hostname: "arm", Architecture: "arm64/generic", Cores: 2, MemoryMiB: 2048, DiskGB: 20, Tags: []string{"arm"}},
		{Hostname: "power", Architecture: "ppc64el/generic", Cores: 160, MemoryMiB: 524288, DiskGB: 900, Tags: []string{"power"}},
	}
}

// The texts are those that the cluster autoscaler parses.
func TestWhatTheAutoscalerReads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec                 infrav1.MaasMachineSpec
		cpu, memory, storage string
		architecture         string
		asks                 int // how often MAAS is asked
	}{
		"a spec that says everything needs no MAAS": {
			spec: infrav1.MaasMachineSpec{MinCPU: 8, MinMemory: 16384, MinDiskSize: 120, Architecture: "amd64/generic"},
			cpu:  "8", memory: "16Gi", storage: "120G", architecture: "amd64",
		},
		"in memory there is no disk to know of": {
			spec: infrav1.MaasMachineSpec{MinCPU: 8, MinMemory: 16384, Architecture: "amd64", DeployInMemory: true, MinDiskSize: 3},
			cpu:  "8", memory: "16Gi", architecture: "amd64",
		},
		"the least of each of the machines that fit": {
			spec: infrav1.MaasMachineSpec{Architecture: "amd64", ResourcePool: "default"},
			cpu:  "4", memory: "16Gi", storage: "100G", architecture: "amd64", asks: 1,
		},
		"what is asked for goes before what is found": {
			spec: infrav1.MaasMachineSpec{Architecture: "amd64", ResourcePool: "default", MinCPU: 2, MinMemory: 1000},
			cpu:  "2", memory: "1000Mi", storage: "100G", architecture: "amd64", asks: 1,
		},
		"what is asked for narrows what is found": {
			spec: infrav1.MaasMachineSpec{Architecture: "amd64", ResourcePool: "default", MinDiskSize: 150},
			cpu:  "4", memory: "32Gi", storage: "150G", architecture: "amd64", asks: 1,
		},
		"machines that others have count": {
			spec: infrav1.MaasMachineSpec{ResourcePool: "gpu"},
			cpu:  "32", memory: "256Gi", storage: "1T", architecture: "amd64", asks: 1,
		},
		"tags are obeyed, and the architecture is found": {
			spec: infrav1.MaasMachineSpec{Tags: []string{"arm"}},
			cpu:  "2", memory: "2Gi", storage: "20G", architecture: "arm64", asks: 1,
		},
		"MAAS's name of an architecture is not Kubernetes'": {
			spec: infrav1.MaasMachineSpec{Tags: []string{"power"}},
			cpu:  "160", memory: "512Gi", storage: "900G", architecture: "ppc64le", asks: 1,
		},
		"several architectures are none": {
			spec: infrav1.MaasMachineSpec{NotTags: []string{"power", "gpu"}},
			cpu:  "2", memory: "2Gi", storage: "20G", asks: 1,
		},
		"where nothing fits there is what is asked for": {
			spec: infrav1.MaasMachineSpec{MinCPU: 6, MinMemory: 1024, Tags: []string{"nowhere"}},
			cpu:  "6", memory: "1Gi", asks: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fleet(), template(test.spec))
			w.reconcile()
			capacity, nodeInfo := offered(t, w.get())
			want := map[string]string{"cpu": test.cpu, "memory": test.memory, "ephemeral-storage": test.storage}
			maps.DeleteFunc(want, func(_, v string) bool { return v == "" })
			if !maps.Equal(capacity, want) {
				t.Errorf("capacity is %v, want %v", capacity, want)
			}
			info := map[string]string{"operatingSystem": "linux", "architecture": test.architecture}
			maps.DeleteFunc(info, func(_, v string) bool { return v == "" })
			if !maps.Equal(nodeInfo, info) {
				t.Errorf("nodeInfo is %v, want %v", nodeInfo, info)
			}
			if w.asked() != test.asks {
				t.Errorf("MAAS was asked %d times, want %d", w.asked(), test.asks)
			}
		})
	}
}

func TestTheConditionSaysWhyCapacityIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		machines     []simulator.Machine
		spec         infrav1.MaasMachineSpec
		status       metav1.ConditionStatus
		reason, says string
	}{
		"known": {fleet(), infrav1.MaasMachineSpec{Tags: []string{"arm"}}, metav1.ConditionTrue, infrav1.CapacityKnownReason, ""},
		"nothing fits": {fleet(), infrav1.MaasMachineSpec{ResourcePool: "gpu", MinCPU: 64}, metav1.ConditionFalse, infrav1.NoSuitableMachineReason,
			`no machine in MAAS maas.test fits: 1 in pool "gpu", this one does not have 64 cores or more (spec.minCPU): add larger machines, or ask for less in a new MaasMachineTemplate`},
		"MAAS is empty": {nil, infrav1.MaasMachineSpec{}, metav1.ConditionFalse, infrav1.NoSuitableMachineReason,
			"no machine in MAAS maas.test fits: MAAS shows the API key's user no machine that was commissioned: commission machines in MAAS, or give that user access to them"},
		"several architectures": {fleet(), infrav1.MaasMachineSpec{}, metav1.ConditionFalse, infrav1.ArchitectureUnknownReason,
			"machines of the architectures amd64, arm64 and ppc64el in MAAS maas.test fit, so the autoscaler assumes amd64: set spec.template.spec.architecture in a new MaasMachineTemplate"},
		"an architecture without a name": {[]simulator.Machine{{Hostname: "old", Architecture: "i386/generic"}}, infrav1.MaasMachineSpec{},
			metav1.ConditionFalse, infrav1.ArchitectureUnknownReason,
			"the machines in MAAS maas.test that fit are of architecture i386, for which Cluster API has no name: set another in spec.template.spec.architecture of a new MaasMachineTemplate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.machines, template(test.spec))
			w.reconcile()
			c := conditions.Get(w.get(), infrav1.TemplateCapacityKnownCondition)
			if c == nil || c.Status != test.status || c.Reason != test.reason || c.Message != test.says {
				t.Errorf("the condition is %+v", c)
			}
		})
	}
}

func TestTheConditionNamesWhatIsWrongWithMAAS(t *testing.T) {
	t.Parallel()
	for reason, fault := range map[string]simulator.Fault{
		infrav1.MAASUnreachableReason:    {Status: http.StatusServiceUnavailable, Body: "no"},
		infrav1.MAASKeyRefusedReason:     {Status: http.StatusUnauthorized, Body: "Authorization Error: Invalid API key."},
		infrav1.MAASKeyLacksRightsReason: {Status: http.StatusForbidden, Body: "User is not allowed access to this API."},
		infrav1.NotMAASReason:            {Status: http.StatusOK, ContentType: "text/html", Body: "<html>welcome</html>"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fleet(), template(infrav1.MaasMachineSpec{MinCPU: 4}))
			w.region.SetIntercept(func(simulator.Request) simulator.Fault { return fault })
			w.reconcile()
			object := w.get()
			c := conditions.Get(object, infrav1.TemplateCapacityKnownCondition)
			if c == nil || c.Status != metav1.ConditionUnknown || c.Reason != reason {
				t.Errorf("the condition is %+v", c)
			}
			if capacity, _ := offered(t, object); capacity["cpu"] != "4" {
				t.Errorf("capacity is %v, and not what the spec says", capacity)
			}
		})
	}
}

// away makes MAAS answer nothing, or everything again.
func (w *world) away(is bool) {
	w.region.SetIntercept(func(simulator.Request) simulator.Fault {
		if is {
			return simulator.Fault{Status: http.StatusServiceUnavailable, Body: "no"}
		}
		return simulator.Fault{}
	})
}

func TestWhatWasFoundStaysWhileMAASIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fleet(), template(infrav1.MaasMachineSpec{Tags: []string{"arm"}}))
	w.away(true)
	if again := w.reconcile().RequeueAfter; again <= 0 || again > 6*time.Minute {
		t.Errorf("the next look at a MAAS that is away is in %v", again)
	}
	object := w.get()
	c := conditions.Get(object, infrav1.TemplateCapacityKnownCondition)
	if c == nil || c.Status != metav1.ConditionUnknown || c.Reason != infrav1.MAASUnreachableReason || !strings.HasPrefix(c.Message, "MAAS maas.test is not available (") {
		t.Errorf("the condition is %+v", c)
	}
	if len(object.Status.Capacity) > 0 {
		t.Errorf("capacity is %v before anything was found", object.Status.Capacity)
	}

	w.away(false)
	w.clock.Advance(5 * time.Minute)
	if again := w.reconcile().RequeueAfter; again < 50*time.Minute || again > 70*time.Minute {
		t.Errorf("the next look is in %v, want about an hour", again)
	}
	before := w.get()
	if capacity, _ := offered(t, before); capacity["cpu"] != "2" {
		t.Fatalf("capacity is %v", capacity)
	}

	w.away(true)
	w.clock.Advance(2 * time.Hour)
	w.reconcile()
	if after := w.get(); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the status was written anew: %+v", after.Status)
	}

	// What was found for another spec is worth nothing.
	before.Spec.Template.Spec.Tags, before.Spec.Template.Spec.MinCPU, before.Generation = []string{"gpu"}, 16, 2
	if err := w.client.Update(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	w.reconcile()
	if capacity, _ := offered(t, w.get()); !maps.Equal(capacity, map[string]string{"cpu": "16"}) {
		t.Errorf("capacity is %v, want only what the new spec says", capacity)
	}
}

func TestMAASIsAskedOnceAnHourAndNothingIsWrittenAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fleet(), template(infrav1.MaasMachineSpec{Tags: []string{"arm"}}))
	w.reconcile()
	before := w.get().ResourceVersion
	for range 5 {
		w.clock.Advance(10 * time.Minute)
		w.reconcile()
	}
	if w.asked() != 1 {
		t.Errorf("MAAS was asked %d times within an hour", w.asked())
	}
	w.clock.Advance(time.Hour)
	w.reconcile()
	if w.asked() != 2 {
		t.Errorf("MAAS was asked %d times after an hour", w.asked())
	}
	if w.get().ResourceVersion != before {
		t.Error("what is equal was written anew")
	}
}

func TestAPausedTemplateIsLeftAlone(t *testing.T) {
	t.Parallel()
	yes := true
	cluster := func() *clusterv1.Cluster {
		return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c1", UID: "c1"}, Spec: clusterv1.ClusterSpec{Paused: &yes}}
	}
	for name, change := range map[string]func(*infrav1.MaasMachineTemplate){
		"by its owner": func(t *infrav1.MaasMachineTemplate) {
			t.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "c1"}}
		},
		"by the Cluster of its label": func(t *infrav1.MaasMachineTemplate) {
			t.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
		},
		"by itself": func(t *infrav1.MaasMachineTemplate) {
			t.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := template(infrav1.MaasMachineSpec{Tags: []string{"arm"}})
			change(object)
			w := newWorld(t, fleet(), object, cluster())
			w.reconcile()
			got := w.get()
			if len(got.Status.Capacity) > 0 || w.asked() > 0 || !conditions.IsTrue(got, clusterv1.PausedCondition) {
				t.Errorf("it was worked on: %+v", got.Status)
			}
			requests := w.clusterToTemplates(t.Context(), cluster())
			if ofCluster := name != "by itself"; ofCluster != (len(requests) == 1) {
				t.Errorf("the Cluster raises %v", requests)
			}
		})
	}
}

func TestATemplateWithoutItsClusterIsWorkedOn(t *testing.T) {
	t.Parallel()
	object := template(infrav1.MaasMachineSpec{Tags: []string{"arm"}})
	object.Labels = map[string]string{clusterv1.ClusterNameLabel: "gone"}
	w := newWorld(t, fleet(), object)
	w.reconcile()
	if len(w.get().Status.Capacity) == 0 {
		t.Error("nothing was found")
	}
}

func TestATemplateThatIsDeletedIsLeftAlone(t *testing.T) {
	t.Parallel()
	object := template(infrav1.MaasMachineSpec{Tags: []string{"arm"}})
	object.Finalizers = []string{"example.com/held"}
	w := newWorld(t, fleet(), object)
	if err := w.client.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if result := w.reconcile(); result != (ctrl.Result{}) || len(w.get().Status.Conditions) > 0 || w.asked() > 0 {
		t.Errorf("it was worked on: %+v", w.get().Status)
	}
	if err := w.client.Patch(t.Context(), w.get(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	w.reconcile() // of an object that is gone
}
