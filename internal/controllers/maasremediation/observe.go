package maasremediation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// patience is how long one call may take.
const patience = 15 * time.Second

// ownerOf names the Machine that a MaasRemediation is for; "" if it says none.
func ownerOf(object *infrav1.MaasRemediation) string { return remediation.MachineOf(object) }

// observeObjects gathers what Kubernetes knows. What is missing stays nil; only a failed read is an error.
func (r *Reconciler) observeObjects(ctx context.Context, object *infrav1.MaasRemediation) (observation, error) {
	o := observation{now: r.now(), maasHost: r.MAAS.Host(), object: object, tried: map[string]error{}}
	name := ownerOf(object)
	if cluster := object.Labels[clusterv1.ClusterNameLabel]; cluster != "" {
		found := &clusterv1.Cluster{}
		there, err := r.get(ctx, object.Namespace, cluster, found)
		if err != nil {
			return o, err
		}
		if there {
			o.cluster = found
		}
	}
	if name == "" {
		return o, nil
	}
	owner := &clusterv1.Machine{}
	there, err := r.get(ctx, object.Namespace, name, owner)
	if err != nil || !there {
		return o, err
	}
	o.owner = owner
	if o.first, err = r.firstFor(ctx, object, name); err != nil {
		return o, err
	}
	ref := owner.Spec.InfrastructureRef
	if ref.Kind != "MaasMachine" || ref.APIGroup != infrav1.GroupVersion.Group {
		return o, nil
	}
	target := &infrav1.MaasMachine{}
	if there, err = r.get(ctx, object.Namespace, ref.Name, target); err != nil || !there {
		return o, err
	}
	o.target = target
	if o.controlPlane() && !o.deleting() {
		o.peer, err = r.busyPeer(ctx, &o)
	}
	return o, err
}

func (r *Reconciler) get(ctx context.Context, namespace, name string, into client.Object) (there bool, err error) {
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, into)
	if err == nil {
		return true, nil
	}
	if client.IgnoreNotFound(err) == nil {
		return false, nil
	}
	return false, fmt.Errorf("read %T %s: %w", into, name, err)
}

// firstFor finds another MaasRemediation for a Machine that goes first: the one that has the Machine's name, as those made by a
// MachineHealthCheck, else the first by name. So it is the same after a move.
func (r *Reconciler) firstFor(ctx context.Context, object *infrav1.MaasRemediation, machine string) (string, error) {
	list := &infrav1.MaasRemediationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(object.Namespace)); err != nil {
		return "", fmt.Errorf("list the MaasRemediations: %w", err)
	}
	first := object.Name
	for i := range list.Items {
		name := list.Items[i].Name
		if ownerOf(&list.Items[i]) == machine && first != machine && (name == machine || name < first) {
			first = name
		}
	}
	if first == object.Name {
		return "", nil
	}
	return first, nil
}

// busyPeer names another Machine of the control plane that is being switched off and on: an unhealthy one, whose power cycle began not long
// ago. It is asked of the API server, for a cache may not show what was written a moment ago.
func (r *Reconciler) busyPeer(ctx context.Context, o *observation) (string, error) {
	list := &infrav1.MaasMachineList{}
	labels := client.MatchingLabels{clusterv1.ClusterNameLabel: o.owner.Spec.ClusterName}
	if err := r.Reader.List(ctx, list, client.InNamespace(o.object.Namespace), labels, client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		return "", fmt.Errorf("list the machines of the control plane: %w", err)
	}
	for i := range list.Items {
		peer := &list.Items[i]
		if peer.Name == o.target.Name || !remediation.Of(peer).IsUnderWay(o.now, o.timeout()) {
			continue
		}
		machine := &clusterv1.Machine{}
		there, err := r.get(ctx, peer.Namespace, ownerMachineOf(peer), machine)
		if err != nil {
			return "", err
		}
		if there && conditions.IsFalse(machine, clusterv1.MachineHealthCheckSucceededCondition) {
			return machine.Name, nil
		}
	}
	return "", nil
}

