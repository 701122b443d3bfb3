package maascluster

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/oneline"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
)

// maxNote leaves room below the 1024 bytes above which an API server refuses an event.
const maxNote = 1000

// tell records as events what became different.
func (r *Reconciler) tell(object, before *infrav1.MaasCluster, done outcome) {
	event := func(kind, reason, action, note string, args ...any) {
		r.Recorder.Eventf(object, nil, kind, reason, action, "%s", oneline.Of(fmt.Sprintf(note, args...), maxNote))
	}
	if done.state.Created {
		event(corev1.EventTypeNormal, telemetry.EndpointPublished, telemetry.ActionPublishEndpoint,
			"made the DNS record %s in MAAS", object.Spec.ControlPlaneEndpoint.Host)
	}
	if removed := done.state.Removed; len(removed) > 0 {
		event(corev1.EventTypeWarning, telemetry.EndpointRepaired, telemetry.ActionPublishEndpoint,
			"took %s out of the DNS record %s, where only addresses of this cluster's machines belong: look in MAAS who put it there",
			strings.Join(removed, ", "), object.Spec.ControlPlaneEndpoint.Host)
	}
	if done.removed && done.released {
		event(corev1.EventTypeNormal, telemetry.EndpointRemoved, telemetry.ActionRemoveEndpoint,
			"removed the DNS record %s from MAAS", object.Spec.ControlPlaneEndpoint.Host)
	}
	for _, turn := range turns {
		is := conditions.Get(object, turn.condition)
		if is == nil || !turn.happened(conditions.Get(before, turn.condition), *is) {
			continue
		}
		kind := corev1.EventTypeNormal
		if turn.to == metav1.ConditionFalse {
			if waits(is.Reason) || toldElsewhere(*is, object, before) {
				continue
			}
			kind = corev1.EventTypeWarning
		}
		event(kind, turn.reason, turn.action, "%s", cmp.Or(is.Message, turn.note))
	}
}

// turn is one of a condition, to True or to False, that is worth an event.
type turn struct {
	condition      string
	to             metav1.ConditionStatus
	from           from
	reason, action string
	note           string // where the condition has no message
}

// from is what the condition must have been before.
type from int

const (
	anything  from = iota
	something      // not when it is first set
	wrong          // False
)

// happened says whether the condition turned so.
func (t turn) happened(was *metav1.Condition, is metav1.Condition) bool {
	switch {
	case is.Status != t.to:
		return false
	case was == nil:
		return t.from == anything
	case t.from == wrong:
		return was.Status == metav1.ConditionFalse
	}
	return was.Status != is.Status || was.Reason != is.Reason
}

var turns = []turn{
	{infrav1.MAASAvailableCondition, metav1.ConditionFalse, anything,
		telemetry.MAASUnavailable, telemetry.ActionObserve, "MAAS is not available"},
	{infrav1.MAASAvailableCondition, metav1.ConditionTrue, something,
		telemetry.MAASAvailable, telemetry.ActionObserve, "MAAS can be worked with again"},
	{infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, anything,
		telemetry.EndpointFailed, telemetry.ActionPublishEndpoint, "the endpoint is not published"},
	{infrav1.ClusterAPIServerAvailableCondition, metav1.ConditionTrue, anything,
		telemetry.APIServerReached, telemetry.ActionObserve, "the workload API server answers"},
	{infrav1.ClusterAPIServerAvailableCondition, metav1.ConditionFalse, something,
		telemetry.APIServerLost, telemetry.ActionObserve, "the workload API server does not answer"},
	{infrav1.ClusterDomainServedCondition, metav1.ConditionFalse, anything,
		telemetry.CheckFailed, telemetry.ActionCheckDomain, "MAAS does not serve the DNS domain"},
	{infrav1.ClusterDomainServedCondition, metav1.ConditionTrue, wrong,
		telemetry.CheckMended, telemetry.ActionCheckDomain, "MAAS serves the DNS domain again"},
	{infrav1.ClusterZonesAndPoolsFoundCondition, metav1.ConditionFalse, anything,
		telemetry.CheckFailed, telemetry.ActionCheckPlaces, "a zone or a resource pool is missing in MAAS"},
	{infrav1.ClusterZonesAndPoolsFoundCondition, metav1.ConditionTrue, wrong,
		telemetry.CheckMended, telemetry.ActionCheckPlaces, "MAAS has all zones and resource pools that are asked for"},
	{infrav1.ClusterImagesFoundCondition, metav1.ConditionFalse, anything,
		telemetry.CheckFailed, telemetry.ActionCheckImages, "an image is missing in MAAS"},
	{infrav1.ClusterImagesFoundCondition, metav1.ConditionTrue, wrong,
		telemetry.CheckMended, telemetry.ActionCheckImages, "MAAS has all images that are asked for"},
	{infrav1.ClusterEndpointResolvesCondition, metav1.ConditionFalse, anything,
		telemetry.CheckFailed, telemetry.ActionCheckName, "the endpoint does not resolve"},
	{infrav1.ClusterEndpointResolvesCondition, metav1.ConditionTrue, wrong,
		telemetry.CheckMended, telemetry.ActionCheckName, "the endpoint resolves again"},
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
