package maasmachinetemplate

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// lookAge is how old a look at all machines may be, and how often one is taken. It is MAAS's heaviest answer, and hardware changes
	// seldom.
	lookAge = time.Hour
	// patience is how long that may take. A reconcile has a minute, and there must be time left to say what happened.
	patience = 45 * time.Second
)

// facts are what a template's status is made from.
type facts struct {
	asked offer  // what the spec asks for
	host  string // of MAAS, for messages
	// What MAAS has, if the spec leaves anything open.
	found         offer    // what each suitable machine offers at least
	architectures []string // of the suitable machines, as MAAS names them
	suitable      int      // how many there are
	scarcity      string   // why there is none
	err           error    // why that is not known; one of package maas
}

// observe looks at the spec, and at MAAS only if the spec leaves something open.
func (r *Reconciler) observe(ctx context.Context, spec infrav1.MaasMachineSpec) facts {
	seen := facts{asked: askedFor(spec), host: r.Host}
	if seen.asked.complete() {
		return seen
	}
	looking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	machines, err := r.Inventory.All(looking, lookAge)
	if err != nil {
		seen.err = err
		return seen
	}
	var known []maas.Machine
	for _, m := range machines {
		if isKnown(m) {
			known = append(known, m)
		}
	}
	suitable, why := placement.Suitable(known, placement.ConstraintsOf(spec))
	seen.suitable, seen.scarcity = len(suitable), why.Details()
	if len(known) == 0 {
		seen.scarcity = "MAAS shows the API key's user no machine that was commissioned: commission machines in MAAS, or give that user access to them"
	}
	seen.found, seen.architectures = smallest(suitable)
	return seen
}

// clusterOf returns the Cluster that a template is of, nil if there is none. Cluster API makes it the owner of templates that it uses, and
// labels those that it makes.
func (r *Reconciler) clusterOf(ctx context.Context, object *infrav1.MaasMachineTemplate) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.Client, object.ObjectMeta)
	if cluster == nil && err == nil && object.Labels[clusterv1.ClusterNameLabel] != "" {
		cluster, err = util.GetClusterFromMetadata(ctx, r.Client, object.ObjectMeta)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return cluster, err
}

// clusterToTemplates names the templates of a Cluster.
func (r *Reconciler) clusterToTemplates(ctx context.Context, cluster client.Object) []ctrl.Request {
	list := &infrav1.MaasMachineTemplateList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "Cannot list MaasMachineTemplates")
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		t := &list.Items[i]
		if t.Labels[clusterv1.ClusterNameLabel] == cluster.GetName() || ownedBy(t, cluster) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(t)})
		}
	}
	return requests
}

func ownedBy(object, cluster client.Object) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Cluster" && owner.UID == cluster.GetUID() {
			return true
		}
	}
	return false
}
