package follow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// workload looks at the workload cluster on its own: a cluster that does not serve yet lets one wait.
type workload struct {
	layout     host.Layout
	port       int
	scheme     *runtime.Scheme
	management client.Client
	// client is nil until the cluster has a kubeconfig.
	client client.Client

	mu    sync.Mutex
	state workloadState
}

// latest is what was seen last.
func (w *workload) latest() workloadState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// watch looks once a second until ctx ends.
func (w *workload) watch(ctx context.Context) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		seen := w.look(ctx)
		w.mu.Lock()
		w.state = seen
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look reads the cluster once, and does what becomes possible: it writes the kubeconfig and applies the pods' network.
func (w *workload) look(ctx context.Context) workloadState {
	before := w.latest()
	seen := workloadState{network: before.network}
	if w.client == nil {
		if err := w.open(ctx); err != nil {
			seen.trouble = err.Error()
			return seen
		}
	}
	if w.client == nil {
		return seen
	}
	nodes := &corev1.NodeList{}
	if err := w.client.List(ctx, nodes); err != nil {
		// It serves no more, for the moment. That it did is no news.
		seen.serves, seen.nodes = before.serves, before.nodes
		return seen
	}
	seen.serves, seen.nodes = true, map[string]corev1.Node{}
	for _, node := range nodes.Items {
		seen.nodes[node.Name] = node
	}
	if !seen.network {
		if err := w.applyNetwork(ctx); err != nil {
			seen.trouble = err.Error()
			return seen
		}
		seen.network = true
	}
	dns := &appsv1.Deployment{}
	if err := w.client.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "coredns"}, dns); err == nil && dns.Spec.Replicas != nil {
		seen.dns, seen.dnsWanted = dns.Status.AvailableReplicas, *dns.Spec.Replicas
	}
	return seen
}

// open writes the kubeconfig of the workload cluster once Cluster API has made it, and connects.
func (w *workload) open(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := w.management.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: ClusterName + "-kubeconfig"}, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	if err != nil || len(secret.Data["value"]) == 0 {
		return nil
	}
	text, err := management.ThroughPort(secret.Data["value"], w.port)
	if err != nil {
		return err
	}
	path := w.layout.WorkloadKubeconfig(ClusterName)
	if err := management.WriteKubeconfig(path, text); err != nil {
		return err
	}
	w.client, err = connect(path, w.scheme, 5*time.Second)
	return err
}

// applyNetwork applies the pods' network to the workload cluster.
func (w *workload) applyNetwork(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(w.layout.Root, "images", "workload", "cni.yaml"))
	if err != nil {
		return fmt.Errorf("reading the pods' network: %w", err)
	}
	objects, err := management.ReadManifests(text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := management.Apply(ctx, w.client, objects); err != nil {
		return fmt.Errorf("applying the pods' network: %w", err)
	}
	return nil
}
