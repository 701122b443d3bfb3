package maasmachine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// next decides what is done next. It is the whole life of a machine: claim, deploy, keep, release.
func next(o observation) step {
	if s, due := nextUnhook(o); due {
		return s
	}
	switch {
	case o.deleting():
		return nextRelease(o)
	case o.contradiction() != "":
		return wait{condition: infrav1.MachineAllocatedCondition, reason: infrav1.InvalidClaimReason, message: o.contradiction() + ": " + o.correction(), after: settled}
	case o.systemID() == "":
		return nextClaim(o)
	case o.unreadable != nil:
		return waitForMAAS(o)
	}
	if s, due := nextExtra(o); due {
		return s
	}
	switch o.standing {
	case holdsGone, holdsForeign, holdsUnproven:
		if s, due := nextGone(o); due {
			return s
		}
		return nextLost(o)
	}
	if s, due := nextNote(o); due {
		return s
	}
	if try := o.attempt(); try.systemID != "" && o.now.Sub(try.since).Abs() >= claimSettles {
		return endAttempt{}
	}
	if o.provisioned() {
		return nextKeep(o)
	}
	return nextDeploy(o)
}

// nextClaim: no machine is ours yet.
func nextClaim(o observation) step {
	missing, isMissing := o.prerequisite()
	switch {
	case isMissing && o.token() == "":
		return missing
	case o.unreadable != nil:
		return waitForMAAS(o)
	case o.isOutOfSight():
		reason, message := o.outOfSight()
		return wait{condition: infrav1.MachineAllocatedCondition, reason: reason, message: message, after: settled}
	case o.strangers != "":
		return wait{
			condition: infrav1.MachineAllocatedCondition, reason: infrav1.InvalidClaimReason, after: settled,
			message: fmt.Sprintf("this object is a copy, for its annotation %s is that of MaasMachine %s: delete this copy, and its Machine if it has one; the machine of the other is not touched",
				infrav1.ClaimAnnotation, asPath(o.strangers)),
		}
	}
	if best := o.mostAdvancedClaimed(); best != nil {
		return adopt{best.SystemID}
	}
	if s, due := nextExtra(o); due {
		return s
	}
	if left := slices.Concat(o.claimed, o.extras); len(left) > 0 {
		return wait{
			condition: infrav1.MachineAllocatedCondition, reason: infrav1.ClaimingReason, after: releasing,
			message: fmt.Sprintf("%s was allocated for this object, but %s: waiting until it is free", o.nameOf(&left[0]), stateOf(&left[0]).means),
		}
	}
	try := o.attempt()
	switch {
	case isMissing:
		return missing
	case o.token() == "":
		return ensureClaim{} // even if an attempt was begun: without a claim nobody finds what it gets
	case try.systemID != "" && o.formerUser() != "":
		return endAttempt{} // that user got nothing
	case try.systemID != "":
		return nextAttempt(o, try)
	case o.imageless.Message != "":
		return wait{condition: infrav1.MachineAllocatedCondition, reason: o.imageless.Reason, message: o.imageless.Message, after: scarce}
	case o.refusal() != nil:
		return o.waitAfter(o.refusal(), o.toAllocateAny())
	case o.candidate != "":
		return beginClaim{o.candidate}
	}
	return wait{condition: infrav1.MachineAllocatedCondition, reason: infrav1.NoMachineAvailableReason, message: o.scarcity, after: scarce}
}

// nextAttempt: an allocation was begun, perhaps in an earlier life of this program, and MAAS shows nothing of it. The same
// machine is asked for again: if the first request took effect after all, MAAS refuses this one and shows the first. When it
// was asked for last is written down first: a deletion waits that long, and a write from an old copy of the object fails.
func nextAttempt(o observation, try attempt) step {
	again, begin := claim{try.systemID}, beginClaim{try.systemID}
	if done, err := o.did(again); done {
		return o.waitAfter(err, o.toAllocate(try.systemID))
	}
	if begun, _ := o.did(begin); !begun && o.now.Sub(try.since).Abs() > moving {
		return begin
	}
	return again
}

