package maasmachine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// take takes one step, and drops what was seen before if that may show it now.
func (r *Reconciler) take(ctx context.Context, o *observation, s step) (failure, err error) {
	if !showsElsewhere(s) {
		o.current = false
	}
	failure, err = r.act(ctx, o, s)
	if id := machineOf(s, *o); id != "" {
		r.Inventory.Touched(id)
	}
	return failure, err
}

// act takes one step. The first error is what MAAS or a workload cluster answered, and is for the plan to judge; the second is
// one of the management cluster, and ends the reconcile.
func (r *Reconciler) act(ctx context.Context, o *observation, s step) (failure, err error) {
	switch s := s.(type) {
	case ensureClaim:
		return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) {
			setAnnotation(m, infrav1.ClaimAnnotation, newToken(r.now(), r.drawToken()))
		})
	case beginClaim:
		return nil, r.beginAttempt(ctx, o, s.systemID)
	case beginDeploy, deployTaken, noteReturn, giveUp, forgetMachine:
		return nil, r.noteDeployment(ctx, o, s)
	case endAttempt:
		return nil, r.endAttempt(ctx, o)
	case noteExtra:
		return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) { addExtra(m, s.systemID) })
	case dropExtra:
		return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) { dropExtraOf(m, s.systemID) })
	case noteWhere:
		return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) {
			setAnnotation(m, infrav1.HostAnnotation, o.maasHost)
			if m.Annotations[infrav1.UserAnnotation] == "" {
				setAnnotation(m, infrav1.UserAnnotation, o.user)
			}
		})
	case claim:
		return r.claim(ctx, o, s.systemID)
	case adopt:
		if err := r.store(ctx, o, s.systemID); err != nil {
			return nil, err
		}
		r.tell(o, normal, telemetry.MachineAdopted, telemetry.ActionClaim, "machine %s in MAAS %s was found by its claim", s.systemID, o.maasHost)
		return nil, nil
	case setProviderID:
		err := r.change(ctx, o, func(m *infrav1.MaasMachine) {
			m.Spec.ProviderID = s.providerID
			delete(m.Annotations, infrav1.DeployAttemptsAnnotation)
		})
		if err != nil {
			return nil, err
		}
		r.tell(o, normal, telemetry.Deployed, telemetry.ActionDeploy, "the image runs on %s", o.nameOf(o.machine))
		return nil, nil
	case deploy:
		return r.deploy(ctx, o)
	case avoid:
		return r.avoid(ctx, o, s)
	case noteLeft:
		return nil, r.noteLeft(ctx, o, s.keptFor)
	case removeFinalizer:
		return nil, r.letGo(ctx, o, s.because)
	}
	return r.actOutside(ctx, o, s), nil
}

func (r *Reconciler) drawToken() string {
	if r.Token != nil {
		return r.Token()
	}
	return rand.Text()
}

// actOutside takes the steps that change something in MAAS, in a workload cluster or in the Machine, and nothing in the object.
func (r *Reconciler) actOutside(ctx context.Context, o *observation, s step) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	switch s := s.(type) {
	case annotate:
		return r.write(ctx, o, s.systemID, o.annotations())
	case release:
		return r.giveBack(ctx, o, s.systemID)
	case switchOff, markBroken:
		return r.takeOut(ctx, o, s)
	case abort:
		_, err := r.MAAS.Abort(ctx, s.systemID, comment(o))
		return err
	case powerOn:
		return r.powerOn(ctx, o)
	case joinDNS:
		return r.join(ctx, o, s.address)
	case leaveDNS:
		return r.leave(ctx, o)
	case hookMachine:
		return r.hook(ctx, o)
	case unhookMachine:
		return r.unhook(ctx, o)
	case linkNode:
		err := r.linkNodeOf(ctx, o)
		if err == nil {
			r.tell(o, normal, telemetry.NodeLinked, telemetry.ActionLinkNode, "Node %s is %s", o.node.node.Name, o.nameOf(o.machine))
		}
		return err
	case markAbandoned:
		return r.write(ctx, o, s.systemID, map[string]string{infrav1.MachineAnnotationAbandoned: o.abandonReason()})
	case markKept:
		return r.write(ctx, o, s.systemID, map[string]string{
			infrav1.MachineAnnotationKept: "the deployment for MaasMachine " + nameInMAAS(o.object) + " failed: release it when it was looked at",
		})
	}
	return fmt.Errorf("no such step: %s", s.key())
}

