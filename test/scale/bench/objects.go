package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// What users, and on their behalf Cluster API, put into the management cluster.

func clusterName(i int) string { return "c" + strconv.Itoa(i+1) }

// createClusters makes clusters, each with a workload API server, and waits until they are ready for machines.
func (l *lab) createClusters(ctx context.Context, n int) error {
	for i := range n {
		if err := l.createCluster(ctx, clusterName(i)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		list := &clusterv1.ClusterList{}
		if err := l.api.List(ctx, list, client.InNamespace(l.namespace)); err != nil {
			return fmt.Errorf("list the Clusters: %w", err)
		}
		ready := 0
		for _, c := range list.Items {
			if is := c.Status.Initialization.InfrastructureProvisioned; is != nil && *is {
				ready++
			}
		}
		if ready == n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d clusters are provisioned after two minutes", ready, n)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (l *lab) createCluster(ctx context.Context, name string) error {
	workload, err := l.startWorkload(ctx, name)
	if err != nil {
		return err
	}
	labels := map[string]string{clusterv1.ClusterNameLabel: name}
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: name,
		}},
	}
	kubeconfig := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name + "-kubeconfig", Labels: labels},
		Type:       clusterv1.ClusterSecretType,
		Data:       map[string][]byte{"value": workload},
	}
	for _, object := range []client.Object{kubeconfig, cluster} {
		if err := l.api.Create(ctx, object); err != nil {
			return fmt.Errorf("create Cluster %s: %w", name, err)
		}
	}
	err = l.api.Create(ctx, &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cluster, clusterv1.GroupVersion.WithKind("Cluster"))},
		},
		Spec: infrav1.MaasClusterSpec{DNSDomain: "maas"},
	})
	if err != nil {
		return fmt.Errorf("create MaasCluster %s: %w", name, err)
	}
	return nil
}

// createMachines makes the machines of all clusters at once, in each so many of the control plane.
func (l *lab) createMachines(ctx context.Context, clusters, perCluster, controlPlane int, spec infrav1.MaasMachineSpec) error {
	l.say("asking for %d machines in %d clusters", clusters*perCluster, clusters)
	type wanted struct {
		cluster, name string
		controlPlane  bool
	}
	todo := make(chan wanted)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 8 {
		workers.Go(func() {
			for w := range todo {
				if err := l.createMachine(ctx, w.cluster, w.name, w.controlPlane, spec); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range perCluster {
		for c := range clusters {
			todo <- wanted{clusterName(c), clusterName(c) + "-" + strconv.Itoa(i+1), i < controlPlane}
		}
	}
	close(todo)
	workers.Wait()
	return failed
}

func (l *lab) createMachine(ctx context.Context, cluster, name string, controlPlane bool, spec infrav1.MaasMachineSpec) error {
	labels := map[string]string{clusterv1.ClusterNameLabel: cluster}
	if controlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	bootstrap := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: labels},
		Type:       clusterv1.ClusterSecretType,
		Data:       map[string][]byte{"value": []byte("#cloud-config\n"), "format": []byte("cloud-config")},
	}
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: labels},
		Spec: clusterv1.MachineSpec{
			ClusterName: cluster,
			Bootstrap:   clusterv1.Bootstrap{DataSecretName: &bootstrap.Name},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: "MaasMachine", Name: name,
			},
		},
	}
	for _, object := range []client.Object{bootstrap, machine} {
		if err := l.api.Create(ctx, object); err != nil {
			return fmt.Errorf("create Machine %s: %w", name, err)
		}
	}
	spec.Image = image
	err := l.api.Create(ctx, &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: name, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(machine, clusterv1.GroupVersion.WithKind("Machine"))},
		},
		Spec: spec,
	})
	if err != nil {
		return fmt.Errorf("create MaasMachine %s: %w", name, err)
	}
	return nil
}

func isControlPlane(m *infrav1.MaasMachine) bool {
	_, is := m.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}
