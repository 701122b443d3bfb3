package maascluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/oneline"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// ownedConditions are those that this controller writes.
var ownedConditions = []string{
	infrav1.ClusterReadyCondition,
	infrav1.ClusterEndpointReadyCondition,
	infrav1.ClusterAPIServerAvailableCondition,
	infrav1.MAASAvailableCondition,
	infrav1.ClusterDomainServedCondition,
	infrav1.ClusterZonesAndPoolsFoundCondition,
	infrav1.ClusterImagesFoundCondition,
	infrav1.ClusterEndpointResolvesCondition,
	infrav1.ClusterDeletingCondition,
	clusterv1.PausedCondition,
}

// maxMessage keeps messages short enough to be read in a table.
const maxMessage = 400

// setStatus writes what users see.
func setStatus(object *infrav1.MaasCluster, seen facts, done outcome, also checked) {
	setAvailability(object, seen, done)
	setAPIServer(object, seen)
	setChecked(object, seen, also)
	if seen.deleting {
		setDeleting(object, seen, done)
	} else {
		setDeletingNot(object)
		setEndpoint(object, seen, done)
		setInfrastructure(object, seen, done)
	}
	setReady(object)
}

// setInfrastructure writes what Cluster API reads.
func setInfrastructure(object *infrav1.MaasCluster, seen facts, done outcome) {
	object.Status.FailureDomains = failureDomains(seen.zones)
	var notOurs *endpoint.NotOursError
	known := done.err == nil ||
		seen.published && errors.As(done.err, &notOurs) // a record of an earlier provider, which serves as it is
	switch done.step.(type) {
	case publish, useExternal:
		if !known {
			return
		}
	default:
		return
	}
	object.Status.Network.DNSName = ""
	if _, err := netip.ParseAddr(seen.host); err != nil {
		object.Status.Network.DNSName = seen.host
	}
	provisioned := true
	object.Status.Initialization.Provisioned = &provisioned
}

// failureDomains publishes the zones that the spec lists, and none unasked: control planes are spread over all that they see.
func failureDomains(zones []string) infrav1.FailureDomains {
	var domains infrav1.FailureDomains
	for _, zone := range zones {
		controlPlane := true
		domains = append(domains, clusterv1.FailureDomain{Name: zone, ControlPlane: &controlPlane})
	}
	return domains
}

// setEndpoint says whether the control plane's address is published.
func setEndpoint(object *infrav1.MaasCluster, seen facts, done outcome) {
	set := func(status metav1.ConditionStatus, reason, message string) {
		setCondition(object, infrav1.ClusterEndpointReadyCondition, status, reason, message)
	}
	switch {
	case done.err != nil:
		// That MAAS does not answer says nothing of a record that was seen before.
		if isAway(done.err) && seen.provisioned && conditions.Has(object, infrav1.ClusterEndpointReadyCondition) {
			return
		}
		reason, message := endpointFailure(object, seen, done.err)
		set(metav1.ConditionFalse, reason, message)
	case isStep[waitForOwner](done.step):
		set(metav1.ConditionFalse, infrav1.WaitingForEndpointReason,
			"no Cluster owns this MaasCluster; Cluster API sets the owner within seconds, else make the Cluster whose spec.infrastructureRef names it")
	case isStep[waitForHost](done.step):
		set(metav1.ConditionFalse, infrav1.WaitingForEndpointReason,
			"controlPlaneEndpointKind is External, but no address is given: set spec.controlPlaneEndpoint of MaasCluster "+object.Name)
	default:
		set(metav1.ConditionTrue, infrav1.EndpointReadyReason, "")
	}
}

