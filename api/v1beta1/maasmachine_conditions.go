package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Conditions of a MaasMachine. Ready sums up MachineAllocated, MachineDeployed, PoweredOn and Deleting. The other conditions
// depend on the workload cluster or on DNS, and do not make a machine unready.
const (
	// MachineReadyCondition is True while the machine is deployed, ours, and running. Otherwise its reason and its message are
	// those of the condition to look at, and it is what `kubectl get maasmachines` and `clusterctl describe cluster` show.
	MachineReadyCondition = clusterv1.ReadyCondition

	// MachineAllocatedCondition tells whether a machine in MAAS is claimed for this object, and still is.
	MachineAllocatedCondition = "MachineAllocated"

	// MachineDeployedCondition tells whether the image runs on the claimed machine.
	MachineDeployedCondition = "MachineDeployed"

	// MachinePoweredOnCondition tells what MAAS sees of the power of a deployed machine. A flicker is Unknown first.
	MachinePoweredOnCondition = "PoweredOn"

	// MachineDNSAttachedCondition tells, for a control-plane machine, whether its address is in the cluster's DNS record. It is
	// not part of Ready: nothing waits for DNS.
	MachineDNSAttachedCondition = "DNSAttached"

	// MachineNodeLinkedCondition tells whether the machine's Node has our provider ID. It is not part of Ready, for it depends
	// on the workload cluster.
	MachineNodeLinkedCondition = "NodeProviderIDSet"

	// MachineDeletingCondition tells how far the release is.
	MachineDeletingCondition = clusterv1.DeletingCondition
)

