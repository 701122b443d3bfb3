package maasmachine

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// mayPowerOn: only what is ours, is deployed to a disk, is not locked, and was seen off for long enough. What is asked for in vain, or goes off
// again each time, is asked for less and less often.
func (o observation) mayPowerOn() bool {
	return o.machine.PowerState == maas.PowerOff && !o.isInMemory() && !o.machine.Locked && !o.leaving() && o.offForLong() &&
		!o.now.Before(o.switchedOn.due()) && o.remediation == ""
}

// isInMemory says that what runs is lost with the power. MAAS deploys such a machine anew when it is switched on. MAAS before 3.3.7 and
// 3.4.2 does not show how a machine was deployed, so that what was asked for counts too.
func (o observation) isInMemory() bool {
	return o.machine.EphemeralDeploy || o.object.Spec.DeployInMemory
}

// isStuckOff says that a machine stays off until a person unlocks it, of which MAAS tells nobody.
func isStuckOff(m *maas.Machine) bool { return m.PowerState == maas.PowerOff && m.Locked }

// offForLong says whether the power was seen off, and nothing else, for the grace time. PoweredOn remembers since when.
func (o observation) offForLong() bool {
	for _, c := range o.object.Status.Conditions {
		if c.Type == infrav1.MachinePoweredOnCondition && c.Reason == infrav1.PoweredOffReason {
			return c.Status == "False" || o.now.Sub(c.LastTransitionTime.Time) >= powerGrace
		}
	}
	return false
}

// powerKey keeps what is remembered of switching a machine on apart from what is remembered of its release.
func powerKey(systemID string) string { return "power of " + systemID }

// observePower looks up how often a machine that was deployed was switched on. It is asked while the power is on, too: to see that it came on,
// and whether it stayed on.
func (r *Reconciler) observePower(o *observation) {
	o.switchedOn = asked{}
	if !o.provisioned() || o.standing != holdsOurs {
		return
	}
	key, name := client.ObjectKeyFromObject(o.object), powerKey(o.machine.SystemID)
	o.switchedOn = r.retries.see(key, name, switchOn, string(o.machine.PowerState), o.now)
	if o.machine.PowerState == maas.PowerOn && o.switchedOn.times > 0 && o.now.Sub(o.switchedOn.since) >= powerLasts {
		r.retries.forgetOne(key, name)
		o.switchedOn = asked{}
	}
}

// powerOn switches on a machine that is off, and remembers that.
func (r *Reconciler) powerOn(ctx context.Context, o *observation) error {
	m := o.machine
	_, err := r.MAAS.PowerOn(ctx, m.SystemID, comment(o))
	r.retries.note(client.ObjectKeyFromObject(o.object), powerKey(m.SystemID), switchOn, string(m.PowerState), r.now(), err)
	if err == nil {
		r.tell(o, normal, telemetry.PoweredOn, telemetry.ActionPower, "switched on %s, which was off", o.nameOf(m))
	}
	return err
}

const (
	switchOn = "switch on"
	// powerLasts is when a machine that was switched on counts as one that stays on.
	powerLasts = time.Hour
)

// powerOf tells of the power of a deployed machine. Off is Unknown first, for MAAS's view lags and flickers.
func powerOf(o observation) *metav1.Condition {
	if o.standing != holdsOurs || !o.provisioned() || o.machine.Status != maas.StatusDeployed {
		return nil
	}
	c := metav1.Condition{Type: infrav1.MachinePoweredOnCondition, Status: metav1.ConditionUnknown, Reason: infrav1.PowerUnknownReason}
	switch {
	case o.machine.PowerState == maas.PowerOn:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.PoweredOnReason
	case o.machine.PowerState != maas.PowerOff:
		c.Message = fmt.Sprintf("MAAS %s cannot tell whether %s is on: check its power settings there, unless its power type is manual", o.maasHost, shortName(o.machine))
	case o.remediation != "":
		c.Reason = infrav1.PoweredOffReason
		c.Message = fmt.Sprintf("%s was switched off by MaasRemediation %s: look at the conditions of that", o.nameOf(o.machine), o.remediation)
	case !o.offForLong() && (o.isInMemory() || o.machine.Locked):
		c.Reason, c.Message = infrav1.PoweredOffReason, fmt.Sprintf("MAAS %s reports %s as off, which is often late: wait and see whether it stays off", o.maasHost, shortName(o.machine))
	case !o.offForLong():
		c.Reason, c.Message = infrav1.PoweredOffReason, fmt.Sprintf("MAAS %s reports %s as off, which is often late: CAPMAAS switches it on if it stays off for %d minutes",
			o.maasHost, shortName(o.machine), int(powerGrace.Minutes()))
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, infrav1.PoweredOffReason, o.nameOf(o.machine)+" "+o.staysOff()
	}
	return &c
}

// staysOff says why a machine has been off for long, and what a person can do.
func (o observation) staysOff() string {
	asked, err := o.did(powerOn{})
	switch a := o.switchedOn; {
	case o.isInMemory():
		return "is off, and was deployed to memory, which is lost: " + o.replace()
	case o.machine.Locked:
		return "is off and locked, so CAPMAAS cannot switch it on: unlock it in MAAS, or switch it on by hand"
	case o.leaving():
		return "is off, and stays off, for " + o.ownerName() + " is being deleted"
	case asked && err == nil && a.times <= 1:
		return "is off and is being switched on"
	case asked && err != nil, a.err != nil:
		if err == nil {
			err = a.err
		}
		return fmt.Sprintf("is off and could not be switched on (%s): check its power settings in MAAS, and its BMC, or switch it on by hand", maas.Words(err))
	case a.times > 0 && a.moved:
		return "went off again after it was switched on, and CAPMAAS switches it on again: if it is to stay off, lock it in MAAS; else look at its power supply, and who switches it off"
	case a.times > 0:
		return "is off, though MAAS was asked to switch it on: check its power settings in MAAS, and its BMC, or switch it on by hand"
	}
	return "is off and is being switched on"
}

// setPower makes the time of PoweredOn that since which the power has been off, though the status before may have been Unknown too.
func setPower(object *infrav1.MaasMachine, c *metav1.Condition, set func(*metav1.Condition)) {
	before := conditions.Get(object, infrav1.MachinePoweredOnCondition)
	if c != nil && before != nil && c.Reason != before.Reason {
		conditions.Delete(object, infrav1.MachinePoweredOnCondition)
	}
	setOrDelete(object, infrav1.MachinePoweredOnCondition, c, set)
}
