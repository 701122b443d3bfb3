package maasmachine

import (
	"fmt"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nextAnother: the deployment of a machine that is ours was given up. The machine is given back, and once it is not ours any more,
// another one is claimed; the last one stays ours until the object is deleted.
func nextAnother(o observation) step {
	retry := wait{condition: infrav1.MachineDeployedCondition, reason: infrav1.DeployRetryReason, after: releasing}
	if s, due := nextAvoid(o); due {
		return s
	}
	if o.leaving() {
		retry.message = o.deployment().ended() + ": " + o.ownerName() + " is being deleted, and the machine is released with it"
		return retry
	}
	if s, due := nextAbort(o); due {
		return s
	}
	if o.isLast() {
		return wait{condition: infrav1.MachineDeployedCondition, reason: infrav1.DeployFailedReason, message: o.deployGivenUp(), after: settled}
	}
	if o.isGivenBack(o.machine) {
		return forgetMachine{o.machine.SystemID}
	}
	if s, waits := nextLeaveBefore(o, retry); waits {
		return s
	}
	if o.attempt().systemID != "" {
		return o.waitForLateAnswer()
	}
	s := nextReleaseOf(o, o.machine)
	if w, waits := s.(wait); waits {
		retry.unknown, retry.after, retry.timed = w.unknown, w.after, w.timed
		switch w.reason {
		case infrav1.ReleasingReason:
			retry.message = o.deployment().ended() + ": it is given back, and another one is claimed then"
		case infrav1.ErasingDisksReason:
			retry.reason, retry.message = w.reason, o.deployment().ended()+"; "+w.message
		default:
			retry.message = o.deployment().ended() + "; " + w.message
		}
		return retry
	}
	return s
}

// waitForLateAnswer: a request to deploy that MAAS takes up after the release would acquire the machine anew.
func (o observation) waitForLateAnswer() wait {
	return wait{
		condition: infrav1.MachineDeployedCondition, reason: infrav1.DeployRetryReason, after: releasing,
		message: fmt.Sprintf("%s; MAAS %s has an unanswered request to deploy it: waiting some minutes until that can have no effect", o.deployment().ended(), o.maasHost),
	}
}

// nextAbort ends a deployment that is under way although it was given up. One that is to be kept goes on, for somebody to look at.
func nextAbort(o observation) (step, bool) {
	stop := abort{o.machine.SystemID}
	if done, _ := o.did(stop); done || o.machine.Status != maas.StatusDeploying || o.machine.Locked || o.object.Spec.KeepFailed {
		return nil, false
	}
	return stop, true
}

// nextLeaveBefore takes the address out of DNS before the machine is released, as a deletion does.
func nextLeaveBefore(o observation, retry wait) (step, bool) {
	done, err := o.did(leaveDNS{})
	switch {
	case !o.dns.attached && o.dns.err == nil, done && err == nil:
		return nil, false
	case !done:
		return leaveDNS{}, true
	}
	retry.message = fmt.Sprintf("%s; %s; its release waits for it", o.deployment().ended(), endpoint.Explain(o.maasHost, err))
	return retry, true
}

// nextGone: the machine in the spec is not ours any more, and never was deployed for us: its deployment failed, or somebody took it. Another
// one is claimed, which counts as an attempt. Whether it really is not ours was looked at twice, and a claim finds what carries its token.
func nextGone(o observation) (step, bool) {
	if o.provisioned() || o.leaving() || o.standing == holdsUnproven || o.isOutOfSight() || o.object.Spec.KeepFailed {
		return nil, false
	}
	if o.deployment().Failed == "" {
		why := o.takenAway()
		return giveUp{o.systemID(), why}, why != ""
	}
	if o.isLast() {
		return nil, false
	}
	if try := o.attempt(); try.systemID != "" && o.now.Sub(try.since).Abs() < claimSettles {
		return o.waitForLateAnswer(), true
	}
	return forgetMachine{o.systemID()}, true
}