// Reasons of MachineAllocated, beside ImageNotFound and ImageIncomplete. No machine is claimed for an image that MAAS does not have. While MAAS
// cannot be read, the reasons of MAASAvailable of a MaasCluster stand here too.
const (
	// MachineAllocatedReason: a machine is claimed for this object; the message names it.
	MachineAllocatedReason = "MachineAllocated"
	// WaitingForClusterInfrastructureReason: the MaasCluster is not provisioned yet. Do: look at the conditions of the
	// MaasCluster.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason: the bootstrap provider has not made the user data yet. Workers wait here until the control
	// plane is initialized. Do: look at the first machine of the control plane; once that is initialized, at the KubeadmConfig
	// of the Machine.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// WaitingForOwnerReason: no Machine owns this object yet, or the one that does is being deleted, so nothing is claimed for
	// it. Do: wait, for Cluster API sets the owner within seconds. An object that was made by hand never gets one: make a
	// Machine or a MachineDeployment that refers to a MaasMachineTemplate.
	WaitingForOwnerReason = "WaitingForOwnerMachine"
	// UnsupportedBootstrapFormatReason: the bootstrap data is in another format than cloud-config, such as Ignition's. MAAS takes a machine for
	// deployed when cloud-init in its image fetches the data, which nothing else does. Do: set format `cloud-config` in the KubeadmControlPlane,
	// or in a new KubeadmConfigTemplate that the MachineDeployment refers to.
	UnsupportedBootstrapFormatReason = "UnsupportedBootstrapFormat"
	// InvalidBootstrapDataReason: cloud-init can make nothing of the bootstrap data, so that a machine would start with it and never join. Do:
	// correct what makes the data, which the message says what is wrong with; then delete the Machine to get another.
	InvalidBootstrapDataReason = "InvalidBootstrapData"
	// BootstrapDataTooLargeReason: the request to deploy with the bootstrap data is larger than MAAS takes. Do: make its files fewer or shorter in
	// the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to.
	BootstrapDataTooLargeReason = "BootstrapDataTooLarge"
	// BootstrapTokenExpiredReason: the join token in the bootstrap data is not valid any more, because the Cluster was paused or its API server
	// was away for longer than the token lives. Do: unpause the Cluster; where the message says that the token is gone, delete the Machine to get
	// another.
	BootstrapTokenExpiredReason = "BootstrapTokenExpired"
	// ReleaseScriptsUnsupportedReason: `spec.release.scripts` names release scripts, and MAAS is older than 3.5, which cannot run them. Do:
	// remove the scripts from the MaasMachine, and from its MaasMachineTemplate; or upgrade MAAS.
	ReleaseScriptsUnsupportedReason = "ReleaseScriptsUnsupported"
	// ClaimingReason: a machine is being allocated, which takes seconds, or MAAS was too busy for it and is asked again.
	ClaimingReason = "Claiming"
	// ClaimOutcomeUnknownReason: MAAS, or a proxy before it, gave no usable answer to a claim. What became of it is looked up before anything else is
	// done. Do: wait, for it passes within minutes. If it keeps coming back, look into MAAS's own log, and at how busy it is.
	ClaimOutcomeUnknownReason = "ClaimOutcomeUnknown"
	// NoMachineAvailableReason: no machine fits; the message says what each constraint leaves. Do: add machines to MAAS, wait
	// until some are released, or ask for less in another MaasMachineTemplate. The claim is made as soon as a machine fits.
	NoMachineAvailableReason = "NoMachineAvailable"
	// ClaimRefusedReason: MAAS refuses the claim as it is, or says that it failed at it; the message has MAAS's words. Do: what the message
	// says. Often the user of the API key lacks a right: grant it in MAAS. The claim is tried again by itself.
	ClaimRefusedReason = "ClaimRefused"
	// MachineNotFoundReason: MAAS has no machine with the stored system ID any more. Where it was not deployed yet, another one is claimed, as long
	// as attempts are left. Do: nothing, if a MachineHealthCheck
	// watches it, for Cluster API then replaces it. Else delete the Machine.
	MachineNotFoundReason = "MachineNotFound"
	// MachineNotOursReason: the machine with the stored system ID does not carry our claim: somebody else has it. It is never
	// touched. Do: nothing, if a MachineHealthCheck watches it, for Cluster API then replaces it. Else delete the Machine.
	MachineNotOursReason = "MachineNotOurs"
	// MachineOfAnotherUserReason: the machine carries our claim, but belongs to another MAAS user than our API key does. It is
	// neither touched nor given up. Do: put a key of that user into `MAAS_API_KEY`, and restart the manager.
	// All machines of that user show this: do not release them.
	MachineOfAnotherUserReason = "MachineOfAnotherUser"
	// MachineInAnotherMAASReason: the machine was allocated in another MAAS than the manager talks to, and this one does not have it. It is
	// not given up, and no other is claimed. Do: point `MAAS_ENDPOINT` back to that MAAS, and restart the manager. If it is the same MAAS under
	// another name, and the machine was deleted there, set the annotation `infrastructure.cluster.x-k8s.io/maas-host` to the new name.
	MachineInAnotherMAASReason = "MachineInAnotherMAAS"
	// InvalidClaimReason: the stored provider ID and system ID contradict each other, or cannot be read, or the claim is that of
	// another object: somebody edited or copied them. Do: what the message says: set `spec.providerID` back, or delete the copy and its Machine.
	InvalidClaimReason = "InvalidClaim"
)

