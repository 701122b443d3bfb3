package maasmachine

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// deploy installs the image with the bootstrap data.
func (r *Reconciler) deploy(ctx context.Context, o *observation) (failure, err error) {
	secret, err := r.bootstrapSecret(ctx, o.owner)
	if err != nil {
		return nil, err
	}
	now := *o
	now.bootstrap = bootstrapOf(secret, o.object.Spec.Image)
	if reason, _ := now.unusable(); reason != "" {
		return nil, errors.New("the bootstrap data changed a moment ago") // the next reconcile says how
	}
	asking, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	o.answered, failure = r.MAAS.Deploy(asking, o.machine.SystemID, maas.DeployParams{
		UserData: secret.Data["value"], DistroSeries: infrav1.FullImageName(o.object.Spec.Image),
		EphemeralDeploy: o.object.Spec.DeployInMemory, Comment: comment(o),
		// Somebody may have released the machine a moment ago: MAAS then acquires it anew, and only the claim tells for whom.
		AgentName: o.token(),
	})
	switch {
	case failure == nil:
		r.tell(o, normal, telemetry.DeployStarted, telemetry.ActionDeploy, "MAAS installs %s on %s%s", o.object.Spec.Image, o.nameOf(o.machine), o.whichOf())
		return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) {
			dropAttempt(m)
			changeDeployment(m, o.machine.SystemID, o.machine.Hostname, r.now(), func(d *deployment) { d.Taken = true })
		})
	case refused(failure):
		return failure, r.endAttempt(ctx, o)
	}
	return failure, nil
}

// noteDeployment writes down how far the deployment of the machine is, and tells of what failed.
func (r *Reconciler) noteDeployment(ctx context.Context, o *observation, s step) error {
	now, name := r.now(), o.object.Status.Hostname
	if o.machine != nil {
		name = o.machine.Hostname
	}
	systemID, before := o.systemID(), o.deployment()
	note := func(also func(*infrav1.MaasMachine), change func(*deployment)) error {
		return r.change(ctx, o, func(m *infrav1.MaasMachine) {
			if also != nil {
				also(m)
			}
			changeDeployment(m, systemID, name, now, change)
		})
	}
	switch s := s.(type) {
	case beginDeploy:
		return note(func(m *infrav1.MaasMachine) { setAttempt(m, systemID, now) }, func(d *deployment) {
			if !d.begun() {
				d.Began = inSeconds(now)
			}
		})
	case deployTaken:
		return note(nil, func(d *deployment) { d.Taken = true })
	case noteReturn:
		if err := note(nil, func(d *deployment) { d.Taken, d.PutBack = false, d.PutBack+1 }); err != nil || !before.Taken {
			return err
		}
		r.tell(o, warning, telemetry.DeployFailed, telemetry.ActionDeploy, "the deployment of %s came to nothing, and MAAS put the machine back to Allocated: CAPMAAS tries again by itself",
			o.nameOf(o.machine))
	case giveUp:
		if err := note(nil, func(d *deployment) { d.Failed, d.Ended = s.why, inSeconds(now) }); err != nil || o.isLast() {
			return err
		}
		then := "the machine is given back, and another one is claimed"
		if o.standing != holdsOurs || stateOf(o.machine).isBeingReleased() {
			then = "another one is claimed"
		}
		r.tell(o, warning, telemetry.DeployFailed, telemetry.ActionDeploy, "%s: %s", o.deployment().ended(), then)
	case forgetMachine:
		return r.forgetMachine(ctx, o)
	}
	return nil
}

// forgetMachine drops the machine, which is not ours any more, so that another one is claimed.
func (r *Reconciler) forgetMachine(ctx context.Context, o *observation) error {
	systemID := o.systemID()
	err := r.change(ctx, o, func(m *infrav1.MaasMachine) {
		m.Spec.SystemID = ""
		dropWhere(m)
		dropAttempt(m)
		changeDeployment(m, systemID, "", r.now(), func(d *deployment) { d.GivenBack = true })
	})
	if err != nil {
		return err
	}
	r.retries.forget(client.ObjectKeyFromObject(o.object))
	if o.standing == holdsOurs || o.machine != nil && o.machine.Owner == "" {
		r.tell(o, normal, telemetry.Released, telemetry.ActionRelease, "machine %s in MAAS %s is given back after its deployment failed", systemID, o.maasHost)
	}
	// Where the machines of a control plane are counts for the next one.
	return r.observePeers(ctx, o)
}
