// Package telemetry holds the names of metrics and events, in one place. The reason of an event says what happened, in the past
// tense where something was done; people filter by it. docs/conditions.md is made from the docstrings here, see hack/conditions.
package telemetry

// Events of a MaasCluster.
const (
	// EndpointChosen: the name of the control plane's DNS record was chosen and written down.
	EndpointChosen = "EndpointChosen"
	// EndpointPublished: the DNS record was made, for the first time or again.
	EndpointPublished = "EndpointPublished"
	// EndpointRepaired: addresses that belong to no machine of the cluster were taken out of the record. Do: find out who put
	// them there.
	EndpointRepaired = "EndpointRepaired"
	// EndpointFailed: the endpoint cannot be published; the note says why. Where MAASUnavailable tells the cause, there is no such event.
	// Do: see LoadBalancerReady.
	EndpointFailed = "EndpointFailed"
	// EndpointRemoved: the DNS record was removed with its cluster.
	EndpointRemoved = "EndpointRemoved"
	// MAASUnavailable: MAAS does not answer, or cannot be worked with. Do: see MAASAvailable.
	MAASUnavailable = "MAASUnavailable"
	// MAASAvailable: MAAS answers, and can be worked with, again.
	MAASAvailable = "MAASAvailable"
	// CheckFailed: something is missing in MAAS that the cluster needs, or its endpoint does not resolve; the note says what.
	// Each condition makes an event of its own, but for a DNS domain that EndpointFailed tells of. Do: see DomainServed,
	// ZonesAndPoolsFound, ImagesFound and EndpointResolves.
	CheckFailed = "CheckFailed"
	// CheckMended: that is not so any more.
	CheckMended = "CheckMended"
	// APIServerReached: the workload API server began to answer.
	APIServerReached = "APIServerReached"
	// APIServerLost: the workload API server stopped answering. Do: see APIServerAvailable.
	APIServerLost = "APIServerLost"
)

// Events of a MaasMachine.
const (
	// MachineAllocated: a machine was claimed in MAAS.
	MachineAllocated = "MachineAllocated"
	// MachineAdopted: a machine that a lost answer had claimed was found by its claim.
	MachineAdopted = "MachineAdopted"
	// NoMachineAvailable: no machine fits. Do: see MachineAllocated.
	NoMachineAvailable = "NoMachineAvailable"
	// ClaimRefused: MAAS refuses a claim, or fails at it; the note has its words. Do: see MachineAllocated.
	ClaimRefused = "ClaimRefused"
	// DeployStarted: MAAS was told to install the image.
	DeployStarted = "DeployStarted"
	// Deployed: the image runs.
	Deployed = "Deployed"
	// DeployFailed: the deployment failed on the machine, or MAAS refuses it, or fails at it. Do: see MachineDeployed.
	DeployFailed = "DeployFailed"
	// MachineLost: the machine is gone from MAAS, or is not ours any more. Do: see MachineAllocated.
	MachineLost = "MachineLost"
	// MachineUnusable: the machine is there, but in a state in which it is of no use, such as locked, in rescue mode, tested or marked broken, or
	// the API key is another user's. Do: see MachineAllocated and MachineDeployed.
	MachineUnusable = "MachineUnusable"
	// InvalidClaim: what the object says of its machine contradicts itself, or is another object's. Do: see MachineAllocated.
	InvalidClaim = "InvalidClaim"
	// UnsupportedBootstrapFormat: the bootstrap data is in a format that the image's cloud-init cannot read. Do: see MachineAllocated.
	UnsupportedBootstrapFormat = "UnsupportedBootstrapFormat"
	// InvalidBootstrapData: no machine can be deployed with the bootstrap data, or none could join with it. Do: see MachineAllocated.
	InvalidBootstrapData = "InvalidBootstrapData"
	// PoweredOff: the machine's power is off, and was for some minutes. Do: see PoweredOn.
	PoweredOff = "PoweredOff"
	// NodeProviderIDConflict: the machine's Node carries the provider ID of another. Do: see NodeProviderIDSet.
	NodeProviderIDConflict = "NodeProviderIDConflict"
	// PoweredOn: the machine's power was switched on.
	PoweredOn = "PoweredOn"
	// DNSAttached: the machine's address joined the control plane's record.
	DNSAttached = "DNSAttached"
	// DNSDetached: the machine's address left the control plane's record.
	DNSDetached = "DNSDetached"
	// NodeLinked: the machine's Node got its provider ID.
	NodeLinked = "NodeLinked"
	// ReleaseStarted: MAAS was told to release the machine.
	ReleaseStarted = "ReleaseStarted"
	// Released: the machine is free.
	Released = "Released"
	// ReleaseFailed: the machine could not be released. Do: see Deleting.
	ReleaseFailed = "ReleaseFailed"
	// MarkedBroken: a machine was marked broken in MAAS instead of being released, as an annotation of the MaasMachine asked. Do: look at the
	// machine, and mark it fixed in MAAS.
	MarkedBroken = "MarkedBroken"
	// Kept: a machine whose deployment failed was let go of without being released, as its spec asked. Do: look at it in MAAS, and release it there.
	Kept = "Kept"
	// Held: a MaasMachine was deleted while its Machine was not; nothing is released until that is confirmed. Do: see Deleting.
	Held = "Held"
	// MovedAway: `clusterctl move` had taken the MaasMachine to another management cluster, which has the machine now.
	MovedAway = "MovedAway"
	// Abandoned: a person let go of a machine that could not be released. Do: see to the machine in MAAS, for nobody else does.
	Abandoned = "Abandoned"
)

