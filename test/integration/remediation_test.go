package integration

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// A worker whose Node hangs is switched off and on by the MaasRemediation that Cluster API's own MachineHealthCheck makes, which deletes it
// when the Node is well again. When that is not to be tried any more, the Machine's owner is told.
func TestAMachineHealthCheckHealsAMachineThroughUs(t *testing.T) {
	const nodeName = "node-of-remediation-test"
	l := newLab(t, hardware(nodeName))
	l.startManager()
	l.startHealthChecks()
	l.createCluster(nil)
	l.workloadIsHere()
	l.provisionedCluster()
	l.createMachine("w-1", false)
	machine := l.provisionedMachine("w-1")
	l.controlPlaneInitialized()
	l.infrastructureReady()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"kubernetes.io/hostname": nodeName}}}
	l.Expect(l.Create(t.Context(), node)).To(gomega.Succeed())
	l.Cleanup(func() { _ = suite.client.Delete(context.Background(), node) }) // it is in no namespace of the test's own
	l.nodeIs(nodeName, corev1.ConditionTrue)
	l.hasNode("w-1", nodeName)
	l.checkHealth("often", nil)
	l.nodeIs(nodeName, corev1.ConditionUnknown)
	l.Eventually(func() int { return l.asked("power_off") }).Should(gomega.Equal(1), "%s", describing(l.remediations))
	l.Eventually(func() int { return l.asked("power_on") }).Should(gomega.Equal(1), "%s", describing(l.remediations))
	l.expectCondition(func() conditions.Getter { return l.remediation("w-1") },
		infrav1.RemediationRemediatingCondition, metav1.ConditionTrue, infrav1.RemediationWaitingForNodeReason)
	l.Expect(l.remediation("w-1").Status.RetryCount).To(gomega.Equal(int32(1)))
	l.nodeIs(nodeName, corev1.ConditionTrue)
	l.expectGone("w-1", &infrav1.MaasRemediation{})
	powered, _ := l.region.Machine(machine.Spec.SystemID)
	l.Expect(powered.PowerState).To(gomega.Equal("on"))
	l.Expect(l.events("w-1")).To(gomega.ContainElements("RemediationStarted", "MachinePowerCycled"))

	l.Expect(l.Delete(t.Context(), &clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "often"}})).To(gomega.Succeed())
	target := l.maasMachine("w-1")
	before := target.DeepCopy()
	delete(target.Annotations, infrav1.RemediationAnnotation) // as if it had been long ago
	l.Expect(l.Patch(t.Context(), target, client.MergeFrom(before))).To(gomega.Succeed())
	l.checkHealth("never", new(int32))
	l.nodeIs(nodeName, corev1.ConditionUnknown)
	l.Eventually(func() bool { return conditions.IsFalse(l.machine("w-1"), clusterv1.MachineOwnerRemediatedCondition) }).
		Should(gomega.BeTrue(), "%s", describing(l.remediations))
	l.expectCondition(func() conditions.Getter { return l.remediation("w-1") },
		infrav1.RemediationRemediatingCondition, metav1.ConditionFalse, infrav1.RemediationHandedOverReason)
	l.Expect(l.maasMachine("w-1").Annotations).To(gomega.HaveKey(infrav1.MarkBrokenAnnotation))
	powered, _ = l.region.Machine(machine.Spec.SystemID)
	l.Expect(powered.PowerState).To(gomega.Equal("off"))
	l.Expect(powered.Status).To(gomega.Equal(simulator.StatusDeployed), "nobody gave it back yet")

	l.deleteMachine("w-1")
	powered, _ = l.region.Machine(machine.Spec.SystemID)
	l.Expect(powered.Status).To(gomega.Equal(simulator.StatusBroken))
	l.Expect(powered.Owner).To(gomega.BeEmpty())
}