// Reasons of MachineDeployed. Where MAAS holds the machine in a state in which it cannot be deployed, the reason is named for that
// state. What a claim waits for may stand here too, where it went away between the claim and the deployment; and the reasons of
// MAASAvailable of a MaasCluster, while MAAS cannot be read. ErasingDisks stands here while the disks of a machine on which the deployment failed
// are erased, before another one is claimed.
const (
	// MachineDeployedReason: the image runs.
	MachineDeployedReason = "MachineDeployed"
	// WaitingForMachineReason: no machine is claimed yet. Do: see MachineAllocated.
	WaitingForMachineReason = "WaitingForMachine"
	// DeployingReason: MAAS is installing the image, or was too busy to begin and is asked again. Bare metal takes from minutes to most of an
	// hour. Do: wait. The machine's page in MAAS shows how far it is.
	DeployingReason = "MachineDeploying"
	// DeployOutcomeUnknownReason: MAAS, or a proxy before it, gave no usable answer to the deploy call. The machine is read before anything else
	// is done. Do: wait, for it passes within minutes. If it keeps coming back, look into MAAS's own log, and at how busy it is.
	DeployOutcomeUnknownReason = "DeployOutcomeUnknown"
	// DeployRefusedReason: MAAS refuses to deploy, or says that it could not; the message has MAAS's words. Do: what the message says. Often the
	// image is not there, or no address is left in the subnet. The deployment is tried again by itself.
	DeployRefusedReason = "DeployRefused"
	// DeployFailedReason: the deployment failed on as many machines as spec.deployAttempts allows, or on one that spec.keepFailed keeps. Do: look
	// at the machines' installation output in MAAS. If machines are at fault, mark them broken there; if the image is, correct it. Then delete
	// the Machine to get another, or let a MachineHealthCheck do it.
	DeployFailedReason = "MachineDeployFailed"
	// DeployRetryReason: the deployment failed on a machine, or took longer than spec.deployTimeout. The machine is given back and avoided for
	// a while, and another one is claimed by itself. Do: nothing, unless the message says that the machine cannot be given back.
	DeployRetryReason = "MachineDeployRetrying"
	// MachineLeftDeployedReason: somebody moved the deployed machine to another state. It is never deployed again. Do: bring it back in MAAS as
	// the message says, such as out of rescue mode; or delete the Machine, or let a MachineHealthCheck do it.
	MachineLeftDeployedReason = "MachineLeftDeployed"
	// MachineLockedReason: the machine is locked in MAAS, which refuses every act on it. Do: unlock it in MAAS.
	MachineLockedReason = "MachineLocked"

	// MachineGivenBackReason: before it was deployed, the machine was released or is being commissioned anew. Do: delete the
	// Machine to get another, or let a MachineHealthCheck do it.
	MachineGivenBackReason = "MachineGivenBack"
	// MachineMissingReason: MAAS cannot find the hardware any more. Do: look at the machine: its power, its cables, its network.
	// Then commission it again, and delete the Machine to get another.
	MachineMissingReason = "MachineMissing"
	// MachineReservedReason: MAAS keeps the machine for a named user, which no claim of ours asks for. Do: delete the Machine to
	// get another.
	MachineReservedReason = "MachineReserved"
	// MachineRetiredReason: an operator retired the machine. Do: delete the Machine to get another.
	MachineRetiredReason = "MachineRetired"
	// MachineBrokenReason: an operator, or MAAS, marked the machine broken. Do: repair it and mark it fixed, or delete the
	// Machine to get another.
	MachineBrokenReason = "MachineBroken"
	// MachineInRescueModeReason: an operator has, or had, the machine in rescue mode. Do: exit rescue mode in MAAS.
	MachineInRescueModeReason = "MachineInRescueMode"
	// MachineTestingReason: an operator has the machine tested. Do: wait for the end of the tests, or abort them in MAAS.
	MachineTestingReason = "MachineTesting"
	// MachineFailedTestingReason: the machine failed a hardware test. Do: look at the results in MAAS. Override the failed test there, or mark the
	// machine broken, for else MAAS does not release it; then delete the Machine to get another.
	MachineFailedTestingReason = "MachineFailedTesting"
)

// Reasons of PoweredOn.
const (
	// PoweredOnReason: MAAS sees the power on.
	PoweredOnReason = "PoweredOn"
	// PowerUnknownReason: MAAS cannot tell. Do: if it stays, check the machine's power settings in MAAS.
	PowerUnknownReason = "PowerUnknown"
	// PoweredOffReason: MAAS sees the power off. The condition is Unknown until that has lasted; then it is False, and the
	// machine is switched on, unless it is locked. Do: unlock one that is locked. A machine that was deployed to memory is lost: delete the
	// Machine to get another. Where switching on fails, check the machine's power settings in MAAS.
	PoweredOffReason = "PoweredOff"
)

// Reasons of DNSAttached.
const (
	// DNSAttachedReason: the machine's address is in the record.
	DNSAttachedReason = "DNSAttached"
	// DNSAttachPendingReason: the address joins the record when the machine has one, as `spec.addressFrom` asks, and its API server serves. Do: if
	// it stays, look at the message; where it waits for the API server, look at the kubelet and the static pods on the machine.
	DNSAttachPendingReason = "DNSAttachPending"
	// DNSDetachPendingReason: the machine goes, and has yet to leave the record: after one that was deleted before it, or once another one
	// has joined, or when MAAS lets it go. Its Machine is held meanwhile, for ten minutes at most. Do: if it stays, the message says what it waits for.
	DNSDetachPendingReason = "DNSDetachPending"
	// DNSForgettingReason: the address has left the record, and resolvers may still know it. The pre-terminate hook
	// `pre-terminate.delete.hook.machine.cluster.x-k8s.io/maas-endpoint` holds the Machine until they have forgotten it, so that the API server
	// serves until then. Do: wait, for it takes about half a minute.
	DNSForgettingReason = "DNSForgetting"
	// DNSDetachedReason: the machine goes, and its address has left the record.
	DNSDetachedReason = "DNSDetached"
	// DNSNotManagedReason: the endpoint is an address of your own; DNS is left alone.
	DNSNotManagedReason = "DNSNotManaged"
)

