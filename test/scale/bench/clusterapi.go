package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// The little of Cluster API that the provider depends on: that a Cluster learns of its infrastructure, that machines which run have
// Nodes, and that a control plane says which of its API servers serve.

// playClusterAPI starts it, and the tracker on the same watch.
func (l *lab) playClusterAPI(ctx context.Context) error {
	mgr, err := ctrl.NewManager(l.config, ctrl.Options{
		Scheme:                 l.scheme,
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{l.namespace: {}}},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return fmt.Errorf("make the manager that plays Cluster API: %w", err)
	}
	if l.seen, err = newTracker(ctx, mgr.GetCache()); err != nil {
		return err
	}
	options := controller.Options{SkipNameValidation: new(true), MaxConcurrentReconciles: 4}
	err = ctrl.NewControllerManagedBy(mgr).For(&infrav1.MaasCluster{}).WithOptions(options).Complete(reconcile.Func(l.passOnCluster))
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&infrav1.MaasMachine{}).WithOptions(options).Complete(reconcile.Func(l.passOnMachine))
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	l.closers = append(l.closers, func() error {
		stop()
		return <-ended
	})
	return nil
}

// passOnCluster tells the Cluster what its MaasCluster is ready for.
func (l *lab) passOnCluster(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	infra := &infrav1.MaasCluster{}
	if err := l.api.Get(ctx, request.NamespacedName, infra); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if is := infra.Status.Initialization.Provisioned; is == nil || !*is {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, l.changeCluster(ctx, infra.Name, func(c *clusterv1.Cluster) {
		c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: infra.Spec.ControlPlaneEndpoint.Host, Port: infra.Spec.ControlPlaneEndpoint.Port}
		c.Status.Initialization.InfrastructureProvisioned = new(true)
	})
}

// changeCluster writes a Cluster, if that changes it.
func (l *lab) changeCluster(ctx context.Context, name string, change func(*clusterv1.Cluster)) error {
	cluster := &clusterv1.Cluster{}
	if err := l.api.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, cluster); err != nil {
		return err
	}
	before := cluster.DeepCopy()
	change(cluster)
	status := cluster.DeepCopy().Status
	if before.Spec.ControlPlaneEndpoint != cluster.Spec.ControlPlaneEndpoint {
		if err := l.api.Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	before = cluster.DeepCopy()
	cluster.Status = status
	return l.api.Status().Patch(ctx, cluster, client.MergeFrom(before))
}

// passOnMachine lets a Node appear for a machine that runs, and its API server answer.
func (l *lab) passOnMachine(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	m := &infrav1.MaasMachine{}
	if err := l.api.Get(ctx, request.NamespacedName, m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !isProvisioned(m) || conditions.IsTrue(m, infrav1.MachineNodeLinkedCondition) {
		return ctrl.Result{}, nil
	}
	if isControlPlane(m) {
		if err := l.serve(ctx, m); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, l.joinNode(ctx, m)
}

// serve says that the machine's API server is healthy, and so the control plane initialized.
func (l *lab) serve(ctx context.Context, m *infrav1.MaasMachine) error {
	machine := &clusterv1.Machine{}
	if err := l.api.Get(ctx, client.ObjectKeyFromObject(m), machine); err != nil {
		return err
	}
	before := machine.DeepCopy()
	// The condition that KCP reports on a machine's API server with.
	conditions.Set(machine, metav1.Condition{Type: "APIServerPodHealthy", Status: metav1.ConditionTrue, Reason: "Running"})
	if err := l.api.Status().Patch(ctx, machine, client.MergeFrom(before)); err != nil {
		return err
	}
	return l.changeCluster(ctx, m.Labels[clusterv1.ClusterNameLabel], func(c *clusterv1.Cluster) {
		c.Status.Initialization.ControlPlaneInitialized = new(true)
		conditions.Set(c, metav1.Condition{
			Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ClusterControlPlaneInitializedReason,
		})
	})
}

// joinNode registers a Node, as the machine's kubelet does.
func (l *lab) joinNode(ctx context.Context, m *infrav1.MaasMachine) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   m.Status.Hostname,
		Labels: map[string]string{workloadLabel: workloadValue(l.namespace, m.Labels[clusterv1.ClusterNameLabel])},
	}}
	if err := client.IgnoreAlreadyExists(l.api.Create(ctx, node)); err != nil {
		return err
	}
	if err := l.api.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return err
	}
	before := node.DeepCopy()
	node.Status.Addresses = nil
	for _, a := range m.Status.Addresses {
		if a.Type == clusterv1.MachineInternalIP {
			node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a.Address})
		}
	}
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.NewTime(time.Now()),
	}}
	return l.api.Status().Patch(ctx, node, client.MergeFrom(before))
}
