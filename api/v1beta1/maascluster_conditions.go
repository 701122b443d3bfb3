package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Conditions of a MaasCluster. Ready is about the endpoint of the control plane alone. It does not turn False because MAAS or
// the workload API server is away: Cluster API would stop all health checks of the cluster.
const (
	// ClusterReadyCondition is True once the control plane's endpoint is known. Otherwise its reason and its message are those
	// of the condition to look at.
	ClusterReadyCondition = clusterv1.ReadyCondition

	// ClusterEndpointReadyCondition tells whether the control plane's address is published.
	ClusterEndpointReadyCondition = "LoadBalancerReady"

	// ClusterAPIServerAvailableCondition tells whether the workload API server answers. It is not part of Ready.
	ClusterAPIServerAvailableCondition = "APIServerAvailable"

	// MAASAvailableCondition tells whether MAAS answers and accepts our key. It is not part of Ready.
	MAASAvailableCondition = "MAASAvailable"

	// ClusterDeletingCondition tells how far the removal is.
	ClusterDeletingCondition = clusterv1.DeletingCondition
)

// Reasons of LoadBalancerReady.
const (
	// EndpointReadyReason: the DNS record exists, or your own address is known.
	EndpointReadyReason = "LoadBalancerReady"
	// EndpointFailedReason: the record could not be made; the message has MAAS's words. Do: set right what MAAS names; the
	// record is tried again by itself.
	EndpointFailedReason = "LoadBalancerFailed"
	// WaitingForEndpointReason: the endpoint is not chosen, or not given, yet. Do: with an endpoint of your own, set
	// `spec.controlPlaneEndpoint`. Otherwise wait, for Cluster API sets the owner within seconds.
	WaitingForEndpointReason = "WaitForDNSName"
	// EndpointNotOursReason: a record of that name exists and does not carry our mark. It is never touched. Do: remove it in
	// MAAS, or use another name.
	EndpointNotOursReason = "DNSRecordNotOurs"
	// DomainNotFoundReason: MAAS has no such domain. Do: make it in MAAS.
	DomainNotFoundReason = "DomainNotFound"
	// DomainNotAuthoritativeReason: MAAS does not serve the domain itself, so no record in it would be answered. Do: make it
	// authoritative in MAAS, or use a domain for which MAAS is authoritative.
	DomainNotAuthoritativeReason = "DomainNotAuthoritative"
)

// Reasons of APIServerAvailable.
const (
	// APIServerAvailableReason: the API server answers.
	APIServerAvailableReason = "APIServerAvailable"
	// APIServerNotReadyReason: it does not, or not yet. Do: before the control plane is initialized, look at its first machine.
	// Later, look whether the endpoint is reachable from the management cluster, and at the machines of the control plane.
	APIServerNotReadyReason = "APIServerNotReady"
)

// Reasons of MAASAvailable.
const (
	// MAASAvailableReason: MAAS answers, and accepts our key.
	MAASAvailableReason = "MAASAvailable"
	// MAASUnreachableReason: MAAS does not answer. Clusters run on; nothing is claimed or released meanwhile. Do: look whether
	// MAAS runs, and whether the management cluster reaches it at `MAAS_ENDPOINT`.
	MAASUnreachableReason = "MAASUnreachable"
	// MAASKeyRefusedReason: MAAS refuses our key, or the key lacks a right. Do: make a key that may, in MAAS: for DNS records,
	// that of an administrator.
	MAASKeyRefusedReason = "MAASKeyRefused"
	// NotMAASReason: what answers at the endpoint is not MAAS. Do: correct `MAAS_ENDPOINT`.
	NotMAASReason = "NotMAAS"
)

// Reasons of Deleting, beside NotDeleting.
const (
	// WaitingForMachinesReason: machines of the cluster still exist; the message names some. Do: look at their condition
	// Deleting.
	WaitingForMachinesReason = "WaitingForMachines"
	// RemovingDNSReason: the record is being removed. Do: if it stays, the message says why MAAS does not remove it.
	RemovingDNSReason = "RemovingDNS"
)
