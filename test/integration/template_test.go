package integration

import (
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachinetemplate"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func twoSizes() simulator.Config {
	return simulator.Config{Machines: []simulator.Machine{
		{Hostname: "small", Cores: 8, MemoryMiB: 32768, DiskGB: 200},
		{Hostname: "large", Cores: 64, MemoryMiB: 262144, DiskGB: 2000, Tags: []string{"big"}},
	}}
}

// createTemplate makes a template that a Cluster owns, as Cluster API has it.
func (l *lab) createTemplate(name string, spec infrav1.MaasMachineSpec) {
	l.Helper()
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(l.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	spec.Image = "custom/kube"
	l.Expect(l.Create(l.Context(), &infrav1.MaasMachineTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID},
		}},
		Spec: infrav1.MaasMachineTemplateSpec{Template: infrav1.MaasMachineTemplateResource{Spec: spec}},
	})).To(gomega.Succeed())
}

// offered reads what a template offers as the cluster autoscaler does, which knows nothing of our types.
func (l *lab) offered(name string) (capacity, nodeInfo map[string]string) {
	l.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(infrav1.GroupVersion.WithKind("MaasMachineTemplate"))
	l.Expect(l.Get(l.Context(), l.key(name), object)).To(gomega.Succeed())
	capacity, _, err := unstructured.NestedStringMap(object.Object, "status", "capacity")
	l.Expect(err).NotTo(gomega.HaveOccurred())
	nodeInfo, _, err = unstructured.NestedStringMap(object.Object, "status", "nodeInfo")
	l.Expect(err).NotTo(gomega.HaveOccurred())
	return capacity, nodeInfo
}

func (l *lab) template(name string) *infrav1.MaasMachineTemplate {
	l.Helper()
	object := &infrav1.MaasMachineTemplate{}
	l.Expect(l.Get(l.Context(), l.key(name), object)).To(gomega.Succeed())
	return object
}

func TestTemplatesSayWhatTheirNodesOffer(t *testing.T) {
	l := newLab(t, twoSizes())
	pause := true
	l.createCluster(func(cluster *clusterv1.Cluster, _ *infrav1.MaasCluster) { cluster.Spec.Paused = &pause })
	l.startManager()
	l.createTemplate("open", infrav1.MaasMachineSpec{MinCPU: 4})
	l.createTemplate("big", infrav1.MaasMachineSpec{Tags: []string{"big"}})
	l.createTemplate("told", infrav1.MaasMachineSpec{MinCPU: 4, MinMemory: 6144, MinDiskSize: 50, Architecture: "arm64"})
	l.createTemplate("nowhere", infrav1.MaasMachineSpec{MinCPU: 100})
	for _, name := range []string{"open", "big", "told", "nowhere"} {
		l.Eventually(func() bool { return conditions.IsTrue(l.template(name), clusterv1.PausedCondition) }).Should(gomega.BeTrue())
		l.Expect(l.template(name).Status.Capacity).To(gomega.BeEmpty(), "while the Cluster is paused")
	}

	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(t.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	cluster.Spec.Paused = nil
	l.Expect(l.Patch(t.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
	for name, want := range map[string]struct {
		capacity     map[string]string
		architecture string
		reason       string
	}{
		"open":    {map[string]string{"cpu": "4", "memory": "32Gi", "ephemeral-storage": "200G"}, "amd64", infrav1.CapacityKnownReason},
		"big":     {map[string]string{"cpu": "64", "memory": "256Gi", "ephemeral-storage": "2T"}, "amd64", infrav1.CapacityKnownReason},
		"told":    {map[string]string{"cpu": "4", "memory": "6Gi", "ephemeral-storage": "50G"}, "arm64", infrav1.CapacityKnownReason},
		"nowhere": {map[string]string{"cpu": "100"}, "", infrav1.NoSuitableMachineReason},
	} {
		l.Eventually(func() string {
			return conditions.GetReason(l.template(name), infrav1.TemplateCapacityKnownCondition)
		}).Should(gomega.Equal(want.reason), name)
		capacity, nodeInfo := l.offered(name)
		l.Expect(capacity).To(gomega.Equal(want.capacity), name)
		l.Expect(nodeInfo).To(gomega.HaveKeyWithValue("operatingSystem", "linux"), name)
		l.Expect(nodeInfo["architecture"]).To(gomega.Equal(want.architecture), name)
	}
	l.expectNothingLeft()
}

// The reconciler has no other rights than those of an installation.
func TestTheManagerMayWriteTheStatusOfTemplates(t *testing.T) {
	l := newLab(t, twoSizes())
	l.createCluster(nil)
	l.createTemplate("open", infrav1.MaasMachineSpec{})
	config, err := clientcmd.RESTConfigFromKubeConfig(suite.managerKubeconfig)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	manager, err := client.New(config, client.Options{Scheme: l.Scheme()})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	maasClient, err := maas.New(maas.Config{Endpoint: "http://" + l.address + "/MAAS", APIKey: simulator.DefaultAPIKey})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	reconciler := &maasmachinetemplate.Reconciler{Client: manager, Inventory: inventory.New(maasClient, nil)}
	var version string
	for range 3 {
		version = l.template("open").ResourceVersion
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: l.key("open")})
		l.Expect(err).NotTo(gomega.HaveOccurred())
	}
	l.Expect(conditions.IsTrue(l.template("open"), infrav1.TemplateCapacityKnownCondition)).To(gomega.BeTrue())
	l.Expect(l.template("open").ResourceVersion).To(gomega.Equal(version), "what is equal is not written anew")
}
