package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Conditions of a MaasCluster. Ready summarises the endpoint; MAAS being away is not part of it.
const (
	// ClusterReadyCondition is True once the control plane's endpoint is known.
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
	// EndpointReadyReason: the record exists, or the user's address is known.
	EndpointReadyReason = "LoadBalancerReady"
	// EndpointFailedReason: the record could not be made; the message has MAAS's words.
	EndpointFailedReason = "LoadBalancerFailed"
	// WaitingForEndpointReason: the endpoint is not chosen or not given yet.
	WaitingForEndpointReason = "WaitForDNSName"
	// EndpointNotOursReason: a record of that name exists and does not carry our mark; it is never touched.
	EndpointNotOursReason = "DNSRecordNotOurs"
	// DomainNotFoundReason: MAAS has no such domain.
	DomainNotFoundReason = "DomainNotFound"
	// DomainNotAuthoritativeReason: MAAS does not serve the domain itself, so no record in it would be answered.
	DomainNotAuthoritativeReason = "DomainNotAuthoritative"
)

// Reasons of APIServerAvailable.
const (
	// APIServerAvailableReason: the API server answers.
	APIServerAvailableReason = "APIServerAvailable"
	// APIServerNotReadyReason: it does not, or not yet.
	APIServerNotReadyReason = "APIServerNotReady"
)

// Reasons of MAASAvailable.
const (
	// MAASAvailableReason: MAAS answers.
	MAASAvailableReason = "MAASAvailable"
	// MAASUnreachableReason: MAAS does not answer.
	MAASUnreachableReason = "MAASUnreachable"
	// MAASKeyRefusedReason: MAAS refuses our key, or the key lacks a right.
	MAASKeyRefusedReason = "MAASKeyRefused"
	// NotMAASReason: what answers at the endpoint is not MAAS.
	NotMAASReason = "NotMAAS"
)

// Reasons of Deleting, beside NotDeleting.
const (
	// WaitingForMachinesReason: machines of the cluster still exist.
	WaitingForMachinesReason = "WaitingForMachines"
	// RemovingDNSReason: the record is being removed.
	RemovingDNSReason = "RemovingDNS"
)
