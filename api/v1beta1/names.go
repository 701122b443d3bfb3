package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

const (
	// ClusterFinalizer holds a MaasCluster until its DNS record is gone. The name is that of the provider before this one, so
	// that its objects can be deleted too.
	ClusterFinalizer = "maascluster.infrastructure.cluster.x-k8s.io"

	// MachineFinalizer holds a MaasMachine until its machine is released. The name is that of the provider before this one.
	MachineFinalizer = "maasmachine.infrastructure.cluster.x-k8s.io"

	// EvacuationFinalizer was set on LXD hosts by the provider before this one. Nobody sets it now; it is removed on deletion.
	EvacuationFinalizer = "maas.lxd.io/host-evacuation"

	// RemediationFinalizer holds a MaasRemediation until its machine, if it was switched off, is on again.
	RemediationFinalizer = "maasremediation.infrastructure.cluster.x-k8s.io"

	// ClaimAnnotation on a MaasMachine holds its claim: a random token that MAAS learns as agent_name with the allocation, so
	// that the machine is found again whatever happened in between. It never changes, and it survives `clusterctl move`.
	ClaimAnnotation = "infrastructure.cluster.x-k8s.io/maas-claim"

	// ClaimAttemptAnnotation on a MaasMachine names the machine whose allocation or deployment was asked for and not yet answered,
	// and since when: "<system ID> <RFC 3339 time>". While it stands, no other machine is asked for, so that a lost answer never
	// leads to two, and a deletion waits until a late answer can have no effect. It comes and goes with Cluster API's block-move
	// annotation.
	ClaimAttemptAnnotation = "infrastructure.cluster.x-k8s.io/maas-claim-attempt"

	// DeployAttemptsAnnotation on a MaasMachine tells, as a JSON list, on which machines its image was to be installed so far, since when,
	// and why it came to nothing. It survives `clusterctl move`, so that attempts are counted and failed machines avoided there too. It goes
	// when the image runs.
	DeployAttemptsAnnotation = "infrastructure.cluster.x-k8s.io/maas-deploy-attempts"

	// UserAnnotation on a MaasMachine names the MAAS user who got its machine. MAAS does not show a user's machines to others who are no
	// administrators, so with the key of another user they look like somebody else's.
	UserAnnotation = "infrastructure.cluster.x-k8s.io/maas-user"

	// HostAnnotation on a MaasMachine names the MAAS that was asked for its machine, as MAAS_ENDPOINT names it (host, and port if any). A
	// manager that is pointed at another MAAS does not find the machine there, and must not take it for gone. It follows by itself when the
	// same machine is found under another name of MAAS; whoever knows that it is gone there may set it by hand.
	HostAnnotation = "infrastructure.cluster.x-k8s.io/maas-host"

	// ExtraMachinesAnnotation on a MaasMachine lists the system IDs, with commas between them, of machines that its claim got beside the one
	// that it keeps, for a request was answered late. Each stands there until it is given back: MAAS forgets the claim when a release starts,
	// so that nothing else would tell of one whose release fails.
	ExtraMachinesAnnotation = "infrastructure.cluster.x-k8s.io/maas-extra-machines"

	// AbandonAnnotation on a MaasMachine that is being deleted lets it go although its machine could not be released. Its
	// value is the reason, which is recorded.
	AbandonAnnotation = "infrastructure.cluster.x-k8s.io/maas-abandon"

	// ConfirmDeleteAnnotation on a MaasMachine that is being deleted while its owner Machine is not says that this is meant.
	ConfirmDeleteAnnotation = "infrastructure.cluster.x-k8s.io/maas-confirm-delete"

	// RemediationAnnotation on a MaasMachine tells, as JSON, when its machine was switched off and on again because its Node was not healthy, and
	// whether that was given up. It survives the MaasRemediation, which goes whenever the Node looks healthy, and `clusterctl move`.
	RemediationAnnotation = "infrastructure.cluster.x-k8s.io/maas-remediation"

	// MarkBrokenAnnotation on a MaasMachine says that its machine, when it is given back, is switched off and marked broken in MAAS, and why:
	// nobody gets it before an operator marked it fixed there. A remediation that gave up sets it, and so may a person.
	MarkBrokenAnnotation = "infrastructure.cluster.x-k8s.io/maas-mark-broken"

	// EndpointHookAnnotation on a Machine is a pre-terminate hook of Cluster API: while it stands, the Machine's infrastructure is not
	// deleted, and its API server serves. Every control-plane machine that joins a DNS record gets it. It goes when the machine's address has
	// left the record and resolvers have forgotten it, or where there is nothing to wait for.
	EndpointHookAnnotation = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/maas-endpoint"

	// LeftEndpointAnnotation on a MaasMachine says when the machine's address left the control plane's DNS record, and how long resolvers may
	// keep it from then on: "<RFC 3339 time> <duration>", such as "2026-03-01T12:00:00Z 10s". It survives `clusterctl move` and the manager.
	LeftEndpointAnnotation = "infrastructure.cluster.x-k8s.io/maas-left-endpoint"

	// EndpointMarkAnnotation on a MaasCluster holds the random token by which its DNS record in MAAS is known as ours. It is
	// written before the record is made, it never changes, and it survives `clusterctl move`.
	EndpointMarkAnnotation = "infrastructure.cluster.x-k8s.io/maas-endpoint-mark"
)

// Keys of the workload annotations that a claimed machine carries in MAAS, where operators see them. MAAS answers 500 to a key
// with a slash, and wipes all of them when the machine is released.
const (
	// MachineAnnotationClaim holds the claim token; a machine that carries it, and whose owner is our user, is ours.
	MachineAnnotationClaim = "capmaas-claim"
	// MachineAnnotationCluster holds <namespace>.<name> of the Cluster.
	MachineAnnotationCluster = "capmaas-cluster"
	// MachineAnnotationMachine holds <namespace>.<name> of the MaasMachine.
	MachineAnnotationMachine = "capmaas-machine"
	// MachineAnnotationAbandoned says why a MaasMachine was let go without its machine being released.
	MachineAnnotationAbandoned = "capmaas-abandoned"
	// MachineAnnotationKept says that a machine whose deployment failed was let go of without being released, for a person to look at.
	MachineAnnotationKept = "capmaas-kept"
)
