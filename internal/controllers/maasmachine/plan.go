package maasmachine

import (
	"errors"
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// next decides what is done next. It is the whole life of a machine: claim, deploy, keep, release.
func next(o observation) step {
	switch {
	case o.deleting():
		return nextRelease(o)
	case o.contradiction() != "":
		return wait{condition: infrav1.MachineAllocatedCondition, reason: infrav1.InvalidClaimReason, message: o.contradiction(), after: settled}
	case o.systemID() == "":
		return nextClaim(o)
	case o.unreadable != nil:
		return waitForMAAS(o)
	}
	switch o.standing {
	case holdsGone, holdsForeign, holdsUnproven:
		return nextLost(o)
	}
	if extra := o.extraClaimed(); extra != nil {
		return releaseExtra{extra.SystemID}
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
	case o.strangers != "":
		return wait{
			condition: infrav1.MachineAllocatedCondition, reason: infrav1.InvalidClaimReason, after: settled,
			message: fmt.Sprintf("the claim in annotation %s is that of MaasMachine %s, whose machine it is: delete this object",
				infrav1.ClaimAnnotation, o.strangers),
		}
	}
	if best := o.mostAdvancedClaimed(); best != nil {
		return adopt{best.SystemID}
	}
	if len(o.claimed) > 0 {
		return wait{
			condition: infrav1.MachineAllocatedCondition, reason: infrav1.ClaimingReason, after: releasing,
			message: fmt.Sprintf("%s carries the claim, but %s: waiting until it is free", o.nameOf(&o.claimed[0]), stateOf(&o.claimed[0]).means),
		}
	}
	try := o.attempt()
	switch {
	case isMissing:
		return missing
	case o.token() == "":
		return ensureClaim{} // even if an attempt was begun: without a claim nobody finds what it gets
	case try.systemID != "":
		return nextAttempt(o, try)
	case o.refusal() != nil:
		return waitAfter(o, o.refusal(), infrav1.MachineAllocatedCondition, infrav1.ClaimOutcomeUnknownReason, infrav1.ClaimRefusedReason)
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
		return waitAfter(o, err, infrav1.MachineAllocatedCondition, infrav1.ClaimOutcomeUnknownReason, infrav1.ClaimRefusedReason)
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
		w.reason, w.message = infrav1.WaitingForOwnerReason, "waiting for the Machine that owns this object"
	case o.cluster == nil:
		w.reason, w.message = infrav1.WaitingForClusterInfrastructureReason, "waiting for the Cluster"
	case o.leaving() || !o.cluster.DeletionTimestamp.IsZero():
		w.reason, w.message = infrav1.WaitingForOwnerReason, "the Machine or its Cluster is being deleted: no machine is claimed any more"
	case o.cluster.Status.Initialization.InfrastructureProvisioned == nil || !*o.cluster.Status.Initialization.InfrastructureProvisioned:
		w.reason, w.message = infrav1.WaitingForClusterInfrastructureReason, "waiting until the MaasCluster is provisioned"
	case !o.bootstrap.ready:
		w.reason, w.message = infrav1.WaitingForBootstrapDataReason, "waiting for the bootstrap data"
	case o.bootstrap.format != "" && o.bootstrap.format != "cloud-config":
		w.reason = infrav1.UnsupportedBootstrapFormatReason
		w.message = fmt.Sprintf("the bootstrap data is in format %q, and only cloud-config is supported: set the format of the bootstrap provider",
			o.bootstrap.format)
	default:
		return wait{}, false
	}
	return w, true
}

// nextLost: the machine in the spec is not, or no longer, ours.
func nextLost(o observation) step {
	w := wait{condition: infrav1.MachineAllocatedCondition, reason: infrav1.MachineNotOursReason, after: settled}
	switch o.standing {
	case holdsGone:
		w.reason = infrav1.MachineNotFoundReason
		w.message = fmt.Sprintf("MAAS %s has no machine %s any more: delete the Machine to get another", o.maasHost, o.systemID())
	case holdsUnproven:
		w.message = fmt.Sprintf("machine %s in MAAS %s was not claimed by CAPMAAS, and is left alone", o.systemID(), o.maasHost)
	case holdsForeign:
		w.reason, w.message = o.foreignness()
	}
	return w
}

// foreignness is the reason and the message for a machine that is not ours.
func (o observation) foreignness() (reason, message string) {
	if o.ofAnotherUser() {
		return infrav1.MachineOfAnotherUserReason, fmt.Sprintf(
			"machine %s in MAAS %s %s and carries our claim, but the API key belongs to user %q: use a key of its owner, or release it in MAAS",
			o.systemID(), o.maasHost, o.whose(), o.user)
	}
	return infrav1.MachineNotOursReason, fmt.Sprintf("machine %s in MAAS %s %s, and does not carry our claim: it is left alone; delete the Machine to get another",
		o.systemID(), o.maasHost, o.whose())
}

// whose says who has a machine that is not ours.
func (o observation) whose() string {
	switch {
	case o.machine == nil:
		return "is not shown to us"
	case o.machine.Owner == "":
		return fmt.Sprintf("is %s and has no owner", o.machine.Status)
	}
	return fmt.Sprintf("is %s and belongs to user %q", o.machine.Status, o.machine.Owner)
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
		return waitAfter(o, err, infrav1.MachineAllocatedCondition, infrav1.ClaimOutcomeUnknownReason, infrav1.ClaimRefusedReason)
	}
	w := wait{condition: infrav1.MachineDeployedCondition, reason: s.reason, message: o.tells(o.machine)}
	switch s.deploy {
	case runs:
		return setProviderID{infrav1.NewProviderID(o.machine.Zone.Name, o.machine.SystemID)}
	case installing:
		if join, due := nextJoin(o); due {
			return join
		}
		w.after = moving
	case deployIt:
		return nextInstall(o, w)
	case comesBack:
		w.after = releasing
	default:
		w.message += o.remedy()
		w.after = settled
	}
	return w
}

