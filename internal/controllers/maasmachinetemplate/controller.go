// Package maasmachinetemplate reconciles MaasMachineTemplates: it says what a Node from a template offers at least, so that the cluster
// autoscaler can scale up from zero. There is nothing to act on but the status, so there is no step to plan.
package maasmachinetemplate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicontroller "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachinetemplates/status,verbs=patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch

// Reconciler reconciles MaasMachineTemplates.
type Reconciler struct {
	Client    client.Client
	Inventory *inventory.Inventory
	// Host is that of MAAS, for messages.
	Host string
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
	// Jitter draws by how much a wait is longer, by a part of it at most; nil means wait.Jitter.
	Jitter func(wait time.Duration, part float64) time.Duration
}

// SetupWithManager starts the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	logger := mgr.GetLogger().WithName("maasmachinetemplate")
	_, err := capicontroller.NewControllerManagedBy(mgr, logger).
		For(&infrav1.MaasMachineTemplate{}, builder.WithPredicates(predicates.ResourceHasFilterLabel(mgr.GetScheme(), logger, r.WatchFilter))).
		// That a Cluster is paused, or no longer, changes its spec.
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.clusterToTemplates), predicate.GenerationChangedPredicate{}).
		WithOptions(options).
		Build(ctx, r)
	if err != nil {
		return fmt.Errorf("set up the MaasMachineTemplate controller: %w", err)
	}
	return nil
}

// Reconcile brings the status of one MaasMachineTemplate up to date.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.MaasMachineTemplate{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	before := object.DeepCopy()
	cluster, err := r.clusterOf(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	if cluster != nil {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("Cluster", klog.KObj(cluster)))
	}
	if isPaused, requeue, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, object); err != nil || isPaused || requeue {
		return ctrl.Result{}, err
	}
	seen := r.observe(ctx, object.Spec.Template.Spec)
	if errors.Is(ctx.Err(), context.Canceled) {
		// The manager ends. That it cut its own calls off says nothing of MAAS.
		return ctrl.Result{}, nil
	}
	setStatus(object, seen)
	if err := r.write(ctx, object, before); err != nil {
		return ctrl.Result{}, err
	}
	if seen.err != nil {
		log.FromContext(ctx).Info("The machines cannot be looked at", "reason", seen.err.Error())
	}
	jitter := r.Jitter
	if jitter == nil {
		jitter = wait.Jitter
	}
	return ctrl.Result{RequeueAfter: jitter(nextLook(seen), spread)}, nil
}

// write stores the status, if it is different.
func (r *Reconciler) write(ctx context.Context, object, before *infrav1.MaasMachineTemplate) error {
	if equality.Semantic.DeepEqual(before.Status, object.Status) {
		return nil
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writePatience)
	defer cancel()
	if err := r.Client.Status().Patch(writing, object, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

// writePatience is how long the API server may take to store what was found, even if the reconcile's time is up.
const writePatience = 10 * time.Second

// nextLook says when to look again without being told to. What the spec says does not change by itself.
func nextLook(seen facts) time.Duration {
	switch {
	case seen.asked.complete():
		return 0
	case seen.err != nil:
		return 5 * time.Minute
	case seen.suitable == 0:
		// The list may be as old before as after; but while claims wait for machines, a newer one comes about for them.
		return 10 * time.Minute
	}
	return lookAge
}

// spread is by which part many templates are looked at later than one would be, so that they are not all at once.
const spread = 0.15
