package maasmachine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// statusOf says what users see: all of it, from what was observed and what is waited for. It can be computed anew at any time,
// for a move restores no status.
func statusOf(o observation, last wait) (infrav1.MaasMachineStatus, error) {
	object := o.object.DeepCopy()
	o.object = object
	set := func(c *metav1.Condition) {
		if c == nil {
			return
		}
		c.LastTransitionTime = metav1.NewTime(o.now)
		c.Message = brief(c.Message, maxMessage) // names in MAAS and what somebody wrote into annotations are in it
		conditions.Set(object, *c)
	}
	describe(&object.Status, o)
	set(allocatedOf(o, last))
	setErasing(object, deployedOf(o, last), set)
	set(nodeOfStatus(o))
	_, held := o.departing()
	if o.unreadable == nil {
		setPower(object, powerOf(o), set)
	}
	if o.unreadable == nil || held {
		setOrDelete(object, infrav1.MachineDNSAttachedCondition, dnsOf(o), set)
	}
	setErasing(object, deletingOf(o, last), set)
	return object.Status, summarise(object)
}

// ownedConditions are the types that this reconciler sets, and Paused, which Cluster API's code sets for it.
var ownedConditions = []string{
	infrav1.MachineReadyCondition, infrav1.MachineAllocatedCondition, infrav1.MachineDeployedCondition, infrav1.MachinePoweredOnCondition,
	infrav1.MachineDNSAttachedCondition, infrav1.MachineNodeLinkedCondition, infrav1.MachineDeletingCondition, clusterv1.PausedCondition,
}

// describe fills in what is true of the machine.
func describe(status *infrav1.MaasMachineStatus, o observation) {
	switch {
	case o.unreadable != nil:
		return
	case o.standing != holdsOurs:
		// What belongs to somebody else, or to nobody, is not this machine's.
		status.Addresses, status.MachineState, status.PowerState = nil, "", ""
		if o.systemID() == "" {
			status.Hostname, status.FailureDomain = "", "" // of a machine that was given back
		}
		return
	}
	m := o.machine
	// What is longer than the schema takes would keep all of the status from being written.
	status.Hostname, status.MachineState, status.PowerState = fitting(m.Hostname, maxText), m.Status.String(), fitting(string(m.PowerState), maxPowerState)
	status.FailureDomain = fitting(m.Zone.Name, maxText)
	status.Addresses = addressesOf(m, o.object.Spec.AddressFrom)
	if o.provisioned() && m.Status == maas.StatusDeployed {
		yes := true
		status.Initialization.Provisioned = &yes
	}
}

// What the schema takes: characters of a text, characters of a power state, and addresses. A message of a condition may be longer, but nobody reads it.
const (
	maxText       = 256
	maxPowerState = 64
	maxAddresses  = 256
	maxMessage    = 1000
)

// fitting cuts a text after some characters.
func fitting(text string, limit int) string {
	if all := []rune(text); len(all) > limit {
		return string(all[:limit])
	}
	return text
}

// from makes the condition that is waited for, if it is of the type.
func (w wait) from(conditionType string) *metav1.Condition {
	if w.condition != conditionType || w.reason == "" {
		return nil
	}
	status := metav1.ConditionFalse
	if w.unknown {
		status = metav1.ConditionUnknown
	}
	return &metav1.Condition{Type: conditionType, Status: status, Reason: w.reason, Message: w.message}
}

func allocatedOf(o observation, last wait) *metav1.Condition {
	c := metav1.Condition{Type: infrav1.MachineAllocatedCondition, Status: metav1.ConditionFalse}
	if waits := last.from(c.Type); waits != nil {
		return waits
	}
	switch {
	case o.contradiction() != "":
		c.Reason, c.Message = infrav1.InvalidClaimReason, o.contradiction()+": "+o.correction()
	case o.unreadable != nil:
		return unreadable(o, c.Type)
	case o.standing == holdsOurs:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, infrav1.MachineAllocatedReason, o.nameOf(o.machine)
		if extra := o.tellsExtra(); extra != "" {
			c.Message += "; the claim got another one too: " + extra
		}
	case o.triesAnother():
		c.Reason, c.Message = infrav1.ClaimingReason, "another machine is claimed, for "+o.deployment().ended()
	case o.standing != holdsNone, o.isOutOfSight():
		c.Reason, c.Message = o.lost()
	default:
		c.Reason, c.Message = infrav1.ClaimingReason, "a machine is being allocated"
	}
	return &c
}