// remedy is what a person can do about a machine that will never be deployed.
func (o observation) remedy() string {
	switch {
	case o.machine.Status != maas.StatusFailedDeployment:
		return ": delete the Machine to get another"
	case o.object.Spec.KeepFailed:
		return fmt.Sprintf(": look at %s; delete the Machine to get another, this one is kept (spec.keepFailed)", o.page)
	}
	return fmt.Sprintf(": look at %s; delete the Machine to get another", o.page)
}

// nextInstall: the machine is Allocated and ours. One that MAAS put back there after a failure is tried again.
func nextInstall(o observation, w wait) step {
	if o.machine.Locked {
		w.reason, w.after = infrav1.MachineLockedReason, settled
		w.message = o.nameOf(o.machine) + " is locked, and MAAS refuses to deploy it: unlock it"
		return w
	}
	if missing, isMissing := o.prerequisite(); isMissing {
		missing.condition = infrav1.MachineDeployedCondition
		return missing
	}
	done, err := o.did(deploy{})
	if !done {
		return deploy{}
	}
	return waitAfter(o, err, infrav1.MachineDeployedCondition, infrav1.DeployOutcomeUnknownReason, infrav1.DeployRefusedReason)
}

// nextKeep: the machine was deployed for this object. Nothing here deploys it again.
func nextKeep(o observation) step {
	if o.leaving() {
		if done, _ := o.did(leaveDNS{}); !done && o.dns.attached {
			return leaveDNS{}
		}
	}
	s := stateOf(o.machine)
	if s.deploy != runs {
		return wait{
			condition: infrav1.MachineDeployedCondition, reason: infrav1.MachineLeftDeployedReason, after: settled,
			message: o.tells(o.machine) + ": it is not deployed again; delete the Machine to get another",
		}
	}
	mark := annotate{o.machine.SystemID}
	if done, _ := o.did(mark); !done && !o.annotated(o.machine) && !o.machine.Locked {
		return mark
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
	switch {
	case o.node.node != nil && o.node.node.Spec.ProviderID == "":
		return wait{after: moving}
	case o.node.node == nil, o.controlPlane() && o.dns.managed && !o.dns.attached:
		return wait{after: releasing}
	}
	return wait{after: settled}
}

// nextJoin: the first machine of a control plane joins the record as soon as it has an address, for kubeadm itself needs the
// name; the others when their own API server serves.
func nextJoin(o observation) (joinDNS, bool) {
	join := joinDNS{o.address()}
	done, _ := o.did(join)
	if done || !o.controlPlane() || !o.dns.managed || o.dns.err != nil || o.dns.attached || o.leaving() || join.address == "" {
		return join, false
	}
	first := !o.controlPlaneInitialized() && len(o.dns.addresses) == 0
	return join, first || o.dns.serves && stateOf(o.machine).deploy == runs
}

func (o observation) controlPlaneInitialized() bool {
	if o.cluster == nil {
		return false
	}
	is := o.cluster.Status.Initialization.ControlPlaneInitialized
	return is != nil && *is
}

// mayPowerOn: only what is ours, is deployed to a disk, is not locked, and was seen off for long enough.
func (o observation) mayPowerOn() bool {
	return o.machine.PowerState == maas.PowerOff && !o.machine.EphemeralDeploy && !o.machine.Locked && !o.leaving() && o.offForLong()
}

// offForLong says whether the power was seen off, and nothing else, for the grace time. PoweredOn remembers since when.
func (o observation) offForLong() bool {
	for _, c := range o.object.Status.Conditions {
		if c.Type == infrav1.MachinePoweredOnCondition && c.Reason == infrav1.PoweredOffReason {
			return c.Status == "False" || o.now.Sub(c.LastTransitionTime.Time) >= powerGrace
		}
	}
	return false
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

// extraClaimed is a machine that carries our claim beside the one in the spec, and is merely allocated.
func (o observation) extraClaimed() *maas.Machine {
	for i := range o.claimed {
		m := &o.claimed[i]
		if done, _ := o.did(releaseExtra{m.SystemID}); !done && m.SystemID != o.systemID() && m.Status == maas.StatusAllocated && !m.Locked {
			return m
		}
	}
	return nil
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