// refusal is MAAS's no to a claim in this reconcile that is about more than one machine: no other is asked for then.
func (o observation) refusal() error {
	if o.malformed != nil {
		return o.malformed
	}
	for key, err := range o.tried {
		if strings.HasPrefix(key, claim{}.key()) && (errors.Is(err, maas.ErrInvalid) || errors.Is(err, maas.ErrForbidden)) {
			return err
		}
	}
	return nil
}

// prerequisite is what has to be there before hardware is claimed.
func (o observation) prerequisite() (wait, bool) {
	w := wait{condition: infrav1.MachineAllocatedCondition, after: settled}
	switch {
	case o.owner == nil:
		w.reason, w.message = infrav1.WaitingForOwnerReason, "no Machine owns this object yet, which Cluster API sets within seconds: delete it if it was made by hand"
	case o.cluster == nil && o.object.Labels[clusterv1.ClusterNameLabel] == "":
		w.reason, w.message = infrav1.WaitingForClusterInfrastructureReason,
			fmt.Sprintf("this object has no label %s that names its Cluster: set it, or delete the object if it was made by hand", clusterv1.ClusterNameLabel)
	case o.cluster == nil:
		w.reason, w.message = infrav1.WaitingForClusterInfrastructureReason,
			fmt.Sprintf("%s, which label %s names, does not exist: make it, or correct the label", o.clusterName(), clusterv1.ClusterNameLabel)
	case o.leaving() || !o.cluster.DeletionTimestamp.IsZero():
		w.reason, w.message = infrav1.WaitingForOwnerReason, o.ownerName()+" or its Cluster is being deleted: no machine is allocated for it any more"
	case o.cluster.Status.Initialization.InfrastructureProvisioned == nil || !*o.cluster.Status.Initialization.InfrastructureProvisioned:
		w.reason, w.message = infrav1.WaitingForClusterInfrastructureReason,
			fmt.Sprintf("waiting until %s is provisioned: look at its conditions", o.infraName())
	case o.lacksScripts() != "":
		w.reason, w.message = infrav1.ReleaseScriptsUnsupportedReason, o.lacksScripts()
	default:
		w.reason, w.message = o.unusable()
		if w.reason == infrav1.BootstrapTokenExpiredReason {
			w.after = releasing // nobody tells when it was renewed
		}
	}
	return w, w.reason != ""
}

// nextLost: the machine in the spec is not, or no longer, ours.
func nextLost(o observation) step {
	reason, message := o.lost()
	return wait{condition: infrav1.MachineAllocatedCondition, reason: reason, message: message, after: settled}
}

// nextDeploy: the machine is ours and was not deployed yet.
func nextDeploy(o observation) step {
	s := stateOf(o.machine)
	if !o.annotated(o.machine) && !o.machine.Locked {
		mark := annotate{o.machine.SystemID}
		done, err := o.did(mark)
		if !done {
			return mark
		}
		return o.waitAfter(err, o.toAnnotate(o.machine))
	}
	if o.deployment().Failed != "" && s.deploy != runs {
		return nextAnother(o)
	}
	if why := o.deployFailed(); why != "" {
		return giveUp{o.machine.SystemID, why}
	}
	w := wait{condition: infrav1.MachineDeployedCondition, reason: s.reason, message: o.tells(o.machine)}
	switch s.deploy {
	case runs:
		return setProviderID{infrav1.NewProviderID(o.machine.Zone.Name, o.machine.SystemID)}
	case installing:
		if !o.deployment().Taken {
			return deployTaken{o.machine.SystemID}
		}
		if join, due := nextJoin(o); due {
			return join
		}
		w.message, w.after = w.message+o.afterFailures(), moving
	case deployIt:
		return nextInstall(o, w)
	case comesBack:
		w.message += ": " + o.remedy()
		w.after = releasing
	default:
		w.message += ": " + o.remedy()
		w.after = settled
	}
	return w
}

