package integration

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestObjectsOfAnEarlierProvider(t *testing.T) {
	l := newLab(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "aaaaaa"}}})
	l.namespace = legacyNamespace
	l.deployAsAnEarlierProvider("aaaaaa")
	l.createRecord("c1-abc123", "10.20.1.7")
	l.before = l.snapshot()
	l.startManager()

	l.expectCondition(l.cluster, infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, infrav1.EndpointNotOursReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionTrue, "Ready")
	infra := l.maasCluster()
	l.Expect(conditions.Has(infra, "LXDReady")).To(gomega.BeFalse())
	l.Expect(infra.Spec.ControlPlaneEndpoint).To(gomega.Equal(infrav1.APIEndpoint{Host: "c1-abc123.maas", Port: 6443}))
	l.Expect(infra.Spec.ControlPlaneEndpointKind).To(gomega.Equal(infrav1.EndpointMaasDNS))
	l.Expect(*infra.Status.Initialization.Provisioned).To(gomega.BeTrue())
	l.Expect(infra.Spec.LXDConfig).NotTo(gomega.BeNil(), "what was stored stays")

	l.Expect(l.storedFailureDomains()).To(gomega.Equal([]any{map[string]any{"name": "default", "controlPlane": true}}),
		"the stored map became the list that Cluster API reads")

	l.Eventually(func() *metav1.Condition {
		return conditions.Get(l.maasMachine("m1"), infrav1.MachineAllocatedCondition)
	}).ShouldNot(gomega.BeNil())
	l.Expect(l.maasMachine("m1").Spec.SystemID).To(gomega.Equal("aaaaaa"))
	l.Expect(l.snapshot()).To(gomega.Equal(l.before), "neither the machine nor the record was touched")

	// A cluster that was stored with an endpoint of zeros, before it got one.
	zero := &infrav1.MaasCluster{}
	l.Eventually(func(g gomega.Gomega) {
		g.Expect(l.Get(t.Context(), l.key("zero"), zero)).To(gomega.Succeed())
		g.Expect(zero.Status.Initialization.Provisioned).NotTo(gomega.BeNil())
	}).Should(gomega.Succeed())
	l.Expect(zero.Spec.ControlPlaneEndpoint.Host).To(gomega.HavePrefix("zero-"))
	l.Expect(l.Delete(t.Context(), zero)).To(gomega.Succeed())
	l.expectGone("zero", &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

// storedFailureDomains are those in the object as any client reads it.
func (l *lab) storedFailureDomains() any {
	l.Helper()
	raw := &unstructured.Unstructured{Object: map[string]any{"apiVersion": infrav1.GroupVersion.String(), "kind": "MaasCluster"}}
	l.Expect(l.Get(l.Context(), l.key(clusterName), raw)).To(gomega.Succeed())
	domains, _, err := unstructured.NestedFieldNoCopy(raw.Object, "status", "failureDomains")
	l.Expect(err).NotTo(gomega.HaveOccurred())
	return domains
}

// deployAsAnEarlierProvider deploys a machine that carries no claim.
func (l *lab) deployAsAnEarlierProvider(systemID string) {
	l.Helper()
	_, err := l.operator().Allocate(l.Context(), maas.AllocateParams{SystemID: systemID})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = l.operator().Deploy(l.Context(), systemID, maas.DeployParams{DistroSeries: "kube"})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	l.Eventually(func() string { return l.region.Snapshot().Machines[0].StatusName }).Should(gomega.Equal("Deployed"))
}

func documents(text string) []string { return strings.Split(text, "\n---\n") }
