package maasmachine

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	capicontroller "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// SetupWithManager starts the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	logger := mgr.GetLogger().WithName("maasmachine")
	scheme := mgr.GetScheme()
	ofCluster, err := util.ClusterToTypedObjectsMapper(r.Client, &infrav1.MaasMachineList{}, scheme)
	if err != nil {
		return fmt.Errorf("set up the MaasMachine controller: %w", err)
	}
	ofMaasCluster := r.maasClusterToMaasMachines(ofCluster)
	ofMachine := util.MachineToInfrastructureMapFunc(infrav1.GroupVersion.WithKind("MaasMachine"))
	r.controller, err = capicontroller.NewControllerManagedBy(mgr, logger).
		For(&infrav1.MaasMachine{}, builder.WithPredicates(predicates.ResourceHasFilterLabel(scheme, logger, r.WatchFilter), besidesAttempts())).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(ofMachine),
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, apiServerHealthChanged())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster),
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, clusterInitialized())).
		Watches(&infrav1.MaasCluster{}, handler.EnqueueRequestsFromMapFunc(ofMaasCluster),
			predicate.GenerationChangedPredicate{}).
		WatchesRawSource(r.ClusterCache.GetClusterSource("maasmachine", ofCluster)).
		WatchesRawSource(r.Inventory.Source()).
		WatchesRawSource(r.Rejoin.source(r.Client, ofMaasCluster)).
		WithOptions(options).
		Build(ctx, r)
	if err != nil {
		return fmt.Errorf("set up the MaasMachine controller: %w", err)
	}
	if err := mgr.Add(sweeper{r}); err != nil {
		return fmt.Errorf("add the sweeper of tags: %w", err)
	}
	return nil
}

// watchNodes makes the Nodes of a workload cluster raise reconciles. It does nothing where that is so already.
func (r *Reconciler) watchNodes(ctx context.Context, cluster client.ObjectKey) error {
	return r.ClusterCache.Watch(ctx, cluster, clustercache.NewWatcher(clustercache.WatcherOptions{
		Name: "maasmachine-watchNodes", Watcher: r.controller, Kind: &corev1.Node{},
		EventHandler: handler.EnqueueRequestsFromMapFunc(r.nodeToMaasMachines(cluster)),
		Predicates:   []predicate.TypedPredicate[client.Object]{nodeMoved()},
	}))
}

// nodeToMaasMachines finds the MaasMachines that may care for a Node: the one with its provider ID, and those without a Node.
func (r *Reconciler) nodeToMaasMachines(cluster client.ObjectKey) handler.MapFunc {
	return func(ctx context.Context, node client.Object) []ctrl.Request {
		list := &infrav1.MaasMachineList{}
		err := r.Client.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})
		if err != nil {
			return nil // the next look, within a minute, makes up for it
		}
		var requests []ctrl.Request
		for i := range list.Items {
			m := &list.Items[i]
			linked := conditions.IsTrue(m, infrav1.MachineNodeLinkedCondition)
			theirs := linked && m.Spec.ProviderID == node.(*corev1.Node).Spec.ProviderID
			if theirs || !linked {
				requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(m)})
			}
		}
		return requests
	}
}

// maasClusterToMaasMachines goes by way of the Cluster, whose label the machines have.
func (r *Reconciler) maasClusterToMaasMachines(ofCluster handler.MapFunc) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []ctrl.Request {
		cluster, err := util.GetOwnerCluster(ctx, r.Client, *o.(*infrav1.MaasCluster).ObjectMeta.DeepCopy())
		if err != nil || cluster == nil {
			return nil
		}
		return ofCluster(ctx, cluster)
	}
}

// onUpdate passes on updates that changed something, and all other events.
func onUpdate(changed func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return changed(e.ObjectOld, e.ObjectNew) }}
}

// besidesAttempts drops updates in which an attempt to claim was begun or ended, and nothing else changed. We make them
// ourselves: where MAAS refuses every attempt, each would lead to the next one at once.
func besidesAttempts() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return before.GetResourceVersion() == after.GetResourceVersion() || // a resync
			!equality.Semantic.DeepEqual(withoutAttempt(before), withoutAttempt(after))
	})
}

func withoutAttempt(object client.Object) *infrav1.MaasMachine {
	m := object.(*infrav1.MaasMachine).DeepCopy()
	dropAttempt(m)
	m.ResourceVersion, m.ManagedFields = "", nil
	return m
}

// apiServerHealthChanged: KCP reports on each machine's API server with a condition.
func apiServerHealthChanged() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, _ := apiServerHealthy(before.(*clusterv1.Machine))
		is, _ := apiServerHealthy(after.(*clusterv1.Machine))
		return was != is
	})
}

// clusterInitialized: claims wait for the infrastructure, and joins for the control plane.
func clusterInitialized() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, is := before.(*clusterv1.Cluster).Status.Initialization, after.(*clusterv1.Cluster).Status.Initialization
		isTrue := func(b *bool) bool { return b != nil && *b }
		return isTrue(was.InfrastructureProvisioned) != isTrue(is.InfrastructureProvisioned) ||
			isTrue(was.ControlPlaneInitialized) != isTrue(is.ControlPlaneInitialized)
	})
}

// nodeMoved drops the heartbeats of Nodes.
func nodeMoved() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, is := before.(*corev1.Node), after.(*corev1.Node)
		if was.Spec.ProviderID != is.Spec.ProviderID || len(was.Status.Addresses) != len(is.Status.Addresses) {
			return true
		}
		for i := range was.Status.Addresses {
			if was.Status.Addresses[i] != is.Status.Addresses[i] {
				return true
			}
		}
		return was.Status.NodeInfo.SystemUUID != is.Status.NodeInfo.SystemUUID
	})
}

// probe asks an API server whether it is there.
func (r *Reconciler) probe(ctx context.Context, address string, port int32) bool {
	if r.Probe != nil {
		return r.Probe(ctx, address, port)
	}
	return tlsAnswers(ctx, address, port)
}

// tlsAnswers makes a TLS handshake and hangs up. Who answers is not checked: nothing is sent, and nothing secret depends on it.
func tlsAnswers(ctx context.Context, address string, port int32) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // see above
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