func deployedOf(o observation, last wait) *metav1.Condition {
	c := metav1.Condition{Type: infrav1.MachineDeployedCondition, Status: metav1.ConditionFalse}
	if waits := last.from(c.Type); waits != nil {
		return waits
	}
	switch {
	case o.unreadable != nil:
		return unreadable(o, c.Type)
	case o.standing != holdsOurs:
		c.Reason, c.Message = infrav1.WaitingForMachineReason, "no machine is allocated"
	case o.machine.Status == maas.StatusDeployed && o.provisioned():
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.MachineDeployedReason
	case o.provisioned():
		c.Reason, c.Message = infrav1.MachineLeftDeployedReason, o.tells(o.machine)
	case o.triesAnother():
		c.Reason, c.Message = infrav1.DeployRetryReason, o.deployment().ended()+": it is given back, and another one is claimed then"
	default:
		c.Reason, c.Message = stateOf(o.machine).reason, o.tells(o.machine)
		if c.Reason == infrav1.MachineDeployedReason {
			c.Reason = infrav1.DeployingReason
		}
	}
	return &c
}

// unreadable keeps what was known, and says why there is nothing where nothing was.
func unreadable(o observation, conditionType string) *metav1.Condition {
	if conditions.Has(o.object, conditionType) {
		return nil
	}
	reason, message := o.away(o.unreadable)
	return &metav1.Condition{Type: conditionType, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}

func setOrDelete(object *infrav1.MaasMachine, conditionType string, c *metav1.Condition, set func(*metav1.Condition)) {
	if c == nil {
		conditions.Delete(object, conditionType)
		return
	}
	set(c)
}

func dnsOf(o observation) *metav1.Condition {
	if !o.controlPlane() || o.infra == nil {
		return nil
	}
	c := metav1.Condition{Type: infrav1.MachineDNSAttachedCondition, Status: metav1.ConditionFalse, Reason: infrav1.DNSAttachPendingReason}
	leaving, left := o.did(leaveDNS{})
	joining, joined := o.did(joinDNS{o.address()})
	held, isHeld := o.departing()
	switch {
	case isHeld:
		c.Reason, c.Message = held.reason, held.message
	case o.dns.external:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, infrav1.DNSNotManagedReason, "the endpoint is not managed by CAPMAAS"
	case leaving && left == nil, o.leaving() && !o.dns.attached && o.dns.err == nil:
		c.Reason, c.Message = infrav1.DNSDetachedReason, "the machine goes, and has left the record"
	case o.leaving():
		c.Reason, c.Message = infrav1.DNSDetachPendingReason, cmp.Or(o.staysBecause(), "the machine goes, and has yet to leave the record")
		if leaving {
			c.Message = endpoint.Explain(o.maasHost, left)
		}
	case o.dns.attached:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.DNSAttachedReason
	case o.dns.err != nil:
		c.Status, c.Message = metav1.ConditionUnknown, endpoint.Explain(o.maasHost, o.dns.err)
	case joining && joined != nil:
		c.Message = endpoint.Explain(o.maasHost, joined)
	case o.address() == "":
		c.Message = o.missingAddress()
	default:
		c.Message = fmt.Sprintf("waiting for the API server on %s: if it stays so, look at cloud-init and kubelet there, and at APIServerPodHealthy of %s",
			o.storedName(), o.ownerName())
	}
	return &c
}

func nodeOfStatus(o observation) *metav1.Condition {
	if o.deleting() {
		return nil
	}
	c := metav1.Condition{Type: infrav1.MachineNodeLinkedCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForNodeReason}
	tried, failed := o.did(linkNode{})
	switch node := o.node.node; {
	case o.unreadable != nil && o.provisioned():
		return unreadable(o, c.Type)
	case !o.provisioned() || o.standing != holdsOurs:
		c.Message = "the Node registers after the machine is deployed"
	case o.node.unreachable:
		c.Status, c.Reason = metav1.ConditionUnknown, infrav1.WorkloadClusterUnreachableReason
		c.Message = fmt.Sprintf("the management cluster cannot reach workload cluster %s: look at APIServerAvailable of %s", o.cluster.Name, o.infraName())
	case node == nil && len(o.node.rivals) > 0:
		c.Message = fmt.Sprintf("several Nodes (%s) have an address, the system UUID or the name of %s: compare their system UUID and addresses with MAAS, and delete in the workload cluster those that no machine runs as",
			strings.Join(o.node.rivals, ", "), shortName(o.machine))
	case node == nil:
		c.Message = fmt.Sprintf("%s has not joined the cluster yet: if it stays so, look at cloud-init and kubelet on it, and whether it reaches the control plane's endpoint",
			shortName(o.machine))
	case node.Spec.ProviderID == o.object.Spec.ProviderID:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, infrav1.NodeProviderIDSetReason, "Node "+node.Name
	case node.Spec.ProviderID != "":
		c.Reason = infrav1.NodeProviderIDConflictReason
		c.Message = fmt.Sprintf("Node %s has provider ID %s, which cannot be changed: remove what sets it (a kubelet argument, a cloud controller); then drain and delete the Node in the workload cluster and restart the kubelet on it",
			node.Name, node.Spec.ProviderID)
	case tried && failed != nil:
		c.Message = fmt.Sprintf("Node %s could not be given its provider ID (%v): CAPMAAS tries again by itself", node.Name, failed)
	default:
		c.Message = fmt.Sprintf("Node %s has registered and gets its provider ID", node.Name)
	}
	return &c
}

func deletingOf(o observation, last wait) *metav1.Condition {
	c := metav1.Condition{Type: infrav1.MachineDeletingCondition, Status: metav1.ConditionFalse, Reason: infrav1.NotDeletingReason}
	if !o.deleting() {
		return &c
	}
	c.Status, c.Reason = metav1.ConditionTrue, infrav1.ReleasingReason
	if waits := last.from(c.Type); waits != nil {
		c.Reason, c.Message = waits.Reason, waits.Message
	}
	return &c
}

// setErasing makes the time of a condition that since which the disks have been erased, while it tells of that.
func setErasing(object *infrav1.MaasMachine, c *metav1.Condition, set func(*metav1.Condition)) {
	if c == nil {
		return
	}
	before := conditions.Get(object, c.Type)
	if before != nil && (before.Reason == infrav1.ErasingDisksReason) != (c.Reason == infrav1.ErasingDisksReason) {
		conditions.Delete(object, c.Type)
	}
	set(c)
}

// missingAddress says why a machine of the control plane has no address that counts.
func (o observation) missingAddress() string {
	from := o.object.Spec.AddressFrom
	if o.standing != holdsOurs || o.machine.Status != maas.StatusDeployed || from == (infrav1.AddressSelector{}) {
		return "waiting until the machine has an address"
	}
	var where []string
	if from.Interface != "" {
		where = append(where, "on interface "+from.Interface)
	}
	if from.Subnet != "" {
		where = append(where, "in subnet "+from.Subnet)
	}
	return fmt.Sprintf("%s has no address %s, as spec.addressFrom asks: correct addressFrom in a new MaasMachineTemplate, or connect machines so in MAAS and roll them out anew",
		o.nameOf(o.machine), strings.Join(where, " "))
}

// summarise sets Ready. What follows from something earlier is left out, so that the reason is the one to look at; so are a
// power that MAAS cannot tell, which some machines have all their life, and DNS and Node, which depend on others.
func summarise(object *infrav1.MaasMachine) error {
	counts := conditions.ForConditionTypes{infrav1.MachineDeletingCondition, infrav1.MachineAllocatedCondition}
	if conditions.IsTrue(object, infrav1.MachineAllocatedCondition) {
		counts = append(counts, infrav1.MachineDeployedCondition)
	}
	if conditions.GetReason(object, infrav1.MachinePoweredOnCondition) == infrav1.PoweredOffReason {
		counts = append(counts, infrav1.MachinePoweredOnCondition)
	}
	if conditions.IsTrue(object, infrav1.MachineDeletingCondition) {
		counts = counts[:1]
	}
	negative := conditions.NegativePolarityConditionTypes{infrav1.MachineDeletingCondition}
	return conditions.SetSummaryCondition(object, object, infrav1.MachineReadyCondition, counts, negative,
		conditions.CustomMergeStrategy{MergeStrategy: conditions.DefaultMergeStrategy(
			conditions.GetPriorityFunc(conditions.GetDefaultMergePriorityFunc(negative...)),
			conditions.ComputeReasonFunc(firstReason),
			conditions.SummaryMessageTransformFunc(oneLine),
		)},
	)
}

// firstReason is that of the first issue, else of the first unknown.
func firstReason(issues, unknowns, _ []conditions.ConditionWithOwnerInfo) string {
	for _, c := range append(slices.Clone(issues), unknowns...) {
		return c.Reason
	}
	return clusterv1.ReadyReason
}

// oneLine strips the bullets of a summary, and says once what several conditions say.
func oneLine(bullets []string) []string {
	var lines []string
	for _, b := range bullets {
		_, text, found := strings.Cut(b, ": ")
		if !found {
			text = b
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return []string{strings.Join(lines, "; ")}
}
