package maasmachine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// hook makes the Machine wait for us before its infrastructure is deleted.
func (r *Reconciler) hook(ctx context.Context, o *observation) error {
	after := o.owner.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, infrav1.EndpointHookAnnotation, "capmaas")
	return r.writeOwner(ctx, o, after)
}

// unhook ends that.
func (r *Reconciler) unhook(ctx context.Context, o *observation) error {
	after := o.owner.DeepCopy()
	delete(after.Annotations, infrav1.EndpointHookAnnotation)
	return r.writeOwner(ctx, o, after)
}

// writeOwner writes one annotation, whatever else changed in the Machine meanwhile. One that is gone waits for nobody.
func (r *Reconciler) writeOwner(ctx context.Context, o *observation, after *clusterv1.Machine) error {
	if err := r.Client.Patch(ctx, after, client.MergeFrom(o.owner)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the Machine: %w", err)
	}
	o.owner = after
	return nil
}

// noteLeft writes down when the machine left the record. If it is not known how long resolvers keep what they had then, they do as
// records of ours say.
func (r *Reconciler) noteLeft(ctx context.Context, o *observation, keptFor time.Duration) error {
	// The note has whole seconds; it is not to say that the machine left sooner than it did.
	left := departure{at: r.now().Add(time.Second), keptFor: cmp.Or(keptFor, endpoint.KeptFor)}
	return r.change(ctx, o, func(m *infrav1.MaasMachine) { setAnnotation(m, infrav1.LeftEndpointAnnotation, left.String()) })
}

// observeSiblings looks at the other machines of the control plane, for one that leaves it.
func (r *Reconciler) observeSiblings(ctx context.Context, o *observation) error {
	if o.deleting() || !o.leaving() || !o.controlPlane() {
		return nil
	}
	machines := &clusterv1.MachineList{}
	err := r.Client.List(ctx, machines, client.InNamespace(o.object.Namespace), client.MatchingLabels{
		clusterv1.ClusterNameLabel: o.object.Labels[clusterv1.ClusterNameLabel],
	}, client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return fmt.Errorf("list the control plane's Machines: %w", err)
	}
	o.siblings = siblingsOf(o.owner, machines.Items)
	return nil
}

// siblingsOf compares a Machine that is being deleted with the others. Cluster API takes those first that were deleted first.
func siblingsOf(owner *clusterv1.Machine, machines []clusterv1.Machine) siblings {
	slices.SortFunc(machines, func(a, b clusterv1.Machine) int { return cmp.Compare(a.Name, b.Name) })
	var s siblings
	for i := range machines {
		m := &machines[i]
		switch {
		case m.Name == owner.Name:
		case m.DeletionTimestamp.IsZero():
			s.successor = true
		case s.earlier == "" && isEarlier(m, owner):
			s.earlier = m.Name
		}
	}
	return s
}

func isEarlier(a, b *clusterv1.Machine) bool {
	if a.DeletionTimestamp.Equal(b.DeletionTimestamp) {
		return a.Name < b.Name
	}
	return a.DeletionTimestamp.Before(b.DeletionTimestamp)
}

// lookUpPatience is how long a look-up may take.
const lookUpPatience = 3 * time.Second

// stillAnswered asks for the name as everybody in the management cluster does, once it is time that the address is gone. Where there
// is no answer nothing is known, and nobody waits for that.
func (r *Reconciler) stillAnswered(ctx context.Context, o *observation, host string) bool {
	left, noted := o.leftEndpoint()
	if r.LookUp == nil || !o.hooked() || o.deleting() || !noted || o.now.Before(left.over()) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpPatience)
	defer cancel()
	addresses, err := r.LookUp(ctx, host)
	return err == nil && slices.Contains(addresses, o.address())
}

// unhookOrphans lets Machines go whose MaasMachine is gone: nobody else would.
func (r *Reconciler) unhookOrphans(ctx context.Context, gone client.ObjectKey) error {
	machines := &clusterv1.MachineList{}
	if err := r.Client.List(ctx, machines, client.InNamespace(gone.Namespace), client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		return fmt.Errorf("list the Machines of control planes: %w", err)
	}
	for i := range machines.Items {
		m := &machines.Items[i]
		o := observation{owner: m}
		if ref := m.Spec.InfrastructureRef; m.DeletionTimestamp.IsZero() || !o.hooked() || ref.Kind != "MaasMachine" || ref.Name != gone.Name {
			continue
		}
		if err := r.unhook(ctx, &o); err != nil {
			return err
		}
	}
	return nil
}
