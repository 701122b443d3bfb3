package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// Conditions of a MaasCluster. Ready is about the endpoint of the control plane alone. It does not turn False because MAAS or
// the workload API server is away: Cluster API would stop all health checks of the cluster.
const (
	// ClusterReadyCondition is True once the control plane's endpoint is known. Otherwise its reason and its message are those
	// of the condition to look at. While it is True, its message is what the first of the checks found wrong, if anything is.
	ClusterReadyCondition = clusterv1.ReadyCondition

	// ClusterEndpointReadyCondition tells whether the control plane's address is published.
	ClusterEndpointReadyCondition = "LoadBalancerReady"

	// ClusterAPIServerAvailableCondition tells whether the workload API server answers. It is not part of Ready.
	ClusterAPIServerAvailableCondition = "APIServerAvailable"

	// MAASAvailableCondition tells whether MAAS can be worked with: it answers, is of a version that is supported, accepts the
	// API key, gives its user the rights that are needed, and has the same time as the manager's host. It is not part of Ready.
	MAASAvailableCondition = "MAASAvailable"

	// ClusterDomainServedCondition tells, where the endpoint is a DNS record in MAAS, whether MAAS answers for its domain. It is
	// looked at about every ten minutes, and is not part of Ready.
	ClusterDomainServedCondition = "DomainServed"

	// ClusterZonesAndPoolsFoundCondition tells whether MAAS has the zones and resource pools that the MaasCluster, its
	// MaasMachineTemplates, and its machines that are still to be claimed name. It is looked at about every ten minutes, and is not
	// part of Ready.
	ClusterZonesAndPoolsFoundCondition = "ZonesAndPoolsFound"

	// ClusterImagesFoundCondition tells whether MAAS has the images that the cluster's MaasMachineTemplates, and its machines that
	// are still to be deployed, name, for the architecture that they ask for. It is looked at about every ten minutes, and is not
	// part of Ready.
	ClusterImagesFoundCondition = "ImagesFound"

	// ClusterEndpointResolvesCondition tells whether the name of the control plane's endpoint, looked up in the management cluster,
	// leads to the addresses that are published for it. It is not part of Ready.
	ClusterEndpointResolvesCondition = "EndpointResolves"

	// ClusterDeletingCondition tells how far the removal is.
	ClusterDeletingCondition = clusterv1.DeletingCondition
)

// Reasons of LoadBalancerReady, beside MAASUnreachable, MAASKeyRefused, MAASKeyLacksRights, NotMAAS and ClocksDiffer. The latter five stand
// here while the endpoint cannot be published because MAAS cannot be worked with. Once the cluster is provisioned, what was known of the
// endpoint stays while MAAS is away.
const (
	// EndpointReadyReason: the DNS record exists, or your own address is known.
	EndpointReadyReason = "LoadBalancerReady"
	// EndpointFailedReason: the record could not be made, for a reason that has no name of its own; the message has MAAS's words. Do: set
	// right what the message names; the record is tried again by itself.
	EndpointFailedReason = "LoadBalancerFailed"
	// WaitingForEndpointReason: the endpoint is not chosen, or not given, yet. Do: with an endpoint of your own, set
	// `spec.controlPlaneEndpoint`. Otherwise wait, for Cluster API sets the owner within seconds.
	WaitingForEndpointReason = "WaitForDNSName"
	// EndpointNotOursReason: a record of that name exists and does not carry the mark of this cluster. It is never
	// touched. Do: delete it in MAAS if nobody needs it, or make the cluster anew: its name is then another.
	EndpointNotOursReason = "DNSRecordNotOurs"
	// DomainNotFoundReason: MAAS has no such domain. Do: make it in MAAS.
	DomainNotFoundReason = "DomainNotFound"
	// DomainNotAuthoritativeReason: MAAS does not serve the domain itself, so no record in it would be answered. Do: make it
	// authoritative in MAAS, unless another DNS server serves this domain; then use another `dnsDomain`.
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
	// MAASAvailableReason: MAAS answers, and can be worked with. A message notes a version that is newer than those tested.
	MAASAvailableReason = "MAASAvailable"
	// MAASUnreachableReason: MAAS does not answer. Clusters run on; nothing is claimed or released meanwhile. Do: look whether
	// MAAS runs, and whether the management cluster reaches it at `MAAS_ENDPOINT`.
	MAASUnreachableReason = "MAASUnreachable"
	// MAASKeyRefusedReason: MAAS does not accept the API key. Do: make a key in MAAS for the same user, put it
	// into `MAAS_API_KEY`, and restart the manager. Another user's would not do: machines belong to the user that claimed them.
	MAASKeyRefusedReason = "MAASKeyRefused"
	// MAASKeyLacksRightsReason: MAAS knows the API key, but its user may not do what is needed: DNS records are written by
	// administrators only, and a disabled user may do nothing. Do: make that user an administrator in MAAS, or enable it again.
	MAASKeyLacksRightsReason = "MAASKeyLacksRights"
	// MAASVersionUnsupportedReason: MAAS is older than 3.3, or names a version that cannot be read. Do: upgrade MAAS.
	MAASVersionUnsupportedReason = "MAASVersionUnsupported"
	// ClocksDifferReason: the clocks of MAAS and of the manager's host differ by more than a minute. MAAS refuses requests whose time is
	// more than 300 seconds old, whatever the key. Do: let both hosts take the time from NTP servers.
	ClocksDifferReason = "ClocksDiffer"
	// NotMAASReason: what answers at the endpoint is not MAAS. Do: correct `MAAS_ENDPOINT`.
	NotMAASReason = "NotMAAS"
)