// endpointFailure says why the endpoint is not as it should be, and what to do. What is wrong with MAAS as a whole is said as
// MAASAvailable, which was set before, says it.
func endpointFailure(object *infrav1.MaasCluster, seen facts, err error) (reason, message string) {
	var notOurs *endpoint.NotOursError
	var noDomain *endpoint.DomainNotFoundError
	var notServed *endpoint.DomainNotAuthoritativeError
	var invalidHost *invalidHostError
	switch {
	case isAway(err), errors.Is(err, maas.ErrForbidden) && errors.Is(seen.region.Err, maas.ErrForbidden):
		available := conditions.Get(object, infrav1.MAASAvailableCondition)
		return available.Reason, available.Message
	case errors.As(err, &invalidHost):
		return infrav1.EndpointFailedReason, err.Error()
	case errors.Is(err, maas.ErrForbidden):
		reason = infrav1.MAASKeyLacksRightsReason
	case errors.As(err, &notOurs):
		reason = infrav1.EndpointNotOursReason
	case errors.As(err, &noDomain):
		reason = infrav1.DomainNotFoundReason
	case errors.As(err, &notServed):
		reason = infrav1.DomainNotAuthoritativeReason
	default:
		reason = infrav1.EndpointFailedReason
	}
	return reason, endpoint.Explain(seen.region.Host, err)
}

// isAway says that MAAS could not be asked, as opposed to: it said no.
func isAway(err error) bool {
	switch maas.KindOf(err) {
	case maas.KindUnavailable, maas.KindOutcomeUnknown, maas.KindNotMAAS, maas.KindUnauthorized:
		return true
	}
	return false
}

// setAvailability says whether MAAS can be worked with. It is not part of Ready.
func setAvailability(object *infrav1.MaasCluster, seen facts, done outcome) {
	region := seen.region
	writesDNS := seen.kind == infrav1.EndpointMaasDNS
	// That somebody who is no administrator may not write DNS records was to be expected.
	expected := writesDNS && !region.Superuser
	if region.Err == nil && (isAway(done.err) || errors.Is(done.err, maas.ErrForbidden) && !expected) {
		region.Err = done.err
	}
	setFinding(object, infrav1.MAASAvailableCondition, checks.JudgeRegion(region, writesDNS))
}

// setChecked says what the standing checks found. None of them is part of Ready.
func setChecked(object *infrav1.MaasCluster, seen facts, also checked) {
	if !also.asked {
		return
	}
	if seen.kind == infrav1.EndpointMaasDNS {
		setFinding(object, infrav1.ClusterDomainServedCondition, also.findings.Domain)
	} else {
		conditions.Delete(object, infrav1.ClusterDomainServedCondition)
	}
	setFinding(object, infrav1.ClusterZonesAndPoolsFoundCondition, also.findings.ZonesAndPools)
	setFinding(object, infrav1.ClusterImagesFoundCondition, also.findings.Images)
	if also.name.Reason != "" {
		setFinding(object, infrav1.ClusterEndpointResolvesCondition, also.name)
	}
}

// setFinding writes a finding into a condition. One of which nothing is known leaves what was known before.
func setFinding(object *infrav1.MaasCluster, kind string, found checks.Finding) {
	switch {
	case found.Verdict == checks.Fine:
		setCondition(object, kind, metav1.ConditionTrue, found.Reason, found.Message)
	case found.Verdict == checks.Wrong:
		setCondition(object, kind, metav1.ConditionFalse, found.Reason, found.Message)
	case found.Reason != "":
		setCondition(object, kind, metav1.ConditionUnknown, found.Reason, found.Message)
	case !conditions.Has(object, kind):
		setCondition(object, kind, metav1.ConditionUnknown, infrav1.NotCheckedReason, "MAAS could not be asked yet: see MAASAvailable")
	}
}

