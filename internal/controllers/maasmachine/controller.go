// Package maasmachine reconciles MaasMachines: it claims a machine in MAAS for each, deploys it, links its Node to it, and gives
// it back.
package maasmachine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	capicontroller "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/paused"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/compatibility"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch;update

// Reconciler reconciles MaasMachines.
type Reconciler struct {
	// Client talks to the management cluster. It must not cache Secrets that hold bootstrap data.
	Client       client.Client
	MAAS         *maas.Client
	Endpoint     *endpoint.Publisher
	Identity     *identity.Identity
	ClusterCache clustercache.ClusterCache
	Recorder     events.EventRecorder
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Probe asks whether an API server answers at an address; nil means a TLS handshake.
	Probe func(ctx context.Context, address string, port int32) bool

	controller capicontroller.Controller // for watches in workload clusters
	wide       wideView
	maxSteps   int // 0 means defaultMaxSteps
}

// defaultMaxSteps is how many steps one reconcile takes at most: enough for all that a new machine needs.
const defaultMaxSteps = 12

// Reconcile brings one MaasMachine nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.MaasMachine{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if added, err := finalizers.EnsureFinalizer(ctx, r.Client, object, infrav1.MachineFinalizer); err != nil || added {
		return ctrl.Result{}, err
	}
	o, err := r.observeObjects(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	if o.cluster != nil {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("Cluster", klog.KObj(o.cluster)))
	}
	if err := compatibility.MendStatus(ctx, r.Client, object, ownedConditions, nil); err != nil {
		return ctrl.Result{}, err
	}
	if isPaused, requeue, err := paused.EnsurePausedCondition(ctx, r.Client, o.cluster, object); err != nil || isPaused || requeue {
		return ctrl.Result{}, err
	}
	return r.reconcile(ctx, &o)
}

// reconcile looks, decides and acts, step by step, until there is something to wait for; then it tells.
func (r *Reconciler) reconcile(ctx context.Context, o *observation) (ctrl.Result, error) {
	var last wait
	var failed error
	for range r.steps() {
		r.observeWorld(ctx, o)
		s := next(*o)
		w, waits := s.(wait)
		if waits {
			last = w
			break
		}
		if again, _ := o.did(s); again {
			// It was done and shows no effect. Whoever asks again at once would ask for ever.
			last = wait{after: releasing}
			break
		}
		last = wait{after: time.Second}
		failure, err := r.act(ctx, o, s)
		r.log(ctx, s, failure)
		o.tried[s.key()] = failure
		if _, ended := s.(removeFinalizer); ended && err == nil {
			return ctrl.Result{}, nil
		}
		if err != nil {
			failed = err
			break
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		// The manager ends. That it cut its own calls off says nothing of MAAS.
		return ctrl.Result{}, nil
	}
	if err := r.writeStatus(ctx, o, last); err != nil && failed == nil {
		failed = err
	}
	if apierrors.IsConflict(failed) {
		return ctrl.Result{RequeueAfter: time.Second}, nil // decided from an old copy; the new one is on its way
	}
	if failed != nil {
		return ctrl.Result{}, failed
	}
	return ctrl.Result{RequeueAfter: jitter(last.after)}, nil
}

// writeStatus tells users what was found.
func (r *Reconciler) writeStatus(ctx context.Context, o *observation, last wait) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	before := o.object.DeepCopy()
	status, err := statusOf(*o, last)
	if err != nil {
		return fmt.Errorf("summarise the conditions: %w", err)
	}
	o.object.Status = status
	r.tellChanges(o, before)
	if equality.Semantic.DeepEqual(before.Status, status) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, o.object, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status: %w", err))
	}
	return nil
}

func (r *Reconciler) log(ctx context.Context, s step, failure error) {
	if failure != nil {
		log.FromContext(ctx).Info("A step did not succeed", "step", s.key(), "reason", failure.Error())
		return
	}
	log.FromContext(ctx).V(2).Info("Took a step", "step", s.key())
}

func (r *Reconciler) steps() int {
	if r.maxSteps > 0 {
		return r.maxSteps
	}
	return defaultMaxSteps
}

func (r *Reconciler) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// machines is how machines are looked at.
func (r *Reconciler) machines() reader { return r.MAAS }

// jitter spreads many machines over time.
func jitter(d time.Duration) time.Duration {
	if d <= time.Second {
		return d
	}
	return d - d/10 + rand.N(d/5)
}
