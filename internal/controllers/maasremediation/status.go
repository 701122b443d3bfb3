package maasremediation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// statusOf says what users see, from what was observed and what is waited for. It can be computed anew at any time, for a move restores no
// status.
func statusOf(o observation, last wait) infrav1.MaasRemediationStatus {
	object := o.object.DeepCopy()
	object.Status.RetryCount, object.Status.LastRemediated = int32(o.counted()), metav1.Time{} //nolint:gosec // it is bounded
	if began := o.progress().Last(); !began.IsZero() {
		object.Status.LastRemediated = metav1.NewTime(began)
	}
	if last.reason == "" {
		return object.Status // something was done, and what comes of it is seen at the next look
	}
	c := metav1.Condition{
		Type: infrav1.RemediationRemediatingCondition, Status: metav1.ConditionTrue, Reason: last.reason, Message: last.message,
		ObservedGeneration: object.Generation, LastTransitionTime: metav1.NewTime(o.now),
	}
	switch {
	case last.unknown:
		c.Status = metav1.ConditionUnknown
	case last.stopped:
		c.Status = metav1.ConditionFalse
	}
	conditions.Set(object, c)
	return object.Status
}
