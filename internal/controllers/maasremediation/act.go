package maasremediation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
)

// writePatience is how long MAAS may take to switch the power: since 3.5 it answers when the BMC did.
const writePatience = 30 * time.Second

// brokenBecause is what MAAS shows of a machine that a remediation gave up.
const brokenBecause = "its Node did not become healthy by power cycles"

// act takes one step. The first error is what MAAS answered, and is for the plan to judge; the second is one of the management cluster, and ends
// the reconcile.
func (r *Reconciler) act(ctx context.Context, o *observation, s step) (failure, err error) {
	now := r.now()
	switch s := s.(type) {
	case beginCycle:
		if err := r.note(ctx, o, func(p *remediation.Progress) { p.Cycles, p.On = append(p.Cycles, now), nil }); err != nil {
			return nil, err
		}
		r.tell(o, corev1.EventTypeNormal, telemetry.RemediationStarted, "%s is unhealthy: %s is switched off and on again", o.ownerName(), o.machineName())
		return nil, nil
	case endOff:
		if err := r.note(ctx, o, func(p *remediation.Progress) { p.On = &now }); err != nil {
			return nil, err
		}
		r.tell(o, corev1.EventTypeNormal, telemetry.MachinePowerCycled, "%s is off, and is switched on again", o.machineName())
		return nil, nil
	case giveUp:
		return nil, r.giveUp(ctx, o, s.because)
	case takeBack:
		return nil, r.takeBack(ctx, o)
	case handOver:
		return nil, r.handOver(ctx, o)
	case removeFinalizer:
		return nil, r.letGo(ctx, o)
	}
	return r.switchPower(ctx, o, s), nil
}

// switchPower tells MAAS to switch a machine that the same reconcile saw as ours.
func (r *Reconciler) switchPower(ctx context.Context, o *observation, s step) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	id, comment := o.machine.SystemID, "CAPMAAS: remediation "+o.object.Namespace+"."+o.object.Name
	r.requests.note(client.ObjectKeyFromObject(o.object), asked{to: s.key(), when: r.now()})
	defer r.Inventory.Touched(id)
	if _, on := s.(powerOn); on {
		_, err := r.MAAS.PowerOn(ctx, id, comment)
		return err
	}
	m, err := r.MAAS.PowerOff(ctx, id, comment)
	if err == nil && m == nil {
		return errNoPowerControl
	}
	return err
}

// giveUp writes down why nothing more is tried, and what becomes of the machine when it is given back.
func (r *Reconciler) giveUp(ctx context.Context, o *observation, because remediation.Cause) error {
	p := o.progress()
	p.GaveUp = &remediation.GaveUp{At: r.now(), Because: because, Off: o.staysOff(because)}
	err := r.change(ctx, o, func(m *infrav1.MaasMachine) {
		p.Store(m)
		if _, is := m.Annotations[infrav1.MarkBrokenAnnotation]; !is && o.marksBroken(because) {
			m.Annotations[infrav1.MarkBrokenAnnotation] = brokenBecause
		}
	})
	if err == nil {
		r.tell(o, corev1.EventTypeWarning, telemetry.RemediationGaveUp, "%s", explain(*o, because))
	}
	return err
}

// takeBack undoes what giving up decided. What a person decided about the machine stays.
func (r *Reconciler) takeBack(ctx context.Context, o *observation) error {
	p, now := o.progress(), r.now()
	p.GaveUp, p.On = nil, &now
	return r.change(ctx, o, func(m *infrav1.MaasMachine) {
		p.Store(m)
		if m.Annotations[infrav1.MarkBrokenAnnotation] == brokenBecause {
			delete(m.Annotations, infrav1.MarkBrokenAnnotation)
		}
	})
}

// handOver sets the condition by which the owner of a Machine learns that it is to replace it, as a MachineHealthCheck without a template does.
func (r *Reconciler) handOver(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	helper, err := patch.NewHelper(o.owner, r.Client)
	if err != nil {
		return fmt.Errorf("prepare to write the Machine: %w", err)
	}
	after := o.owner.DeepCopy()
	conditions.Set(after, metav1.Condition{
		Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.MachineOwnerRemediatedWaitingForRemediationReason,
		Message: fmt.Sprintf("MaasRemediation %s gave up: waiting for remediation", o.object.Name),
	})
	if err := helper.Patch(ctx, after, patch.WithOwnedConditions{Conditions: []string{clusterv1.MachineOwnerRemediatedCondition}}); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the Machine: %w", err))
	}
	o.owner = after
	r.tell(o, corev1.EventTypeNormal, telemetry.ReplacementRequested, "Cluster API is to replace %s", o.ownerName())
	return nil
}

func (r *Reconciler) letGo(ctx context.Context, o *observation) error {
	before := o.object.DeepCopy()
	if !controllerutil.RemoveFinalizer(o.object, infrav1.RemediationFinalizer) {
		return nil
	}
	if err := r.Client.Patch(ctx, o.object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("remove the finalizer: %w", err))
	}
	return nil
}

// note writes down what was done.
func (r *Reconciler) note(ctx context.Context, o *observation, change func(*remediation.Progress)) error {
	p := o.progress()
	change(&p)
	return r.change(ctx, o, p.Store)
}

// change writes a change of the MaasMachine at once. It fails if that is not what we saw: decisions made from an old copy must not pass.
func (r *Reconciler) change(ctx context.Context, o *observation, change func(*infrav1.MaasMachine)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	after := o.target.DeepCopy()
	change(after)
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(o.target, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the MaasMachine: %w", err)
	}
	o.target = after
	return nil
}

// tell raises an event about the MaasRemediation, related to its Machine.
func (r *Reconciler) tell(o *observation, kind, reason, note string, args ...any) {
	var related runtime.Object
	if o.owner != nil {
		related = o.owner
	}
	r.Recorder.Eventf(o.object, related, kind, reason, telemetry.ActionRemediate, note, args...)
}