// claim allocates one machine for the object's claim.
func (r *Reconciler) claim(ctx context.Context, o *observation, systemID string) (failure, err error) {
	asking, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	want := o.constraints()
	m, failure := r.MAAS.Allocate(asking, maas.AllocateParams{
		SystemID: systemID, AgentName: o.token(), Comment: comment(o),
		// The machine was seen to have these. It may have been moved since, and some of them only MAAS can check.
		Zone: want.Zone, Pool: want.Pool, Tags: want.Tags, NotTags: want.NotTags,
		Storage: want.Storage, Interfaces: want.Interfaces, Subnets: want.Subnets,
	})
	switch {
	case failure == nil && m.SystemID == systemID:
		if err := r.store(ctx, o, systemID); err != nil {
			return nil, err
		}
		o.answered = m
		note := ""
		if o.avoided()(*m) != avoidance.No {
			note = ", though a deployment failed on it a short while ago: nothing else fits"
		}
		r.tell(o, normal, telemetry.MachineAllocated, telemetry.ActionClaim, "allocated %s%s", o.nameOf(m), note)
		return nil, nil
	case failure == nil:
		// Not the machine that was asked for: it is found by its claim, and judged there.
		return nil, r.change(ctx, o, dropAttempt)
	case refused(failure):
		// MAAS said no, once and for all. If an earlier request took effect, the claim finds its machine.
		return failure, r.endAttempt(ctx, o)
	}
	return failure, nil
}

// refused says that MAAS said no, so that a request has no effect.
func refused(failure error) bool {
	return errors.Is(failure, maas.ErrConflict) || errors.Is(failure, maas.ErrInvalid) || errors.Is(failure, maas.ErrForbidden) ||
		errors.Is(failure, maas.ErrNotFound)
}

// write annotates a machine of ours.
func (r *Reconciler) write(ctx context.Context, o *observation, systemID string, annotations map[string]string) (err error) {
	o.answered, err = r.MAAS.SetWorkloadAnnotations(ctx, systemID, annotations)
	return err
}

// store writes down which machine is ours, and ends the attempt to get one.
func (r *Reconciler) store(ctx context.Context, o *observation, systemID string) error {
	return r.change(ctx, o, func(m *infrav1.MaasMachine) {
		m.Spec.SystemID = systemID
		setWhere(m, o.maasHost, o.user)
		dropExtraOf(m, systemID)
		dropAttempt(m)
	})
}

// beginAttempt writes down which machine is about to be asked for.
func (r *Reconciler) beginAttempt(ctx context.Context, o *observation, systemID string) error {
	return r.change(ctx, o, func(m *infrav1.MaasMachine) {
		setAttempt(m, systemID, r.now())
		setWhere(m, o.maasHost, o.user)
	})
}

// endAttempt removes what stands of a request that got nothing.
func (r *Reconciler) endAttempt(ctx context.Context, o *observation) error {
	return r.change(ctx, o, func(m *infrav1.MaasMachine) {
		dropAttempt(m)
		if m.Spec.SystemID == "" {
			dropWhere(m)
		}
	})
}

// ourBlock is the value of a block-move annotation that we set, and may remove.
const ourBlock = "capmaas: a claim is being made"

func setAttempt(m *infrav1.MaasMachine, systemID string, now time.Time) {
	setAnnotation(m, infrav1.ClaimAttemptAnnotation, systemID+" "+now.UTC().Format(time.RFC3339))
	if _, blocked := m.Annotations[clusterctlv1.BlockMoveAnnotation]; !blocked {
		setAnnotation(m, clusterctlv1.BlockMoveAnnotation, ourBlock)
	}
}

func dropAttempt(m *infrav1.MaasMachine) {
	delete(m.Annotations, infrav1.ClaimAttemptAnnotation)
	if m.Annotations[clusterctlv1.BlockMoveAnnotation] == ourBlock {
		delete(m.Annotations, clusterctlv1.BlockMoveAnnotation)
	}
}