// Reasons of NodeProviderIDSet.
const (
	// NodeProviderIDSetReason: the Node has the provider ID.
	NodeProviderIDSetReason = "NodeProviderIDSet"
	// WaitingForNodeReason: no Node of this machine has registered, or several could be it. Do: if it stays long after the deployment, look at
	// cloud-init and the kubelet on the machine. Of several Nodes, delete those that no machine in MAAS runs as.
	WaitingForNodeReason = "WaitingForNode"
	// WorkloadClusterUnreachableReason: the workload cluster does not answer. Do: see APIServerAvailable of the MaasCluster.
	WorkloadClusterUnreachableReason = "WorkloadClusterUnreachable"
	// NodeProviderIDConflictReason: the Node carries another provider ID, which cannot be changed. Do: something else sets it,
	// such as a kubelet argument: remove that; then drain and delete the Node and restart the kubelet on it, so that it registers anew.
	NodeProviderIDConflictReason = "NodeProviderIDConflict"
)

// Reasons of Deleting, beside ClaimOutcomeUnknown. The latter stands here while a claim that had no answer may still have an effect.
// While MAAS cannot be read, the reasons of MAASAvailable of a MaasCluster stand here too.
const (
	// NotDeletingReason: nobody deleted the object.
	NotDeletingReason = clusterv1.NotDeletingReason
	// LeavingDNSReason: the address is being taken out of the DNS record, which comes before the release. Do: if it stays, the
	// message says why MAAS does not let it go.
	LeavingDNSReason = "LeavingDNS"
	// ReleasingReason: MAAS is releasing the machine, runs release scripts on it, or was too busy to begin and is asked again.
	ReleasingReason = "Releasing"
	// ErasingDisksReason: MAAS erases the disks of the machine, and frees it when that is done. The object goes when the machine is free, or when
	// its disks have been erased for 20 minutes without trouble: MAAS is left to finish what takes longer. Do: wait.
	ErasingDisksReason = "ErasingDisks"
	// ReleaseOutcomeUnknownReason: MAAS, or a proxy before it, gave no usable answer to the release. The machine is read before anything else is
	// done. Do: wait, for it passes within minutes. If it keeps coming back, look into MAAS's own log, and at how busy it is.
	ReleaseOutcomeUnknownReason = "ReleaseOutcomeUnknown"
	// ReleaseFailedReason: MAAS refuses to release the machine, or says that it could not; the message has MAAS's words. Do: look at the machine
	// in MAAS, above all at its power settings. It is tried again by itself, less and less often. Where erasing the disks failed, set
	// `spec.release.erase` of the MaasMachine to `None` to release the machine with the data on it.
	// For hardware beyond hope: the annotation `infrastructure.cluster.x-k8s.io/maas-abandon`, with the reason as its value,
	// lets the object go without a release.
	ReleaseFailedReason = "ReleaseFailed"
	// ReleaseBlockedReason: MAAS allows no release in the machine's present state, or CAPMAAS did not claim the machine. Do: the
	// message says what to do in MAAS. Or let go of the machine with the annotation
	// `infrastructure.cluster.x-k8s.io/maas-abandon`, with the reason as its value.
	ReleaseBlockedReason = "ReleaseBlocked"
	// HeldReason: the MaasMachine was deleted while its Machine was not; it is held until that is confirmed. Do: delete the
	// Machine instead, or confirm with the annotation `infrastructure.cluster.x-k8s.io/maas-confirm-delete` that the machine is to be
	// released with all on it.
	HeldReason = "HeldUntilConfirmed"
)
