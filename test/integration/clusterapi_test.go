package integration

import (
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// What Cluster API's own controllers do, as far as the provider sees it.

const clusterName = "c1"

// machineFinalizer is what Cluster API holds Machines with.
const machineFinalizer = "machine.cluster.x-k8s.io"

// createCluster makes a Cluster and its MaasCluster, as a user and Cluster API do together.
func (l *lab) createCluster(change func(*clusterv1.Cluster, *infrav1.MaasCluster)) {
	l.Helper()
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: clusterName},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: clusterName,
		}},
	}
	infra := &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: clusterName,
			Labels: map[string]string{clusterv1.ClusterNameLabel: clusterName},
		},
		Spec: infrav1.MaasClusterSpec{DNSDomain: "maas"},
	}
	if change != nil {
		change(cluster, infra)
	}
	l.Expect(l.Create(l.Context(), cluster)).To(gomega.Succeed())
	infra.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cluster, clusterv1.GroupVersion.WithKind("Cluster"))}
	l.Expect(l.Create(l.Context(), infra)).To(gomega.Succeed())
}

// maasCluster reads the MaasCluster.
func (l *lab) maasCluster() *infrav1.MaasCluster {
	l.Helper()
	object := &infrav1.MaasCluster{}
	l.Expect(l.Get(l.Context(), l.key(clusterName), object)).To(gomega.Succeed())
	return object
}

// provisionedCluster waits until the MaasCluster is provisioned, and tells the Cluster, as Cluster API does.
func (l *lab) provisionedCluster() *infrav1.MaasCluster {
	l.Helper()
	l.Eventually(func(g gomega.Gomega) {
		provisioned := l.maasCluster().Status.Initialization.Provisioned
		g.Expect(provisioned).NotTo(gomega.BeNil())
		g.Expect(*provisioned).To(gomega.BeTrue())
	}).Should(gomega.Succeed(), "%s", describing(func() any { return l.maasCluster().Status }))
	infra := l.maasCluster()
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(l.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{
		Host: infra.Spec.ControlPlaneEndpoint.Host, Port: infra.Spec.ControlPlaneEndpoint.Port,
	}
	l.Expect(l.Patch(l.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
	before = cluster.DeepCopy()
	yes := true
	cluster.Status.Initialization.InfrastructureProvisioned = &yes
	l.Expect(l.Status().Patch(l.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
	return infra
}

// createMachine makes a Machine with bootstrap data and its MaasMachine.
func (l *lab) createMachine(name string, controlPlane bool) {
	l.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: clusterName}
	if controlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: labels},
		Type:       clusterv1.ClusterSecretType,
		Data:       map[string][]byte{"value": []byte("#cloud-config\n"), "format": []byte("cloud-config")},
	}
	l.Expect(l.Create(l.Context(), secret)).To(gomega.Succeed())
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: labels, Finalizers: []string{machineFinalizer}},
		Spec: clusterv1.MachineSpec{
			ClusterName: clusterName,
			Bootstrap:   clusterv1.Bootstrap{DataSecretName: &secret.Name},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: "MaasMachine", Name: name,
			},
		},
	}
	l.Expect(l.Create(l.Context(), machine)).To(gomega.Succeed())
	l.Expect(l.Create(l.Context(), &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(machine, clusterv1.GroupVersion.WithKind("Machine"))},
		},
		Spec: infrav1.MaasMachineSpec{Image: "custom/kube"},
	})).To(gomega.Succeed())
}

// maasMachine reads a MaasMachine.
func (l *lab) maasMachine(name string) *infrav1.MaasMachine {
	l.Helper()
	object := &infrav1.MaasMachine{}
	l.Expect(l.Get(l.Context(), l.key(name), object)).To(gomega.Succeed())
	return object
}

// provisionedMachine waits until a MaasMachine is provisioned.
func (l *lab) provisionedMachine(name string) *infrav1.MaasMachine {
	l.Helper()
	l.Eventually(func(g gomega.Gomega) {
		provisioned := l.maasMachine(name).Status.Initialization.Provisioned
		g.Expect(provisioned).NotTo(gomega.BeNil())
		g.Expect(*provisioned).To(gomega.BeTrue())
	}).Should(gomega.Succeed(), "%s", describing(func() any { return l.maasMachine(name).Status }))
	return l.maasMachine(name)
}

// deleteMachine deletes a Machine and its MaasMachine in Cluster API's order, and waits until both are gone.
func (l *lab) deleteMachine(name string) {
	l.Helper()
	machine := &clusterv1.Machine{}
	l.Expect(l.Get(l.Context(), l.key(name), machine)).To(gomega.Succeed())
	l.Expect(l.Delete(l.Context(), machine)).To(gomega.Succeed())
	l.Expect(l.Delete(l.Context(), l.maasMachine(name))).To(gomega.Succeed())
	l.expectGone(name, &infrav1.MaasMachine{})
	l.Expect(l.Get(l.Context(), l.key(name), machine)).To(gomega.Succeed())
	machine.Finalizers = nil
	l.Expect(l.Update(l.Context(), machine)).To(gomega.Succeed())
}

// expectGone waits until an object does not exist.
func (l *lab) expectGone(name string, object client.Object) {
	l.Helper()
	l.Eventually(func() bool {
		return apierrors.IsNotFound(l.Get(l.Context(), l.key(name), object))
	}).Should(gomega.BeTrue(), "%s", describing(func() any { return object }))
}

// expectCondition waits until a condition has a status and a reason.
func (l *lab) expectCondition(get func() conditions.Getter, kind string, status metav1.ConditionStatus, reason string) {
	l.Helper()
	l.Eventually(func(g gomega.Gomega) {
		condition := conditions.Get(get(), kind)
		g.Expect(condition).NotTo(gomega.BeNil())
		g.Expect(condition.Status).To(gomega.Equal(status), condition.Message)
		g.Expect(condition.Reason).To(gomega.Equal(reason), condition.Message)
	}).Should(gomega.Succeed(), "%s", describing(func() any { return get().GetConditions() }))
}

func (l *lab) cluster() conditions.Getter { return l.maasCluster() }

func (l *lab) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: l.namespace, Name: name}
}