func (r *Reconciler) release(ctx context.Context, o *observation, systemID string, params maas.ReleaseParams) error {
	_, err := r.MAAS.Release(ctx, systemID, params)
	if err == nil {
		r.tell(o, normal, telemetry.ReleaseStarted, telemetry.ActionRelease, "MAAS %s releases machine %s", o.maasHost, systemID)
	}
	return err
}

func (r *Reconciler) join(ctx context.Context, o *observation, address string) error {
	record, ok := endpoint.RecordOf(o.infra)
	if !ok {
		return errors.New("the control plane has no DNS record of ours")
	}
	state, err := r.Endpoint.Join(ctx, record, address)
	if err == nil && len(state.Added) > 0 {
		r.tell(o, normal, telemetry.DNSAttached, telemetry.ActionPublishEndpoint, "%s is in %s", address, record.FQDN())
	}
	return err
}

func (r *Reconciler) leave(ctx context.Context, o *observation) error {
	record, ok := endpoint.RecordOf(o.infra)
	if !ok {
		return nil
	}
	var addresses []string
	if address := o.address(); address != "" {
		addresses = append(addresses, address)
	}
	state, err := r.Endpoint.Leave(ctx, record, o.systemID(), addresses...)
	if err == nil && len(state.Removed) > 0 {
		o.keptFor = max(state.TTL, endpoint.KeptFor)
		r.tell(o, normal, telemetry.DNSDetached, telemetry.ActionPublishEndpoint, "%s left %s", strings.Join(state.Removed, ", "), record.FQDN())
	}
	return err
}

// letGo removes our finalizers, and that of the provider before this one.
func (r *Reconciler) letGo(ctx context.Context, o *observation, because ending) error {
	err := r.change(ctx, o, func(m *infrav1.MaasMachine) {
		controllerutil.RemoveFinalizer(m, infrav1.MachineFinalizer)
		controllerutil.RemoveFinalizer(m, infrav1.EvacuationFinalizer)
	})
	if err != nil {
		return err
	}
	switch because {
	case released:
		r.tell(o, normal, telemetry.Released, telemetry.ActionRelease, "%s in MAAS %s is released", o.storedName(), o.maasHost)
	case gone:
		r.tell(o, warning, telemetry.MachineLost, telemetry.ActionRelease, "MAAS %s has no %s any more: nothing is left to release", o.maasHost, o.storedName())
	case notOurs:
		r.tell(o, warning, telemetry.MachineLost, telemetry.ActionRelease, "%s in MAAS %s %s: nothing is left to release", o.storedName(), o.maasHost, o.whose())
	case kept:
		r.tell(o, warning, telemetry.Kept, telemetry.ActionRelease, "the deployment of %s failed, and it is kept: look at %s, and release it there",
			o.nameOf(o.machine), o.page)
	case beingErased:
		r.tell(o, normal, telemetry.Released, telemetry.ActionRelease, "MAAS %s erases the disks of %s, and frees it when that is done", o.maasHost, o.storedName())
	case moved:
		r.tell(o, normal, telemetry.MovedAway, telemetry.ActionRelease, "%s in MAAS %s is left to the management cluster that this object was moved to",
			o.storedName(), o.maasHost)
	case abandoned:
		r.tell(o, warning, telemetry.Abandoned, telemetry.ActionRelease, "%s in MAAS %s was abandoned, not released: %s",
			o.abandonedName(), o.maasHost, o.abandonReason())
	}
	return nil
}

// change writes a change of the object's metadata or spec at once. It fails if the object is not what we saw: decisions made
// from an old copy must not pass. What a call to MAAS just led to is written even if the reconcile's time is up.
func (r *Reconciler) change(ctx context.Context, o *observation, change func(*infrav1.MaasMachine)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
	defer cancel()
	before := o.object.DeepCopy()
	after := o.object.DeepCopy()
	change(after)
	if err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the MaasMachine: %w", err)
	}
	o.object = after
	return nil
}

func setAnnotation(m *infrav1.MaasMachine, key, value string) {
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[key] = value
}

// comment is what MAAS's event log says of our acts.
func comment(o *observation) string { return "CAPMAAS: " + nameInMAAS(o.object) }
