package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Conditions of a MaasMachine. Ready summarises MachineAllocated, MachineDeployed, PoweredOn and Deleting.
const (
	// MachineReadyCondition is True while the machine is deployed, ours, and running.
	MachineReadyCondition = clusterv1.ReadyCondition

	// MachineAllocatedCondition tells whether a machine in MAAS is claimed for this object, and still is.
	MachineAllocatedCondition = "MachineAllocated"

	// MachineDeployedCondition tells whether the image runs on the claimed machine.
	MachineDeployedCondition = "MachineDeployed"

	// MachinePoweredOnCondition tells what MAAS sees of the power of a deployed machine. A flicker is Unknown first.
	MachinePoweredOnCondition = "PoweredOn"

	// MachineDNSAttachedCondition tells, for a control-plane machine, whether its address is in the cluster's DNS record.
	// It is not part of Ready: nothing waits for DNS.
	MachineDNSAttachedCondition = "DNSAttached"

	// MachineNodeLinkedCondition tells whether the machine's Node has our provider ID. It is not part of Ready, for it depends
	// on the workload cluster.
	MachineNodeLinkedCondition = "NodeProviderIDSet"

	// MachineDeletingCondition tells how far the release is.
	MachineDeletingCondition = clusterv1.DeletingCondition
)

// Reasons of MachineAllocated. While MAAS cannot be read, those of MAASAvailable stand here too.
const (
	// MachineAllocatedReason: a machine is claimed for this object.
	MachineAllocatedReason = "MachineAllocated"
	// WaitingForClusterInfrastructureReason: the MaasCluster is not provisioned yet.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason: the bootstrap provider has not made the user data yet.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// WaitingForOwnerReason: no Machine owns this object yet, or the one that does is being deleted, so nothing is claimed for it.
	WaitingForOwnerReason = "WaitingForOwnerMachine"
	// UnsupportedBootstrapFormatReason: the bootstrap data is in a format that the image's cloud-init cannot read.
	UnsupportedBootstrapFormatReason = "UnsupportedBootstrapFormat"
	// ClaimingReason: a machine is being claimed.
	ClaimingReason = "Claiming"
	// ClaimOutcomeUnknownReason: MAAS did not answer a claim; it is looked up before anything else is done.
	ClaimOutcomeUnknownReason = "ClaimOutcomeUnknown"
	// NoMachineAvailableReason: no machine fits; the message says what each constraint leaves.
	NoMachineAvailableReason = "NoMachineAvailable"
	// ClaimRefusedReason: MAAS refuses the claim as it is; the message has MAAS's words.
	ClaimRefusedReason = "ClaimRefused"
	// MachineNotFoundReason: MAAS has no machine with the stored system ID any more.
	MachineNotFoundReason = "MachineNotFound"
	// MachineNotOursReason: the machine with the stored system ID does not carry our claim; it is never touched.
	MachineNotOursReason = "MachineNotOurs"
	// MachineOfAnotherUserReason: the machine carries our claim, but its owner is not the user of our API key; it is not touched,
	// and not given up.
	MachineOfAnotherUserReason = "MachineOfAnotherUser"
	// InvalidClaimReason: the stored provider ID and system ID contradict each other or cannot be read.
	InvalidClaimReason = "InvalidClaim"
)

