package maasmachine

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
)

const (
	normal  = corev1.EventTypeNormal
	warning = corev1.EventTypeWarning
)

// maxNote leaves room below the 1024 bytes above which an API server refuses an event.
const maxNote = 1000

// tell raises an event about the MaasMachine, related to its Machine.
func (r *Reconciler) tell(o *observation, kind, reason, action, note string, args ...any) {
	var related runtime.Object
	if o.owner != nil {
		related = o.owner
	}
	r.Recorder.Eventf(o.object, related, kind, reason, action, "%s", brief(fmt.Sprintf(note, args...), maxNote))
}

// tellChanges raises events about what turned out, rather than what we did: once each, when a condition's reason changes.
func (r *Reconciler) tellChanges(o *observation, before *infrav1.MaasMachine) {
	for _, news := range []struct{ condition, reason, event, action string }{
		{infrav1.MachineAllocatedCondition, infrav1.NoMachineAvailableReason, telemetry.NoMachineAvailable, telemetry.ActionClaim},
		{infrav1.MachineAllocatedCondition, infrav1.ClaimRefusedReason, telemetry.ClaimRefused, telemetry.ActionClaim},
		{infrav1.MachineAllocatedCondition, infrav1.MachineNotFoundReason, telemetry.MachineLost, telemetry.ActionObserve},
		{infrav1.MachineAllocatedCondition, infrav1.MachineNotOursReason, telemetry.MachineLost, telemetry.ActionObserve},
		{infrav1.MachineAllocatedCondition, infrav1.MachineOfAnotherUserReason, telemetry.MachineLost, telemetry.ActionObserve},
		{infrav1.MachineDeployedCondition, infrav1.DeployFailedReason, telemetry.DeployFailed, telemetry.ActionDeploy},
		{infrav1.MachineDeployedCondition, infrav1.DeployRefusedReason, telemetry.DeployFailed, telemetry.ActionDeploy},
		{infrav1.MachineDeployedCondition, infrav1.MachineLeftDeployedReason, telemetry.MachineLost, telemetry.ActionObserve},
		{infrav1.MachineDeletingCondition, infrav1.HeldReason, telemetry.Held, telemetry.ActionRelease},
		{infrav1.MachineDeletingCondition, infrav1.ReleaseFailedReason, telemetry.ReleaseFailed, telemetry.ActionRelease},
		{infrav1.MachineDeletingCondition, infrav1.ReleaseBlockedReason, telemetry.ReleaseFailed, telemetry.ActionRelease},
	} {
		now := conditions.Get(o.object, news.condition)
		if now != nil && now.Reason == news.reason && conditions.GetReason(before, news.condition) != news.reason {
			r.tell(o, warning, news.event, news.action, "%s", now.Message)
		}
	}
}
