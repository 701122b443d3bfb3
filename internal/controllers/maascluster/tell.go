package maascluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
)

// tell records as events what became different.
func (r *Reconciler) tell(object, before *infrav1.MaasCluster, done outcome) {
	event := func(kind, reason, action, note string, args ...any) {
		r.Recorder.Eventf(object, nil, kind, reason, action, note, args...)
	}
	if done.state.Created {
		event(corev1.EventTypeNormal, telemetry.EndpointPublished, telemetry.ActionPublishEndpoint,
			"Made the DNS record %s in MAAS", object.Spec.ControlPlaneEndpoint.Host)
	}
	if removed := done.state.Removed; len(removed) > 0 {
		event(corev1.EventTypeWarning, telemetry.EndpointRepaired, telemetry.ActionPublishEndpoint,
			"Took addresses of no machine of this cluster out of the DNS record %s: %s", object.Spec.ControlPlaneEndpoint.Host, strings.Join(removed, ", "))
	}
	if done.removed && done.released {
		event(corev1.EventTypeNormal, telemetry.EndpointRemoved, telemetry.ActionRemoveEndpoint,
			"Removed the DNS record %s from MAAS", object.Spec.ControlPlaneEndpoint.Host)
	}
	for _, change := range changes {
		was, is := conditions.Get(before, change.condition), conditions.Get(object, change.condition)
		if is == nil || is.Status != change.to || was != nil && was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		if was == nil && (change.onlyAfter || change.onlyMended) {
			continue
		}
		if change.onlyMended && was.Status != metav1.ConditionFalse {
			continue
		}
		if change.to == metav1.ConditionFalse && (waits(is.Reason) || toldElsewhere(*is, object, before)) {
			continue
		}
		kind := corev1.EventTypeNormal
		if change.to == metav1.ConditionFalse {
			kind = corev1.EventTypeWarning
		}
		event(kind, change.reason, change.action, "%s", noteOf(*is, change.note))
	}
}

// changes are the turns of conditions that are worth an event.
var changes = []struct {
	condition      string
	to             metav1.ConditionStatus
	reason, action string
	note           string // where the condition has no message
	onlyAfter      bool   // not when the condition is first set
	onlyMended     bool   // only when the condition was False before
}{
	{infrav1.MAASAvailableCondition, metav1.ConditionFalse, telemetry.MAASUnavailable, telemetry.ActionObserve, "MAAS is not available", false, false},
	{infrav1.MAASAvailableCondition, metav1.ConditionTrue, telemetry.MAASAvailable, telemetry.ActionObserve, "MAAS can be worked with again", true, false},
	{infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, telemetry.EndpointFailed, telemetry.ActionPublishEndpoint, "The endpoint is not published", false, false},
	{infrav1.ClusterAPIServerAvailableCondition, metav1.ConditionTrue, telemetry.APIServerReached, telemetry.ActionObserve, "The workload API server answers", false, false},
	{infrav1.ClusterAPIServerAvailableCondition, metav1.ConditionFalse, telemetry.APIServerLost, telemetry.ActionObserve, "The workload API server does not answer", true, false},
	{infrav1.ClusterDomainServedCondition, metav1.ConditionFalse, telemetry.CheckFailed, telemetry.ActionCheckDomain, "MAAS does not serve the DNS domain", false, false},
	{infrav1.ClusterDomainServedCondition, metav1.ConditionTrue, telemetry.CheckMended, telemetry.ActionCheckDomain, "MAAS serves the DNS domain again", false, true},
	{infrav1.ClusterZonesAndPoolsFoundCondition, metav1.ConditionFalse, telemetry.CheckFailed, telemetry.ActionCheckPlaces, "A zone or a resource pool is missing in MAAS", false, false},
	{infrav1.ClusterZonesAndPoolsFoundCondition, metav1.ConditionTrue, telemetry.CheckMended, telemetry.ActionCheckPlaces, "MAAS has all zones and resource pools that are asked for", false, true},
	{infrav1.ClusterImagesFoundCondition, metav1.ConditionFalse, telemetry.CheckFailed, telemetry.ActionCheckImages, "An image is missing in MAAS", false, false},
	{infrav1.ClusterImagesFoundCondition, metav1.ConditionTrue, telemetry.CheckMended, telemetry.ActionCheckImages, "MAAS has all images that are asked for", false, true},
	{infrav1.ClusterEndpointResolvesCondition, metav1.ConditionFalse, telemetry.CheckFailed, telemetry.ActionCheckName, "The endpoint does not resolve", false, false},
	{infrav1.ClusterEndpointResolvesCondition, metav1.ConditionTrue, telemetry.CheckMended, telemetry.ActionCheckName, "The endpoint resolves again", false, true},
}

// toldElsewhere says that another condition tells of the same trouble, so that one cause makes one warning.
func toldElsewhere(is metav1.Condition, object, before *infrav1.MaasCluster) bool {
	by := func(of *infrav1.MaasCluster, condition string) bool {
		other := conditions.Get(of, condition)
		return other != nil && other.Status == metav1.ConditionFalse && other.Reason == is.Reason
	}
	switch is.Type {
	case infrav1.ClusterEndpointReadyCondition:
		return by(object, infrav1.MAASAvailableCondition) || by(before, infrav1.ClusterDomainServedCondition)
	case infrav1.ClusterDomainServedCondition:
		return by(object, infrav1.ClusterEndpointReadyCondition)
	}
	return false
}

// waits tells the reasons that are no trouble.
func waits(reason string) bool { return reason == infrav1.WaitingForEndpointReason }

func noteOf(condition metav1.Condition, otherwise string) string {
	if condition.Message != "" {
		return condition.Message
	}
	return otherwise
}