// Reasons of DomainServed, beside DomainNotFound and DomainNotAuthoritative.
const (
	// NotCheckedReason: MAAS could not be asked yet. It may stand in ZonesAndPoolsFound and ImagesFound too. Do: look at the condition
	// MAASAvailable.
	NotCheckedReason = "NotChecked"
	// DomainServedReason: MAAS has the domain, and answers for it.
	DomainServedReason = "DomainServed"
)

// Reasons of ZonesAndPoolsFound, beside NotChecked.
const (
	// ZonesAndPoolsFoundReason: MAAS has all that are named.
	ZonesAndPoolsFoundReason = "ZonesAndPoolsFound"
	// ZoneNotFoundReason: MAAS has no zone of a name that an object asks for, so nothing can be claimed there. Do: make the zone in
	// MAAS, or correct the object that the message names.
	ZoneNotFoundReason = "ZoneNotFound"
	// PoolNotFoundReason: MAAS has no resource pool of a name that an object asks for, so nothing can be claimed there. Do: make the
	// pool in MAAS, or correct the object that the message names.
	PoolNotFoundReason = "PoolNotFound"
)

// Reasons of ImagesFound, beside NotChecked.
const (
	// ImagesFoundReason: MAAS has all that are named.
	ImagesFoundReason = "ImagesFound"
	// ImageNotFoundReason: MAAS has no image of a name that an object asks for, or not for its architecture, so no machine can be
	// deployed with it. Do: upload or import the image in MAAS, or correct the object that the message names.
	ImageNotFoundReason = "ImageNotFound"
	// ImageIncompleteReason: MAAS has a part only of an image that an object asks for: it is being uploaded or imported, or that was interrupted.
	// Do: wait until it is complete, or upload it again.
	ImageIncompleteReason = "ImageIncomplete"
)

// Reasons of EndpointResolves.
const (
	// EndpointResolvesReason: the name leads to addresses that are published for it, or, with an endpoint of your own, to any.
	EndpointResolvesReason = "EndpointResolves"
	// NoAddressPublishedReason: no machine of the control plane has joined the DNS record yet, so there is nothing to look up.
	NoAddressPublishedReason = "NoAddressPublished"
	// EndpointNotLookedUpReason: the name is being looked up for the first time.
	EndpointNotLookedUpReason = "EndpointNotLookedUp"
	// EndpointNotResolvedReason: the name cannot be resolved where the manager runs, so Cluster API does not reach the workload
	// cluster. Do: let the DNS servers of the management cluster forward the domain to MAAS.
	EndpointNotResolvedReason = "EndpointNotResolved"
	// EndpointResolvesElsewhereReason: the name leads to other addresses than those that are published in MAAS. Do: look which DNS
	// server answers the management cluster for that domain; it may hold a record of its own.
	EndpointResolvesElsewhereReason = "EndpointResolvesElsewhere"
)

// Reasons of Deleting, beside NotDeleting.
const (
	// WaitingForMachinesReason: machines of the cluster still exist; the message names some. Do: look at their condition
	// Deleting.
	WaitingForMachinesReason = "WaitingForMachines"
	// RemovingDNSReason: the record is being removed. Do: if it stays, the message says why MAAS does not remove it.
	RemovingDNSReason = "RemovingDNS"
)
