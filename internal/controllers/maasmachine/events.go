package maasmachine

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// news is a condition's reason that is worth a warning.
type news struct{ condition, reason, event, action string }

var allNews = []news{
	{infrav1.MachineAllocatedCondition, infrav1.NoMachineAvailableReason, telemetry.NoMachineAvailable, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.ClaimRefusedReason, telemetry.ClaimRefused, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.UnsupportedBootstrapFormatReason, telemetry.UnsupportedBootstrapFormat, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.InvalidBootstrapDataReason, telemetry.InvalidBootstrapData, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.BootstrapDataTooLargeReason, telemetry.InvalidBootstrapData, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.BootstrapTokenExpiredReason, telemetry.InvalidBootstrapData, telemetry.ActionClaim},
	{infrav1.MachineAllocatedCondition, infrav1.InvalidClaimReason, telemetry.InvalidClaim, telemetry.ActionObserve},
	{infrav1.MachineAllocatedCondition, infrav1.MachineNotFoundReason, telemetry.MachineLost, telemetry.ActionObserve},
	{infrav1.MachineAllocatedCondition, infrav1.MachineNotOursReason, telemetry.MachineLost, telemetry.ActionObserve},
	{infrav1.MachineAllocatedCondition, infrav1.MachineOfAnotherUserReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineAllocatedCondition, infrav1.MachineInAnotherMAASReason, telemetry.MachineUnusable, telemetry.ActionObserve},

	{infrav1.MachineDeployedCondition, infrav1.DeployFailedReason, telemetry.DeployFailed, telemetry.ActionDeploy},
	{infrav1.MachineDeployedCondition, infrav1.DeployRefusedReason, telemetry.DeployFailed, telemetry.ActionDeploy},
	{infrav1.MachineDeployedCondition, infrav1.MachineLeftDeployedReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineLockedReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineInRescueModeReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineBrokenReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineFailedTestingReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineMissingReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineRetiredReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineReservedReason, telemetry.MachineUnusable, telemetry.ActionObserve},
	{infrav1.MachineDeployedCondition, infrav1.MachineGivenBackReason, telemetry.MachineLost, telemetry.ActionObserve},

	{infrav1.MachinePoweredOnCondition, infrav1.PoweredOffReason, telemetry.PoweredOff, telemetry.ActionPower},
	{infrav1.MachineNodeLinkedCondition, infrav1.NodeProviderIDConflictReason, telemetry.NodeProviderIDConflict, telemetry.ActionLinkNode},

	{infrav1.MachineDeletingCondition, infrav1.HeldReason, telemetry.Held, telemetry.ActionRelease},
	{infrav1.MachineDeletingCondition, infrav1.LeavingDNSReason, telemetry.ReleaseFailed, telemetry.ActionRelease},
	{infrav1.MachineDeletingCondition, infrav1.ReleaseFailedReason, telemetry.ReleaseFailed, telemetry.ActionRelease},
	{infrav1.MachineDeletingCondition, infrav1.ReleaseBlockedReason, telemetry.ReleaseFailed, telemetry.ActionRelease},
}

// isIn says whether a condition tells of it. What is Unknown may pass.
func (n news) isIn(c *metav1.Condition) bool {
	return c != nil && c.Reason == n.reason && c.Status != metav1.ConditionUnknown
}

// tellChanges raises events about what turned out, rather than what we did. Once an object goes, only what holds that up is told.
func (r *Reconciler) tellChanges(o *observation, before *infrav1.MaasMachine) {
	key := client.ObjectKeyFromObject(o.object)
	for _, conditionType := range ownedConditions {
		if !conditions.Has(o.object, conditionType) || conditions.IsTrue(o.object, conditionType) && conditionType != infrav1.MachineDeletingCondition {
			r.warnings.mended(key, conditionType)
		}
	}
	for _, n := range allNews {
		now, was := conditions.Get(o.object, n.condition), conditions.Get(before, n.condition)
		switch {
		case !n.isIn(now), o.deleting() && n.condition != infrav1.MachineDeletingCondition, o.passes(n):
			continue
		case n.isIn(was) && (n.event != telemetry.PoweredOff || was.Message == now.Message):
			continue // for long
		}
		if o.standing == holdsUnproven && n.event == telemetry.MachineLost {
			n.event = telemetry.MachineUnusable // it never was ours to lose
		}
		if r.warnings.isNew(key, n.condition, n.event+" "+now.Message) {
			r.tell(o, warning, n.event, n.action, "%s", now.Message)
		}
	}
}

// passes says that there will be other news in a moment: the machine is free, or is on.
func (o observation) passes(n news) bool {
	switch n.reason {
	case infrav1.MachineLeftDeployedReason:
		return o.machine != nil && stateOf(o.machine).release == underWay
	case infrav1.PoweredOffReason:
		switchedOn, err := o.did(powerOn{})
		return switchedOn && err == nil
	}
	return false
}

// warnings remembers what was told of an object's conditions since they were last True: of what comes and goes, because MAAS is away
// now and then or answers now so, now so, nobody wants to hear each time.
type warnings struct {
	mu   sync.Mutex
	told map[client.ObjectKey]map[string][]string
}

// maxRemembered bounds what is remembered of one condition. Of an older warning it is told again.
const maxRemembered = 8

// isNew says whether a warning was not told yet, and remembers it.
func (w *warnings) isNew(key client.ObjectKey, conditionType, note string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.told[key]
	if slices.Contains(of[conditionType], note) {
		return false
	}
	if of == nil {
		of = map[string][]string{}
	}
	if w.told == nil {
		w.told = map[client.ObjectKey]map[string][]string{}
	}
	notes := slices.Concat(of[conditionType], []string{note})
	of[conditionType] = notes[max(0, len(notes)-maxRemembered):]
	w.told[key] = of
	return true
}

// mended forgets what was told of a condition.
func (w *warnings) mended(key client.ObjectKey, conditionType string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.told[key], conditionType)
}

// forget drops all of an object.
func (w *warnings) forget(key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.told, key)
}
