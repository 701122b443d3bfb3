package follow

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// state is all that is known of a cluster at one moment.
type state struct {
	cluster      *clusterv1.Cluster
	controlPlane *controlplanev1.KubeadmControlPlane
	deployments  []clusterv1.MachineDeployment
	machines     []clusterv1.Machine
	maas         map[string]infrav1.MaasMachine       // by name
	hosts        map[string]simulator.MachineSnapshot // by system ID
	// failures are those of the machines' bootstrap, by system ID, in the words of cloud-init and kubeadm.
	failures map[string][]string
	workload workloadState
}

// workloadState is what is known of the workload cluster itself.
type workloadState struct {
	// serves says that its API server answers.
	serves bool
	// network says that the manifests of the pods' network were applied.
	network bool
	// nodes by name.
	nodes map[string]corev1.Node
	// dns and dnsWanted count CoreDNS's pods.
	dns, dnsWanted int32
	// trouble is what went wrong at the last look, other than that the cluster does not serve yet.
	trouble string
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme, infrav1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering types: %w", err)
		}
	}
	return scheme, nil
}

// connect makes a client from a kubeconfig file, for a server that need not serve yet. No request takes longer than timeout.
func connect(kubeconfig string, scheme *runtime.Scheme, timeout time.Duration) (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	config.Timeout, config.QPS, config.Burst = timeout, 100, 100
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to a cluster: %w", err)
	}
	return c, nil
}

// observeManagement reads what the management cluster knows of the cluster.
func observeManagement(ctx context.Context, c client.Client) (*state, error) {
	s := &state{maas: map[string]infrav1.MaasMachine{}, hosts: map[string]simulator.MachineSnapshot{}}
	key := client.ObjectKey{Namespace: Namespace, Name: ClusterName}
	cluster := &clusterv1.Cluster{}
	if err := c.Get(ctx, key, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			return s, nil
		}
		return nil, fmt.Errorf("reading the Cluster: %w", err)
	}
	s.cluster = cluster
	ours := []client.ListOption{client.InNamespace(Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: ClusterName}}
	controlPlanes := &controlplanev1.KubeadmControlPlaneList{}
	if err := c.List(ctx, controlPlanes, ours...); err != nil {
		return nil, fmt.Errorf("reading the control plane: %w", err)
	}
	if len(controlPlanes.Items) > 0 {
		s.controlPlane = &controlPlanes.Items[0]
	}
	deployments := &clusterv1.MachineDeploymentList{}
	if err := c.List(ctx, deployments, ours...); err != nil {
		return nil, fmt.Errorf("reading the MachineDeployments: %w", err)
	}
	s.deployments = deployments.Items
	machines := &clusterv1.MachineList{}
	if err := c.List(ctx, machines, ours...); err != nil {
		return nil, fmt.Errorf("reading the Machines: %w", err)
	}
	s.machines = machines.Items
	maas := &infrav1.MaasMachineList{}
	if err := c.List(ctx, maas, ours...); err != nil {
		return nil, fmt.Errorf("reading the MaasMachines: %w", err)
	}
	for _, m := range maas.Items {
		s.maas[m.Name] = m
	}
	return s, nil
}

// observeRegion adds what MAAS says of the machines.
func observeRegion(ctx context.Context, control *management.Control, s *state) error {
	snapshot, err := control.Snapshot(ctx)
	if err != nil {
		return err
	}
	for _, m := range snapshot.Machines {
		s.hosts[m.SystemID] = m
	}
	return nil
}

// wanted is how many Machines the cluster is to have.
func (s *state) wanted() int {
	count := 0
	if s.controlPlane != nil && s.controlPlane.Spec.Replicas != nil {
		count += int(*s.controlPlane.Spec.Replicas)
	}
	for _, d := range s.deployments {
		if d.Spec.Replicas != nil {
			count += int(*d.Spec.Replicas)
		}
	}
	return count
}