// startHealthChecks runs Cluster API's MachineHealthCheck controller in this process.
func (l *lab) startHealthChecks() {
	l.Helper()
	scheme, err := controllers.NewScheme()
	l.Expect(err).NotTo(gomega.HaveOccurred())
	mgr, err := ctrl.NewManager(rest.CopyConfig(suite.config), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{l.namespace: {}}},
	})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	l.Expect(index.AddDefaultIndexes(ctx, mgr)).To(gomega.Succeed())
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: mgr.GetClient(),
		Cache:        clustercache.CacheOptions{Indexes: []clustercache.CacheOptionsIndex{clustercache.NodeProviderIDIndex}},
		Client:       clustercache.ClientOptions{UserAgent: "health-checks"},
	}, controller.Options{SkipNameValidation: new(true)})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	checks := &machinehealthcheck.Reconciler{Client: mgr.GetClient(), ClusterCache: clusters}
	l.Expect(checks.SetupWithManager(ctx, mgr, controller.Options{SkipNameValidation: new(true)})).To(gomega.Succeed())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	l.Cleanup(func() {
		if stoppable, ok := clusters.(interface{ Shutdown() }); ok {
			stoppable.Shutdown()
		}
		cancel()
		if err := <-ended; err != nil {
			l.Errorf("the health checks ended with: %v", err)
		}
	})
}

// checkHealth makes a MachineHealthCheck of all Machines, and a template for so many power cycles; nil means as many as it takes.
func (l *lab) checkHealth(name string, retryLimit *int32) {
	l.Helper()
	template := &infrav1.MaasRemediationTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}
	template.Spec.Template.Spec.Strategy.RetryLimit = retryLimit
	l.Expect(l.Create(l.Context(), template)).To(gomega.Succeed())
	second := int32(1)
	l.Expect(l.Create(l.Context(), &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: clusterName, Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.ClusterNameLabel: clusterName}},
			Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, TimeoutSeconds: &second},
			}},
			Remediation: clusterv1.MachineHealthCheckRemediation{TemplateRef: clusterv1.MachineHealthCheckRemediationTemplateReference{
				APIVersion: infrav1.GroupVersion.String(), Kind: "MaasRemediationTemplate", Name: name,
			}},
		},
	})).To(gomega.Succeed())
}

// infrastructureReady says that the Cluster's infrastructure is, as Cluster API does.
func (l *lab) infrastructureReady() {
	l.Helper()
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(l.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	conditions.Set(cluster, metav1.Condition{Type: clusterv1.ClusterInfrastructureReadyCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	l.Expect(l.Status().Patch(l.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
}

// hasNode says which Node a Machine has, as Cluster API does.
func (l *lab) hasNode(machine, node string) {
	l.Helper()
	object := l.machine(machine)
	before := object.DeepCopy()
	object.Status.NodeRef = clusterv1.MachineNodeReference{Name: node}
	l.Expect(l.Status().Patch(l.Context(), object, client.MergeFrom(before))).To(gomega.Succeed())
}

// nodeIs says whether a Node is Ready, since a minute ago, as a kubelet and the node controller do.
func (l *lab) nodeIs(name string, ready corev1.ConditionStatus) {
	l.Helper()
	node := &corev1.Node{}
	l.Expect(l.Get(l.Context(), client.ObjectKey{Name: name}, node)).To(gomega.Succeed())
	before := node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)), LastHeartbeatTime: metav1.Now(),
	}}
	l.Expect(l.Status().Patch(l.Context(), node, client.MergeFrom(before))).To(gomega.Succeed())
}

func (l *lab) machine(name string) *clusterv1.Machine {
	l.Helper()
	object := &clusterv1.Machine{}
	l.Expect(l.Get(l.Context(), l.key(name), object)).To(gomega.Succeed())
	return object
}

// remediation reads a MaasRemediation; it is empty while there is none.
func (l *lab) remediation(name string) *infrav1.MaasRemediation {
	object := &infrav1.MaasRemediation{}
	_ = client.IgnoreNotFound(l.Get(l.Context(), l.key(name), object))
	return object
}

func (l *lab) remediations() any {
	list, machines := &infrav1.MaasRemediationList{}, &clusterv1.MachineList{}
	_ = l.List(l.Context(), list, client.InNamespace(l.namespace))
	_ = l.List(l.Context(), machines, client.InNamespace(l.namespace))
	return []any{list.Items, machines.Items}
}

// asked counts the requests of an operation that took effect.
func (l *lab) asked(op string) int {
	n := 0
	for _, r := range l.region.Requests() {
		if r.Op == op && r.Committed {
			n++
		}
	}
	return n
}