// Events of a MaasRemediation.
const (
	// RemediationStarted: a machine whose health check failed is switched off, to be switched on again.
	RemediationStarted = "RemediationStarted"
	// MachinePowerCycled: the machine was off, and is switched on again.
	MachinePowerCycled = "MachinePowerCycled"
	// RemediationGaveUp: nothing more is tried; the note says why. Do: look at the machine; Cluster API replaces its Machine.
	RemediationGaveUp = "RemediationGaveUp"
	// ReplacementRequested: the owner of the Machine was told to replace it. Do: if the Machine stays, look at its condition OwnerRemediated.
	ReplacementRequested = "ReplacementRequested"
)

// Actions of events. They say what was being done when it happened.
const (
	// ActionPublishEndpoint is all that makes a control plane reachable.
	ActionPublishEndpoint = "PublishEndpoint"
	// ActionRemoveEndpoint is taking that away again.
	ActionRemoveEndpoint = "RemoveEndpoint"
	// ActionObserve is looking, without changing anything.
	ActionObserve = "Observe"
	// ActionCheckDomain is looking whether MAAS serves the cluster's DNS domain. Each check has an action of its own, for events of one
	// object that share reason and action are shown as one, with the note of the first.
	ActionCheckDomain = "CheckDomain"
	// ActionCheckPlaces is looking whether MAAS has the zones and resource pools that are asked for.
	ActionCheckPlaces = "CheckPlaces"
	// ActionCheckImages is looking whether MAAS has the images that are asked for.
	ActionCheckImages = "CheckImages"
	// ActionCheckName is looking up the name of the control plane.
	ActionCheckName = "CheckName"
	// ActionClaim is getting a machine.
	ActionClaim = "Claim"
	// ActionDeploy is installing a machine.
	ActionDeploy = "Deploy"
	// ActionRelease is giving a machine back.
	ActionRelease = "Release"
	// ActionPower is switching a machine on.
	ActionPower = "Power"
	// ActionRemediate is healing a machine.
	ActionRemediate = "Remediate"
	// ActionLinkNode is telling a machine and its Node that they are one.
	ActionLinkNode = "LinkNode"
)
