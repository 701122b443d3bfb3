// Package maasmachine reconciles MaasMachines: it claims a machine in MAAS for each, deploys it, links its Node to it, and gives
// it back.
package maasmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
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
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/compatibility"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasmachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;patch
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
	Inventory    *inventory.Inventory
	Reservations *placement.Reservations
	// Checks say whether MAAS has an image; nil knows of none that is missing.
	Checks *checks.Checks
	// Rejoin tells of DNS records that lost addresses; nil tells of none.
	Rejoin       Rejoin
	ClusterCache clustercache.ClusterCache
	Recorder     events.EventRecorder
	// WatchFilter limits what is reconciled to objects with this value of Cluster API's watch-filter label; "" does not.
	WatchFilter string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// LookUp resolves the name of a control plane to addresses, as processes in the management cluster do; nil means that nobody is asked
	// whether an address that left the record is still answered.
	LookUp func(ctx context.Context, host string) ([]string, error)
	// Probe asks whether an API server answers at an address; nil means a TLS handshake.
	Probe func(ctx context.Context, address string, port int32) bool
	// Token draws what makes a claim unique; nil means rand.Text.
	Token func() string
	// Jitter draws by how much a wait is longer, by a part of it at most; nil means wait.Jitter.
	Jitter func(wait time.Duration, part float64) time.Duration

	controller capicontroller.Controller // for watches in workload clusters
	searches   searches
	warnings   warnings
	retries    retries
	region     region
	maxSteps   int // 0 means defaultMaxSteps
}

// defaultMaxSteps is how many steps one reconcile takes at most: enough for all that a new machine needs.
const defaultMaxSteps = 12

// Reconcile brings one MaasMachine nearer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.MaasMachine{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return ctrl.Result{}, r.unhookOrphans(ctx, request.NamespacedName)
		}
		return ctrl.Result{}, err
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
		s := r.decide(ctx, o)
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
		failure, err := r.take(ctx, o, s)
		r.log(ctx, s, failure)
		o.tried[s.key()] = failure
		if _, ended := s.(removeFinalizer); ended && err == nil {
			r.forget(client.ObjectKeyFromObject(o.object))
			return ctrl.Result{}, nil
		}
		if err != nil {
			failed = err
			break
		}
	}
	r.follow(o, last)
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
	// What the shared view raised came before the rest of the queue. The next look on our own does not.
	return ctrl.Result{RequeueAfter: r.jitter(o.rest(last)), Priority: new(0)}, nil
}

// decide looks, and chooses the next step. The view that all share is good for waiting: before anything is done, MAAS itself is
// looked at.
func (r *Reconciler) decide(ctx context.Context, o *observation) step {
	r.observeWorld(ctx, o)
	s := next(*o)
	if _, waits := s.(wait); waits || o.direct {
		return s
	}
	o.direct = true
	r.observeWorld(ctx, o)
	return next(*o)
}

// follow says which machine the object cares for, so that the shared view wakes it, and gives back what no claim needs any more.
func (r *Reconciler) follow(o *observation, last wait) {
	key := client.ObjectKeyFromObject(o.object)
	if o.attempt().systemID == "" {
		r.Reservations.Release(key)
	}
	switch {
	case o.systemID() != "":
		r.searches.forget(key)
		r.Inventory.Follow(key, o.systemID(), o.pace())
	case last.reason == infrav1.NoMachineAvailableReason:
		r.Inventory.Await(key)
	default:
		r.Inventory.Forget(key)
	}
}

// forget drops what is remembered of an object that is gone.
func (r *Reconciler) forget(key client.ObjectKey) {
	r.Inventory.Forget(key)
	r.searches.forget(key)
	r.warnings.forget(key)
	r.retries.forget(key)
	r.Reservations.Release(key)
}

// pace is how closely the machine is to be followed.
func (o observation) pace() inventory.Pace {
	if o.standing != holdsOurs {
		return inventory.Settled
	}
	if o.deleting() || !o.provisioned() && (stateOf(o.machine).deploy != failed || !o.isLast()) {
		return inventory.Moving
	}
	return inventory.Settled
}

// rest is how long to wait before looking again. One whose machine the shared view shows is woken by that, so it looks less often
// by itself; but nobody tells when a grace time is over, or when an API server begins to serve.
func (o observation) rest(last wait) time.Duration {
	woken := !o.direct && o.machine != nil
	isOff := o.machine != nil && o.provisioned() && o.machine.PowerState != maas.PowerOn
	joins := o.dns.managed && !o.dns.attached && !o.leaving()
	if woken && !isOff && !joins && !last.timed {
		return 5 * last.after
	}
	return last.after
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

func (r *Reconciler) jitter(d time.Duration) time.Duration {
	if r.Jitter != nil {
		return r.Jitter(d, spread)
	}
	return apiwait.Jitter(d, spread)
}

// spread is by which part many machines are looked at later than one would be, so that they are not all at once.
const spread = 0.15