// Reasons of MachineDeployed. Those of the states in which MAAS may hold a machine are named for the state. What a claim waits for
// may stand here too, where it went away between claim and deployment.
const (
	// MachineDeployedReason: the image runs.
	MachineDeployedReason = "MachineDeployed"
	// WaitingForMachineReason: no machine is claimed yet.
	WaitingForMachineReason = "WaitingForMachine"
	// DeployingReason: MAAS is installing the image.
	DeployingReason = "MachineDeploying"
	// DeployOutcomeUnknownReason: MAAS did not answer the deploy call; the machine is read before anything else is done.
	DeployOutcomeUnknownReason = "DeployOutcomeUnknown"
	// DeployRefusedReason: MAAS refuses to deploy; the message has MAAS's words.
	DeployRefusedReason = "DeployRefused"
	// DeployFailedReason: the deployment failed on the machine.
	DeployFailedReason = "MachineDeployFailed"
	// MachineLeftDeployedReason: somebody moved a deployed machine to another state; it is never deployed again.
	MachineLeftDeployedReason = "MachineLeftDeployed"
	// MachineLockedReason: the machine is locked in MAAS, which refuses every act on it.
	MachineLockedReason = "MachineLocked"

	// MachineGivenBackReason: before it was deployed, the machine was released or is being commissioned anew.
	MachineGivenBackReason = "MachineGivenBack"
	// MachineBeingReleasedReason: before it was deployed, somebody began to release the machine or to erase its disks.
	MachineBeingReleasedReason = "MachineBeingReleased"
	// MachineMissingReason: MAAS cannot find the hardware any more.
	MachineMissingReason = "MachineMissing"
	// MachineReservedReason: MAAS keeps the machine for a named user, which no claim of ours asks for.
	MachineReservedReason = "MachineReserved"
	// MachineRetiredReason: an operator retired the machine.
	MachineRetiredReason = "MachineRetired"
	// MachineBrokenReason: an operator, or MAAS, marked the machine broken.
	MachineBrokenReason = "MachineBroken"
	// MachineInRescueModeReason: an operator has, or had, the machine in rescue mode.
	MachineInRescueModeReason = "MachineInRescueMode"
	// MachineTestingReason: an operator has the machine tested.
	MachineTestingReason = "MachineTesting"
	// MachineFailedTestingReason: the machine failed a hardware test.
	MachineFailedTestingReason = "MachineFailedTesting"
)

// Reasons of PoweredOn.
const (
	// PoweredOnReason: MAAS sees the power on.
	PoweredOnReason = "PoweredOn"
	// PowerUnknownReason: MAAS cannot tell.
	PowerUnknownReason = "PowerUnknown"
	// PoweredOffReason: MAAS sees the power off; the condition is Unknown until that has lasted.
	PoweredOffReason = "PoweredOff"
)

// Reasons of DNSAttached.
const (
	// DNSAttachedReason: the machine's address is in the record.
	DNSAttachedReason = "DNSAttached"
	// DNSAttachPendingReason: the address joins when the machine's API server serves.
	DNSAttachPendingReason = "DNSAttachPending"
	// DNSDetachPendingReason: the address has yet to leave the record.
	DNSDetachPendingReason = "DNSDetachPending"
	// DNSDetachedReason: the machine goes, and its address has left the record.
	DNSDetachedReason = "DNSDetached"
	// DNSNotManagedReason: the endpoint is the user's own.
	DNSNotManagedReason = "DNSNotManaged"
)

// Reasons of NodeProviderIDSet.
const (
	// NodeProviderIDSetReason: the Node has the provider ID.
	NodeProviderIDSetReason = "NodeProviderIDSet"
	// WaitingForNodeReason: no Node of this machine has registered.
	WaitingForNodeReason = "WaitingForNode"
	// WorkloadClusterUnreachableReason: the workload cluster does not answer.
	WorkloadClusterUnreachableReason = "WorkloadClusterUnreachable"
	// NodeProviderIDConflictReason: the Node carries another provider ID, which cannot be changed.
	NodeProviderIDConflictReason = "NodeProviderIDConflict"
)

// Reasons of Deleting. While MAAS cannot be read, those of MAASAvailable stand here too, and ClaimOutcomeUnknown while a claim that
// had no answer may still have an effect.
const (
	// NotDeletingReason: nobody deleted the object.
	NotDeletingReason = clusterv1.NotDeletingReason
	// LeavingDNSReason: the address is being taken out of the record.
	LeavingDNSReason = "LeavingDNS"
	// ReleasingReason: MAAS is releasing the machine.
	ReleasingReason = "Releasing"
	// ReleaseOutcomeUnknownReason: MAAS did not answer the release; the machine is read before anything else is done.
	ReleaseOutcomeUnknownReason = "ReleaseOutcomeUnknown"
	// ReleaseFailedReason: MAAS could not release the machine.
	ReleaseFailedReason = "ReleaseFailed"
	// ReleaseBlockedReason: MAAS does not allow a release in the machine's present state.
	ReleaseBlockedReason = "ReleaseBlocked"
	// HeldReason: the MaasMachine was deleted while its Machine was not; it is held until that is confirmed.
	HeldReason = "HeldUntilConfirmed"
)