func ownerMachineOf(m *infrav1.MaasMachine) string {
	for _, ref := range m.OwnerReferences {
		if ref.Kind == "Machine" {
			return ref.Name
		}
	}
	return m.Name
}

// matters says whether it matters what MAAS says.
func (o observation) matters() bool {
	if o.first != "" || o.leaving() || o.target.Spec.ProviderID == "" {
		return false
	}
	p := o.progress()
	if o.deleting() {
		return p.KeepsOff() || p.GaveUp != nil || p.On != nil && o.now.Sub(*p.On) < o.timeout()
	}
	if p.GaveUp != nil {
		return p.GaveUp.Off && !o.handedOver()
	}
	return o.unhealthy() || p.SwitchingOff() || p.IsUnderWay(o.now, o.timeout())
}

// observeMAAS reads what MAAS says of the machine. Nobody acts on what others read: each step is decided by a look of its own.
func (r *Reconciler) observeMAAS(ctx context.Context, o *observation) {
	o.now = r.now()
	o.asked = r.requests.of(client.ObjectKeyFromObject(o.object))
	o.unreadable, o.user, o.standing, o.machine = nil, "", unknown, nil
	if !o.matters() {
		return
	}
	user, err := r.Identity.User(ctx)
	if err != nil {
		o.unreadable = err
		return
	}
	o.user = user.Username
	if o.unreadable = r.look(ctx, o); o.unreadable == nil && o.standing == lost {
		// A verdict that cannot be taken back needs a second look, and so does who we are.
		if user, o.unreadable = r.whoAmI(ctx); o.unreadable == nil {
			o.user = user.Username
			o.unreadable = r.look(ctx, o)
		}
	}
}

func (r *Reconciler) whoAmI(ctx context.Context) (maas.User, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.MAAS.WhoAmI(ctx)
}

// look reads the machine, and judges whose it is. A deployed machine carries the claim as an annotation.
func (r *Reconciler) look(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id, readable := infrav1.SystemIDOf(o.target.Spec.ProviderID)
	token := o.target.Annotations[infrav1.ClaimAnnotation]
	if !readable || token == "" || o.target.Spec.SystemID != "" && o.target.Spec.SystemID != id {
		o.standing = unproven
		return nil
	}
	began := r.now()
	m, err := r.MAAS.Machine(ctx, id)
	switch {
	case errors.Is(err, maas.ErrNotFound), errors.Is(err, maas.ErrForbidden): // MAAS: another user's machine is forbidden
		r.Inventory.Touched(id)
		o.machine, o.standing = nil, o.ofUs(lost)
		return nil
	case err != nil:
		return err
	}
	r.Inventory.Learned(m, began)
	o.machine = m
	named := m.Annotations[infrav1.MachineAnnotationMachine] == o.target.Namespace+"."+o.target.Name
	switch claimed := m.Annotations[infrav1.MachineAnnotationClaim] == token; {
	case m.Owner != "" && m.Owner == o.user && claimed && named:
		o.standing = ours
	case m.Owner == o.user && m.Annotations[infrav1.MachineAnnotationClaim] == "":
		o.standing = unproven // its annotation may be missing; the MaasMachine's reconciler looks it up, and writes it again
	case claimed && named && m.Owner != "":
		o.standing = unproven // MAAS: a release wipes annotations, so nobody took it: our key is another user's than it was
	default:
		o.standing = o.ofUs(lost)
	}
	return nil
}

// ofUs takes a verdict back where another user of MAAS, or another MAAS, was asked for the machine: it may be there.
func (o observation) ofUs(verdict standing) standing {
	a := o.target.Annotations
	if cmp.Or(a[infrav1.UserAnnotation], o.user) != o.user || cmp.Or(a[infrav1.HostAnnotation], o.maasHost) != o.maasHost {
		return unproven
	}
	return verdict
}
