package maascluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// clusterToMaasCluster names the MaasCluster of a Cluster, if its infrastructure is one.
func clusterToMaasCluster(kind schema.GroupKind) func(context.Context, client.Object) []ctrl.Request {
	return func(_ context.Context, object client.Object) []ctrl.Request {
		cluster, ok := object.(*clusterv1.Cluster)
		if !ok || !cluster.Spec.InfrastructureRef.IsDefined() || cluster.Spec.InfrastructureRef.GroupKind() != kind {
			return nil
		}
		return []ctrl.Request{{NamespacedName: client.ObjectKey{
			Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name,
		}}}
	}
}

// memberToMaasCluster names the MaasClusters of the cluster that a machine or a template belongs to. It asks the MaasClusters and
// not the Cluster, which may be gone while the last machines go.
func (r *Reconciler) memberToMaasCluster(ctx context.Context, object client.Object) []ctrl.Request {
	name := clusterName(object)
	if name == "" {
		return nil
	}
	list := &infrav1.MaasClusterList{}
	if err := r.Client.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "Cannot list MaasClusters")
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if clusterName(&list.Items[i]) == name {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// machineMoved passes what of a machine matters to its cluster: that it comes or goes, and of the control plane's, which addresses it
// has, and whether they are in the record.
func machineMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*infrav1.MaasMachine)
		after, alsoOK := e.ObjectNew.(*infrav1.MaasMachine)
		if !ok || !alsoOK {
			return false
		}
		if before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() {
			return true
		}
		_, controlPlane := after.Labels[clusterv1.MachineControlPlaneLabel]
		return controlPlane && (before.Spec.SystemID != after.Spec.SystemID || isLost(before) != isLost(after) ||
			conditions.IsTrue(before, infrav1.MachineDNSAttachedCondition) != conditions.IsTrue(after, infrav1.MachineDNSAttachedCondition) ||
			!slices.Equal(before.Status.Addresses, after.Status.Addresses))
	}}
}

// maxRaised is how many objects may wait to be reconciled because of a look-up. What has no room is seen with the next look.
const maxRaised = 1024

// raiseInto returns a function that raises a reconcile of an object.
func raiseInto(raised chan<- event.GenericEvent) func(types.NamespacedName) {
	return func(key types.NamespacedName) {
		object := &infrav1.MaasCluster{}
		object.SetNamespace(key.Namespace)
		object.SetName(key.Name)
		select {
		case raised <- event.GenericEvent{Object: object}:
		default:
		}
	}
}

// controlPlaneInitialized passes the moment in which a control plane first answers.
func controlPlaneInitialized() predicate.Predicate {
	initialized := func(object client.Object) bool {
		cluster, ok := object.(*clusterv1.Cluster)
		return ok && conditions.IsTrue(cluster, clusterv1.ClusterControlPlaneInitializedCondition)
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return initialized(e.ObjectOld) != initialized(e.ObjectNew)
	}}
}