// nextInstall: the machine is Allocated and ours. One that MAAS put back there after a failure is tried again, and that is counted.
func nextInstall(o observation, w wait) step {
	if o.machine.Locked {
		w.reason, w.after = infrav1.MachineLockedReason, settled
		w.message = o.nameOf(o.machine) + " is locked, and MAAS refuses to deploy it: unlock it in MAAS"
		return w
	}
	if missing, isMissing := o.prerequisite(); isMissing {
		missing.condition = infrav1.MachineDeployedCondition
		if missing.reason == infrav1.WaitingForBootstrapDataReason {
			missing.message += "; if it does not come back, " + o.replace()
		}
		return missing
	}
	back := noteReturn{o.machine.SystemID}
	counted, _ := o.did(back)
	done, err := o.did(deploy{})
	if d := o.deployment(); !counted && (d.Taken || done && isOfMachine(err) && d.PutBack < putBackOften) {
		return back
	}
	if !done {
		begin, try := beginDeploy{o.machine.SystemID}, o.attempt()
		if begun, _ := o.did(begin); !begun && (try.systemID == "" || o.now.Sub(try.since).Abs() > moving) {
			return begin
		}
		return deploy{}
	}
	return o.waitAfter(err, o.toDeploy())
}

// nextKeep: the machine was deployed for this object. Nothing here deploys it again.
func nextKeep(o observation) step {
	if s, due := nextDepart(o); due {
		return s
	}
	s := stateOf(o.machine)
	if s.deploy != runs {
		return wait{
			condition: infrav1.MachineDeployedCondition, reason: infrav1.MachineLeftDeployedReason, after: settled,
			message: o.tells(o.machine) + ": " + o.remedy(),
		}
	}
	mark := annotate{o.machine.SystemID}
	if done, _ := o.did(mark); !done && !o.annotated(o.machine) && !o.machine.Locked {
		return mark
	}
	if o.dns.attached && o.lacksHook() {
		return hookMachine{} // it joined under an older version, or somebody took the hook away
	}
	if join, due := nextJoin(o); due {
		return join
	}
	if done, _ := o.did(linkNode{}); !done && o.node.node != nil && o.node.node.Spec.ProviderID == "" {
		return linkNode{}
	}
	if done, _ := o.did(powerOn{}); !done && o.mayPowerOn() {
		return powerOn{}
	}
	held, isHeld := o.departing()
	switch {
	case isHeld:
		return held
	case o.node.node != nil && o.node.node.Spec.ProviderID == "":
		return wait{after: moving}
	case isStuckOff(o.machine):
		return wait{after: 5 * settled} // each look is one at MAAS itself
	case o.node.node == nil, o.controlPlane() && o.dns.managed && !o.dns.attached:
		return wait{after: releasing}
	}
	return wait{after: settled}
}

// nextJoin: the first machine of a control plane joins the record as soon as it has an address, for kubeadm itself needs the
// name; the others when their own API server serves.
func nextJoin(o observation) (step, bool) {
	join := joinDNS{o.address()}
	done, _ := o.did(join)
	if done || !o.controlPlane() || !o.dns.managed || o.dns.err != nil || o.dns.attached || o.leaving() || join.address == "" {
		return join, false
	}
	first := !o.controlPlaneInitialized() && len(o.dns.addresses) == 0
	if !first && (!o.dns.serves || stateOf(o.machine).deploy != runs) {
		return join, false
	}
	if o.lacksHook() {
		return hookMachine{}, true
	}
	return join, true
}

func (o observation) controlPlaneInitialized() bool {
	if o.cluster == nil {
		return false
	}
	is := o.cluster.Status.Initialization.ControlPlaneInitialized
	return is != nil && *is
}

// mostAdvancedClaimed chooses among the machines that carry our claim, of which there should be one.
func (o observation) mostAdvancedClaimed() *maas.Machine {
	var best *maas.Machine
	for i := range o.claimed {
		m := &o.claimed[i]
		rank := stateOf(m).claim
		if rank < 0 || best != nil && (rank < stateOf(best).claim || rank == stateOf(best).claim && m.SystemID > best.SystemID) {
			continue
		}
		best = m
	}
	return best
}

// apiServerHealthy says what KCP knows of the machine's API server; known is false where it says nothing.
func apiServerHealthy(owner *clusterv1.Machine) (serves, known bool) {
	if owner == nil {
		return false, false
	}
	for _, c := range owner.Status.Conditions {
		if c.Type == apiServerPodHealthy {
			return c.Status == "True", true
		}
	}
	return false, false
}

// apiServerPodHealthy is the condition with which KCP reports on a machine's API server.
const apiServerPodHealthy = "APIServerPodHealthy"
