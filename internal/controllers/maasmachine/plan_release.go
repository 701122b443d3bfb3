package maasmachine

import (
	"fmt"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nextRelease: the object is being deleted. It may go once no machine of ours is left that is not free.
func nextRelease(o observation) step {
	deleting := func(reason, message string) wait {
		return wait{condition: infrav1.MachineDeletingCondition, reason: reason, message: message, after: releasing}
	}
	switch {
	case o.movedAway():
		return removeFinalizer{moved}
	case o.abandoning():
		return nextAbandon(o)
	case o.heldByMistake():
		return deleting(infrav1.HeldReason, fmt.Sprintf(
			"this object was deleted, but %s was not: delete that instead; or, to release the machine and all on it, annotate this MaasMachine with %s", o.ownerName(), confirmWith))
	case o.contradiction() != "":
		return deleting(infrav1.ReleaseBlockedReason, fmt.Sprintf(
			"%s: %s, and the release goes on; or release %s in MAAS, and set annotation %s", o.contradiction(), o.correction(), o.meant(), abandonWith))
	case o.token() == "" && o.systemID() == "":
		return removeFinalizer{nothingClaimed}
	case o.unreadable != nil:
		return waitForMAAS(o)
	case o.standing == holdsUnproven:
		return deleting(infrav1.ReleaseBlockedReason, fmt.Sprintf(
			"%s in MAAS %s was never allocated for this MaasMachine, so it is left alone: annotate this MaasMachine with %s; release the machine in MAAS only if nobody uses it",
			o.storedName(), o.maasHost, abandonWith))
	case o.isOutOfSight():
		_, message := o.outOfSight()
		return deleting(infrav1.ReleaseBlockedReason, message)
	}
	if s, due := nextNote(o); due {
		return s
	}
	if best := o.mostAdvancedClaimed(); best != nil && o.systemID() == "" && !o.isGivenBack(best) {
		// When a release starts MAAS forgets the agent name: of one that then fails only the stored system ID tells.
		return adopt{best.SystemID}
	}
	if s, due := nextLeave(o); due {
		return s
	}
	if o.keeps() && !o.machine.Locked {
		mark := markKept{o.machine.SystemID}
		done, err := o.did(mark)
		switch {
		case !done:
			return mark
		case err != nil:
			return o.waitAfter(err, o.toAnnotateGoing(o.machine))
		}
	}
	if s, due := nextAvoid(o); due && !o.provisioned() {
		return s
	}
	if s, due := nextExtra(o); due {
		return s
	}
	return nextGiveBack(o, o.notFree())
}

// nextGiveBack releases what is left, one machine at a time, and then lets the object go.
func nextGiveBack(o observation, left []*maas.Machine) step {
	var hold *wait
	for _, m := range left {
		s := nextReleaseOf(o, m)
		w, waits := s.(wait)
		if !waits {
			return s
		}
		if hold == nil {
			hold = &w
		}
	}
	if hold != nil {
		return *hold
	}
	if try := o.attempt(); try.systemID != "" && len(o.claimed) == 0 && o.now.Sub(try.since) < claimSettles {
		return wait{
			condition: infrav1.MachineDeletingCondition, reason: infrav1.ClaimOutcomeUnknownReason, after: releasing,
			message: fmt.Sprintf("MAAS %s did not answer when it was asked %s machine %s: waiting some minutes, so that a late answer leaves no machine allocated",
				o.maasHost, o.attempted(), try.systemID),
		}
	}
	switch {
	case o.systemID() == "":
		return removeFinalizer{nothingClaimed}
	case o.standing == holdsGone:
		return removeFinalizer{gone}
	case o.standing == holdsForeign && (o.machine == nil || o.machine.Owner != ""):
		return removeFinalizer{notOurs}
	case o.keeps():
		return removeFinalizer{kept}
	case o.standing == holdsOurs && o.machine.Status == maas.StatusDiskErasing:
		return removeFinalizer{beingErased}
	}
	return removeFinalizer{released}
}

// attempted is what was asked for and not answered: a machine is deployed once it is known which one it is.
func (o observation) attempted() string {
	if o.systemID() == "" {
		return "to allocate"
	}
	return "to deploy"
}

// nextReleaseOf gives one machine of ours back.
func nextReleaseOf(o observation, m *maas.Machine) step {
	w := wait{condition: infrav1.MachineDeletingCondition, after: releasing}
	s := stateOf(m)
	switch {
	case s.release == underWay:
		w.reason, w.message = infrav1.ReleasingReason, o.tells(m)
		return w
	case s.release == erasing:
		w.reason, w.message = infrav1.ErasingDisksReason, o.tellsErasing(m)
		return w
	case s.release == handedBack && o.toBreak(m):
		w.reason, w.message = infrav1.ReleasingReason, o.tells(m)+" and was given back with that, but is still on: if it stays so, switch it off in MAAS"
		return w
	case s.release == handedBack:
		w.reason, w.message = infrav1.ReleaseBlockedReason, fmt.Sprintf("%s and was given back with that, but is still on: %s; nothing else is needed", o.tells(m), s.todo)
		return w
	case s.release != releaseIt:
		w.reason, w.message = infrav1.ReleaseBlockedReason, fmt.Sprintf("%s, and cannot be released: %s", o.tells(m), s.todo)
		return w
	case m.Locked:
		w.reason, w.message = infrav1.ReleaseBlockedReason, o.nameOf(m)+" is locked, and MAAS refuses to release it: unlock it in MAAS"
		return w
	case o.toBreak(m):
		return o.nextRelease(m, o.breaking(m))
	case o.lacksScripts() != "":
		w.reason, w.message, w.after = infrav1.ReleaseBlockedReason, o.lacksScripts(), settled
		return w
	case o.eraseUnclear(m):
		w.reason, w.message, w.after = infrav1.ReleaseFailedReason, o.tellsFailedRelease(m), 5*settled
		return w
	}
	return o.nextRelease(m, release{m.SystemID})
}

// nextRelease lets MAAS give a machine back by a step that was chosen for it. When a release starts MAAS forgets the agent name; if the
// release then fails, only the annotation says that it is ours.
func (o observation) nextRelease(m *maas.Machine, act step) step {
	mark := annotate{m.SystemID}
	if !o.carriesClaim(m) {
		if done, err := o.did(mark); done {
			return o.waitAfter(err, o.toAnnotateGoing(m))
		}
		return mark
	}
	done, err := o.did(act)
	again := o.asked[m.SystemID]
	switch {
	case !done && o.now.Before(again.due()), done && err == nil && releaseFailed(m):
		return o.waitToRetry(m, again)
	case !done:
		return act
	}
	return o.waitAfter(err, o.toRelease(m))
}

// nextLeave takes the machine out of DNS before it is released: an address that stays in the record comes back with the
// machine's next tenant. Where no machine of ours is left, its address is a stranger's, which the MaasCluster's reconciler removes.
func nextLeave(o observation) (step, bool) {
	done, err := o.did(leaveDNS{})
	switch {
	case !o.dns.attached && o.dns.err == nil:
		return nil, false
	case !done:
		return leaveDNS{}, true
	case err == nil:
		return nil, false
	}
	return wait{
		condition: infrav1.MachineDeletingCondition, reason: infrav1.LeavingDNSReason, after: releasing,
		message: endpoint.Explain(o.maasHost, err) + "; the release waits for it",
	}, true
}

// movedAway says that `clusterctl move` deletes the object here, after it made it in another management cluster, which cares for the
// machine from then on. The object is paused then; it comes to here if the move was cut short, and somebody ended the pause.
func (o observation) movedAway() bool {
	_, is := o.object.Annotations[clusterctlv1.DeleteForMoveAnnotation]
	return is
}

// nextAbandon: a person decided to let go of the machine as it is.
func nextAbandon(o observation) step {
	if done, _ := o.did(leaveDNS{}); !done && (o.dns.attached || o.dns.err != nil) {
		return leaveDNS{}
	}
	if o.unreadable == nil {
		for _, m := range o.allOurs() {
			mark := markAbandoned{m.SystemID}
			if done, _ := o.did(mark); !done && !m.Locked {
				return mark
			}
		}
	}
	return removeFinalizer{abandoned}
}

func (o observation) abandoning() bool {
	_, is := o.object.Annotations[infrav1.AbandonAnnotation]
	return is
}

// keeps says that the machine stays as it is: its deployment failed, and a person asked to look at it.
func (o observation) keeps() bool {
	return o.object.Spec.KeepFailed && o.standing == holdsOurs && o.machine.Status == maas.StatusFailedDeployment
}

// heldByMistake: nobody deletes the infrastructure of a Machine that is to stay. Whoever deletes a namespace or a Cluster deletes the
// Machine too, if perhaps a moment later.
func (o observation) heldByMistake() bool {
	if _, confirmed := o.object.Annotations[infrav1.ConfirmDeleteAnnotation]; confirmed {
		return false
	}
	return o.owner != nil && o.owner.DeletionTimestamp.IsZero() && (o.cluster == nil || o.cluster.DeletionTimestamp.IsZero())
}

// isGivenBack says that nothing is left to release of a machine, though its owner may be our user still.
func (o observation) isGivenBack(m *maas.Machine) bool {
	s := stateOf(m).release
	return s == isFree || s == handedBack && m.PowerState != maas.PowerOn || o.erasesWell(m)
}

// notFree lists the machines that are ours and have to be given back.
func (o observation) notFree() []*maas.Machine {
	var all []*maas.Machine
	for _, m := range o.allOurs() {
		if !o.isGivenBack(m) && (m != o.machine || !o.keeps()) {
			all = append(all, m)
		}
	}
	return all
}

// allOurs lists the machines that are ours: the one in the spec, and those found by the claim, and those noted beside it.
func (o observation) allOurs() []*maas.Machine {
	var all []*maas.Machine
	if o.standing == holdsOurs {
		all = append(all, o.machine)
	}
	for i := range o.claimed {
		if m := &o.claimed[i]; m.SystemID != o.systemID() {
			all = append(all, m)
		}
	}
	for i := range o.extras {
		if m := &o.extras[i]; m.SystemID != o.systemID() && !o.foundByClaim(m.SystemID) {
			all = append(all, m)
		}
	}
	return all
}
