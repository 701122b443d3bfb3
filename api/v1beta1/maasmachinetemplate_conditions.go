package v1beta1

// Conditions of a MaasMachineTemplate. No machine waits for them: what is claimed is what the spec asks for, whatever stands here.
const (
	// TemplateCapacityKnownCondition tells whether the status says what a Node from this template offers at least, in
	// `status.capacity` and `status.nodeInfo`, which the cluster autoscaler needs to scale up from zero. What the spec asks for
	// counts; where that is silent, the smallest machine in MAAS that fits. It is looked at about every hour.
	TemplateCapacityKnownCondition = "CapacityKnown"
)

// Reasons of CapacityKnown, beside MAASUnreachable, MAASKeyRefused, MAASKeyLacksRights, ClocksDiffer and NotMAAS. The latter five stand
// here only where the spec leaves something open and nothing was found for it before: what was found is kept while MAAS is away.
const (
	// CapacityKnownReason: the status says so.
	CapacityKnownReason = "CapacityKnown"
	// NoSuitableMachineReason: no machine in MAAS is of the kind that the template asks for, whoever has it now; the message says what
	// each constraint leaves. Machines that were not commissioned yet do not count. Do: add such machines to MAAS, or ask for less in
	// another MaasMachineTemplate. For scaling up from zero it is enough to set `minCPU`, `minMemory`, `minDiskSize` and `architecture`.
	NoSuitableMachineReason = "NoSuitableMachine"
	// ArchitectureUnknownReason: the machines that fit are of several architectures, or of one that Cluster API has no name for. The
	// cluster autoscaler then takes Nodes from this template for amd64. Do: set `architecture` in another MaasMachineTemplate.
	ArchitectureUnknownReason = "ArchitectureUnknown"
)
