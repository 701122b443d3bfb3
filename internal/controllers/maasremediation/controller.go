// Package maasremediation reconciles MaasRemediations: it switches machines whose health check failed off and on again, and hands those that
// this does not heal to Cluster API for replacement.
package maasremediation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicontroller "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasremediations,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasremediations/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasremediations/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machines,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines/status,verbs=patch

// Reconciler reconciles MaasRemediations. It has to be run one at a time: of a control plane's machines one goes after the other.
type Reconciler struct {
	Client client.Client
	// Reader reads from the API server itself, for what a cache may not show yet.
	Reader    client.Reader
	MAAS      *maas.Client
	Identity  *identity.Identity
	Inventory *inventory.Inventory
	Recorder  events.EventRecorder
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	requests requests
}

// maxSteps is how many steps one reconcile takes at most: enough for all that can follow at once.
const maxSteps = 8

// SetupWithManager starts the controller with the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	logger := mgr.GetLogger().WithName("maasremediation")
	_, err := capicontroller.NewControllerManagedBy(mgr, logger).
		For(&infrav1.MaasRemediation{}, builder.WithPredicates(predicates.ResourceHasFilterLabel(mgr.GetScheme(), logger, r.WatchFilter))).
		// A Machine tells of its health in its status.
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(r.ofMachine)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.ofCluster)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Build(ctx, r)
	if err != nil {
		return fmt.Errorf("set up the MaasRemediation controller: %w", err)
	}
	return nil
}

// ofMachine finds the MaasRemediations of a Machine.
func (r *Reconciler) ofMachine(ctx context.Context, machine client.Object) []ctrl.Request {
	return r.requestsOf(ctx, machine.GetNamespace(), func(m *infrav1.MaasRemediation) bool { return ownerOf(m) == machine.GetName() })
}

// ofCluster finds the MaasRemediations of a Cluster, which may be paused, or not any more.
func (r *Reconciler) ofCluster(ctx context.Context, cluster client.Object) []ctrl.Request {
	return r.requestsOf(ctx, cluster.GetNamespace(), func(m *infrav1.MaasRemediation) bool {
		return m.Labels[clusterv1.ClusterNameLabel] == cluster.GetName()
	})
}

func (r *Reconciler) requestsOf(ctx context.Context, namespace string, matches func(*infrav1.MaasRemediation) bool) []ctrl.Request {
	list := &infrav1.MaasRemediationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil // the next look, within a minute, makes up for it
	}
	var all []ctrl.Request
	for i := range list.Items {
		if matches(&list.Items[i]) {
			all = append(all, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return all
}

// Reconcile brings one remediation further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.MaasRemediation{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			r.requests.forget(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if added, err := finalizers.EnsureFinalizer(ctx, r.Client, object, infrav1.RemediationFinalizer); err != nil || added {
		return ctrl.Result{}, err
	}
	o, err := r.observeObjects(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	if o.cluster != nil {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("Cluster", klog.KObj(o.cluster)))
	}
	if isPaused, requeue, err := paused.EnsurePausedCondition(ctx, r.Client, o.cluster, object); err != nil || isPaused || requeue {
		return ctrl.Result{}, err
	}
	return r.reconcile(ctx, &o)
}

// reconcile looks, decides and acts, step by step, until there is something to wait for; then it tells.
func (r *Reconciler) reconcile(ctx context.Context, o *observation) (ctrl.Result, error) {
	last := wait{after: time.Second}
	var failed error
	for range maxSteps {
		r.observeMAAS(ctx, o)
		s := next(*o)
		if w, waits := s.(wait); waits {
			last = w
			break
		}
		if again, _ := o.did(s); again {
			break // it shows no effect yet, so it would be asked for ever
		}
		failure, err := r.act(ctx, o, s)
		r.log(ctx, s, failure)
		o.tried[s.key()] = failure
		if _, ended := s.(removeFinalizer); ended && err == nil {
			r.requests.forget(client.ObjectKeyFromObject(o.object))
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
	return ctrl.Result{RequeueAfter: apiwait.Jitter(max(last.after, time.Second), 0.1)}, nil
}

// writeStatus tells users what was found.
func (r *Reconciler) writeStatus(ctx context.Context, o *observation, last wait) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	before := o.object.DeepCopy()
	o.object.Status = statusOf(*o, last)
	if equality.Semantic.DeepEqual(before.Status, o.object.Status) {
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

func (r *Reconciler) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// requests remembers how the power was switched last, for all objects. Nothing else depends on it: who forgets asks again sooner.
type requests struct {
	mu   sync.Mutex
	last map[client.ObjectKey]asked
}

func (r *requests) of(key client.ObjectKey) asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last[key]
}

func (r *requests) note(key client.ObjectKey, a asked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[client.ObjectKey]asked{}
	}
	r.last[key] = a
}

func (r *requests) forget(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, key)
}
