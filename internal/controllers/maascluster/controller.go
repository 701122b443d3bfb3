// Package maascluster reconciles MaasClusters: it publishes the control plane's endpoint and says how the cluster's
// infrastructure is.
package maascluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/annotations"
	capicontroller "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/compatibility"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasclusters,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasclusters/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines;maasmachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch;update

// Reconciler reconciles MaasClusters.
type Reconciler struct {
	Client       client.Client
	Endpoint     *endpoint.Publisher
	Identity     *identity.Identity
	Checks       *checks.Checks
	Names        *checks.Names
	ClusterCache clustercache.ClusterCache
	Recorder     events.EventRecorder
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
	// Suffix draws the end of a record's name, and Mark what its mark is known by; nil means those of package endpoint.
	Suffix, Mark func() string
	// Jitter draws by how much a wait is longer, by a part of it at most; nil means wait.Jitter.
	Jitter func(wait time.Duration, part float64) time.Duration
}

// SetupWithManager starts the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	logger := mgr.GetLogger().WithName("maascluster")
	scheme := mgr.GetScheme()
	kind := infrav1.GroupVersion.WithKind("MaasCluster")
	ofCluster := clusterToMaasCluster(kind.GroupKind())
	resolved := make(chan event.GenericEvent, maxRaised)
	r.Names.Changed = raiseInto(resolved)
	_, err := capicontroller.NewControllerManagedBy(mgr, logger).
		For(&infrav1.MaasCluster{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(scheme, logger, r.WatchFilter),
			predicates.ResourceIsNotExternallyManaged(scheme, logger),
		)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster),
			predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, controlPlaneInitialized())).
		Watches(&infrav1.MaasMachine{}, handler.EnqueueRequestsFromMapFunc(r.memberToMaasCluster), machineMoved()).
		Watches(&infrav1.MaasMachineTemplate{}, handler.EnqueueRequestsFromMapFunc(r.memberToMaasCluster), predicate.GenerationChangedPredicate{}).
		WatchesRawSource(source.Channel(resolved, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(r.ClusterCache.GetClusterSource("maascluster", ofCluster)).
		WithOptions(options).
		Build(ctx, r)
	if err != nil {
		return fmt.Errorf("set up the MaasCluster controller: %w", err)
	}
	return nil
}

// Reconcile brings one MaasCluster nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.MaasCluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			r.Names.Forget(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if annotations.IsExternallyManaged(object) {
		return ctrl.Result{}, nil
	}
	cluster, err := r.ownerCluster(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	if cluster != nil {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("Cluster", klog.KObj(cluster)))
	}
	if added, err := finalizers.EnsureFinalizer(ctx, r.Client, object, infrav1.ClusterFinalizer); err != nil || added {
		return ctrl.Result{}, err
	}
	if err := r.mend(ctx, object); err != nil {
		return ctrl.Result{}, err
	}
	if isPaused, requeue, err := paused.EnsurePausedCondition(ctx, r.Client, cluster, object); err != nil || isPaused || requeue {
		return ctrl.Result{}, err
	}
	return r.reconcile(ctx, object, cluster)
}

// mend brings a status that an earlier provider stored into the shapes of today. Failure domains were a map; an object that has
// some, and whose kind of endpoint is not written down, is of that time.
func (r *Reconciler) mend(ctx context.Context, object *infrav1.MaasCluster) error {
	var also map[string]any
	if object.Spec.ControlPlaneEndpointKind == "" && len(object.Status.FailureDomains) > 0 {
		also = map[string]any{"failureDomains": object.Status.FailureDomains}
	}
	return compatibility.MendStatus(ctx, r.Client, object, ownedConditions, also)
}

// reconcile looks, decides, acts and tells.
func (r *Reconciler) reconcile(ctx context.Context, object *infrav1.MaasCluster, cluster *clusterv1.Cluster) (ctrl.Result, error) {
	seen, err := r.observe(ctx, object, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	step := plan(seen)
	// What cannot be found out again is written down before anything is done with it.
	if choice, ok := step.(writeChoice); ok {
		return r.writeDown(ctx, object, choice, seen.name)
	}
	helper, err := patch.NewHelper(object, r.Client)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("prepare the patch: %w", err)
	}
	before := object.DeepCopy()
	done := r.act(ctx, object, step, seen)
	if errors.Is(ctx.Err(), context.Canceled) && !done.released {
		// The manager ends. That it cut its own calls off says nothing of MAAS.
		return ctrl.Result{}, nil
	}
	also := r.check(ctx, object, seen, done)
	setStatus(object, seen, done, also)
	r.tell(object, before, done)
	if done.released {
		controllerutil.RemoveFinalizer(object, infrav1.ClusterFinalizer)
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), writePatience)
	defer cancel()
	err = helper.Patch(writing, object, patch.WithOwnedConditions{Conditions: ownedConditions})
	if done.released && apierrors.IsNotFound(err) {
		err = nil // it went with its finalizer, before the status was written
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write the MaasCluster: %w", err)
	}
	if done.err != nil {
		log.FromContext(ctx).Info("The endpoint is not as it should be", "reason", done.err.Error())
	}
	return ctrl.Result{RequeueAfter: r.jitter(nextLook(seen, done, also))}, nil
}

func (r *Reconciler) jitter(d time.Duration) time.Duration {
	if r.Jitter != nil {
		return r.Jitter(d, spread)
	}
	return wait.Jitter(d, spread)
}

// writePatience is how long the API server may take to store what was done, even if the reconcile's time is up.
const writePatience = 10 * time.Second

// nextLook says when to look again without being told to.
func nextLook(seen facts, done outcome, also checked) time.Duration {
	switch {
	case done.released:
		return 0
	case done.err != nil || seen.region.Err != nil:
		return 15 * time.Second
	case done.waits:
		// What is waited for raises a reconcile; this is for what was missed.
		return 30 * time.Second
	case also.lacks() && !seen.initialized:
		// Somebody waits for the cluster, and mends what is missing.
		return 30 * time.Second
	case also.lacks():
		return time.Minute
	}
	return atRest
}

// atRest is how often a cluster is looked at with which nothing is wrong. It takes one request to MAAS.
const atRest = 5 * time.Minute

// spread is by which part many clusters are looked at later than one would be, so that they are not all at once.
const spread = 0.15
