package integration

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
)

// The management cluster's API server plays that of the workload cluster too.
func TestANodeGetsItsProviderID(t *testing.T) {
	l := newLab(t, hardware("node-of-workload-test"))
	l.startManager()
	l.createCluster(nil)
	l.workloadIsHere()
	l.provisionedCluster()
	l.createMachine("cp-1", true)
	machine := l.provisionedMachine("cp-1")
	// Like a kubelet, with a label: the API server keeps no record of who writes what in an object that began as a mere name.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "node-of-workload-test", Labels: map[string]string{"kubernetes.io/hostname": "node-of-workload-test"},
	}}
	l.Expect(l.Create(t.Context(), node)).To(gomega.Succeed())
	l.Cleanup(func() { _ = suite.client.Delete(context.Background(), node) }) // it is in no namespace of the test's own
	l.controlPlaneInitialized()
	l.expectCondition(l.cluster, infrav1.ClusterAPIServerAvailableCondition, metav1.ConditionTrue, infrav1.APIServerAvailableReason)
	l.Eventually(func() string {
		l.Expect(l.Get(t.Context(), client.ObjectKeyFromObject(node), node)).To(gomega.Succeed())
		return node.Spec.ProviderID
	}).Should(gomega.Equal(machine.Spec.ProviderID), "%s", describing(func() any { return l.maasMachine("cp-1").Status }))
	var managers []string
	for _, entry := range node.ManagedFields {
		managers = append(managers, entry.Manager)
	}
	l.Expect(managers).To(gomega.ContainElement(controllers.FieldManager))
	l.expectCondition(func() conditions.Getter { return l.maasMachine("cp-1") },
		infrav1.MachineNodeLinkedCondition, metav1.ConditionTrue, infrav1.NodeProviderIDSetReason)
}

// controlPlaneInitialized says that the control plane answered, as Cluster API does.
func (l *lab) controlPlaneInitialized() {
	l.Helper()
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(l.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	yes := true
	cluster.Status.Initialization.ControlPlaneInitialized = &yes
	conditions.Set(cluster, metav1.Condition{
		Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ClusterControlPlaneInitializedReason,
	})
	l.Expect(l.Status().Patch(l.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
}

// workloadIsHere says how the workload cluster's API server is reached, as Cluster API does: it is the management cluster's.
func (l *lab) workloadIsHere() {
	l.Helper()
	l.Expect(l.Create(l.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: clusterName + "-kubeconfig",
			Labels: map[string]string{clusterv1.ClusterNameLabel: clusterName},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{"value": suite.kubeconfig},
	})).To(gomega.Succeed())
}