// setAPIServer says whether the workload API server answers Cluster API. It is not part of Ready.
func setAPIServer(object *infrav1.MaasCluster, seen facts) {
	set := func(status metav1.ConditionStatus, reason, message string) {
		setCondition(object, infrav1.ClusterAPIServerAvailableCondition, status, reason, message)
	}
	switch {
	case seen.apiConnected:
		set(metav1.ConditionTrue, infrav1.APIServerAvailableReason, "")
	case seen.initialized:
		set(metav1.ConditionFalse, infrav1.APIServerNotReadyReason, fmt.Sprintf(
			"the API server of workload cluster %s does not answer at %s: look at the machines of its control plane, and at the network between the management cluster and them", seen.name, net.JoinHostPort(seen.host, strconv.Itoa(int(seen.port)))))
	default:
		set(metav1.ConditionFalse, infrav1.APIServerNotReadyReason, "the control plane of "+seen.name+" is not initialized yet")
	}
}

// setDeleting says how far the removal is.
func setDeleting(object *infrav1.MaasCluster, seen facts, done outcome) {
	set := func(reason, message string) {
		setCondition(object, infrav1.ClusterDeletingCondition, metav1.ConditionTrue, reason, message)
	}
	switch s := done.step.(type) {
	case waitForMachines:
		set(infrav1.WaitingForMachinesReason, "waiting for MaasMachines to be deleted: "+some(s.names)+": look at their condition Deleting")
	case removeRecord:
		message := "removing the DNS record " + seen.host
		if done.err != nil {
			_, why := endpointFailure(object, seen, done.err)
			if isAway(done.err) {
				why = message + ": " + why // which names MAAS alone
			}
			message = why
		}
		set(infrav1.RemovingDNSReason, message)
	}
	if done.released {
		set(clusterv1.DeletionCompletedReason, "")
	}
}

func setDeletingNot(object *infrav1.MaasCluster) {
	setCondition(object, infrav1.ClusterDeletingCondition, metav1.ConditionFalse, infrav1.NotDeletingReason, "")
}

// setReady summarises what belongs to the infrastructure: whether the object is being deleted, and the endpoint. Its reason and
// message are those of the condition to look at. Once the cluster is provisioned only deletion makes it False, for Cluster API stops
// the health checks of a cluster whose infrastructure is not ready; what is wrong stands in its message.
func setReady(object *infrav1.MaasCluster) {
	deleting := conditions.Get(object, infrav1.ClusterDeletingCondition)
	published := conditions.Get(object, infrav1.ClusterEndpointReadyCondition)
	provisioned := object.Status.Initialization.Provisioned
	status, reason, message := metav1.ConditionUnknown, clusterv1.ReadyUnknownReason, ""
	switch {
	case deleting != nil && deleting.Status == metav1.ConditionTrue:
		status, reason, message = metav1.ConditionFalse, deleting.Reason, deleting.Message
	case published == nil:
	case published.Status == metav1.ConditionTrue:
		status, reason, message = metav1.ConditionTrue, clusterv1.ReadyReason, firstComplaint(object)
	case provisioned != nil && *provisioned:
		status, reason, message = metav1.ConditionTrue, clusterv1.ReadyReason, published.Message
	default:
		status, reason, message = published.Status, published.Reason, published.Message
	}
	setCondition(object, infrav1.ClusterReadyCondition, status, reason, message)
}

// firstComplaint is what a standing check found wrong. It does not make the cluster unready, but nobody looks at the conditions of
// one that is said to be ready.
func firstComplaint(object *infrav1.MaasCluster) string {
	for _, kind := range []string{
		infrav1.MAASAvailableCondition, infrav1.ClusterDomainServedCondition, infrav1.ClusterZonesAndPoolsFoundCondition,
		infrav1.ClusterImagesFoundCondition, infrav1.ClusterEndpointResolvesCondition,
	} {
		if conditions.IsFalse(object, kind) {
			return conditions.GetMessage(object, kind)
		}
	}
	return ""
}

func setCondition(object *infrav1.MaasCluster, kind string, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(object, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: oneline.Of(message, maxMessage)})
}

func isStep[S step](s step) bool {
	_, ok := s.(S)
	return ok
}

// some names a few, so that a message stays one short line.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + " and others"
}
