package maasremediation

import (
	"errors"
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// step is one thing to do. Its key tells it from others within one reconcile.
type step interface{ key() string }

type (
	// beginCycle writes down that the machine is about to be switched off, to be switched on again.
	beginCycle struct{}
	// powerOff switches it off.
	powerOff struct{}
	// endOff writes down that it was off, and is to be on again.
	endOff struct{}
	// powerOn switches it on.
	powerOn struct{}
	// giveUp writes down that nothing more is tried, and why.
	giveUp struct{ because remediation.Cause }
	// handOver tells the owner of the Machine to replace it.
	handOver struct{}
	// takeBack undoes what was decided, for the machine stays: nothing keeps it off any more.
	takeBack struct{}
	// removeFinalizer lets the MaasRemediation go.
	removeFinalizer struct{}
	// wait does nothing, and tells why.
	wait struct {
		reason, message string
		stopped         bool // nothing is being done
		unknown         bool
		after           time.Duration
	}
)

func (beginCycle) key() string      { return "begin cycle" }
func (powerOff) key() string        { return "power off" }
func (endOff) key() string          { return "end off" }
func (powerOn) key() string         { return "power on" }
func (s giveUp) key() string        { return "give up: " + string(s.because) }
func (handOver) key() string        { return "hand over" }
func (takeBack) key() string        { return "take back" }
func (removeFinalizer) key() string { return "remove finalizer" }
func (wait) key() string            { return "wait" }

// How long to wait before looking again.
const (
	moving  = 10 * time.Second // the power is being switched
	settled = time.Minute
)

// errNoPowerControl says that MAAS cannot switch a machine: its power type is manual.
var errNoPowerControl = errors.New("MAAS cannot switch its power")

// next decides what is done next. It is the whole of a remediation: switch off, switch on, wait; and in the end hand over.
func next(o observation) step {
	p := o.progress()
	// What was begun is ended, so that the machine is on.
	begun := p.SwitchingOff() || p.IsUnderWay(o.now, o.timeout())
	switch {
	case o.deleting():
		return nextEnd(o)
	case o.first != "":
		return stop(infrav1.RemediationSupersededReason, "MaasRemediation %s is for %s too, and goes first: delete one of them", o.first, o.ownerName())
	case o.owner == nil:
		return stop(infrav1.RemediationBlockedReason, "no Machine owns this object: delete it; a MachineHealthCheck makes it with an owner")
	case !o.owner.DeletionTimestamp.IsZero():
		return stop(infrav1.RemediationMachineDeletingReason, "%s is being deleted, and this object goes with it", o.ownerName())
	case o.target == nil:
		return stop(infrav1.RemediationBlockedReason, "%s has no MaasMachine: only machines of MAAS are remediated here, so refer to another template in its MachineHealthCheck", o.ownerName())
	case !o.target.DeletionTimestamp.IsZero():
		return stop(infrav1.RemediationBlockedReason, "MaasMachine %s is being deleted: look at its conditions", o.target.Name)
	case o.skipped() && !begun:
		return stop(infrav1.RemediationSkippedReason, "%s has annotation %s: see to its machine, then remove the annotation, or delete this object",
			o.ownerName(), clusterv1.MachineSkipRemediationAnnotation)
	case p.GaveUp != nil:
		return nextGivenUp(o, p)
	case !o.unhealthy() && !begun:
		return stop(infrav1.RemediationNotUnhealthyReason, "no MachineHealthCheck says that %s is unhealthy: it deletes this object; if nobody does, do it yourself", o.ownerName())
	case o.replacementAsked() && !p.SwitchingOff():
		return giveUp{remediation.Asked}
	}
	return nextCycle(o, p)
}

// nextCycle: the Machine is unhealthy, or its machine was switched off by us.
func nextCycle(o observation, p remediation.Progress) step {
	if o.target.Spec.ProviderID == "" {
		return giveUp{remediation.NotDeployed}
	}
	if s, due := nextUsable(o); due {
		return s
	}
	switch {
	case p.SwitchingOff():
		return nextOff(o, p)
	case p.On != nil && o.now.Sub(*p.On) < o.timeout():
		return nextOn(o, p)
	case o.isInMemory():
		return giveUp{remediation.InMemory}
	case o.counted() >= o.retryLimit():
		return giveUp{remediation.NotRecovered}
	}
	if left := p.Last().Add(o.coolDown()).Sub(o.now); left > 0 {
		return wait{reason: infrav1.RemediationCoolingDownReason, after: min(left, settled),
			message: fmt.Sprintf("the Node of %s did not become healthy: the next power cycle follows when spec.strategy.coolDown (%s) is over", o.machineName(), o.coolDown())}
	}
	if o.peer != "" {
		return wait{reason: infrav1.RemediationWaitingForPeerReason, after: settled,
			message: fmt.Sprintf("Machine %s of the same control plane is being remediated: one goes after the other", o.peer)}
	}
	return beginCycle{}
}

// nextUsable says what is done about a machine that cannot be switched, at least not now.
func nextUsable(o observation) (step, bool) {
	switch {
	case o.unreadable != nil:
		found := checks.JudgeRegion(checks.Region{Host: o.maasHost, Err: o.unreadable}, false)
		return wait{reason: found.Reason, message: found.Message, unknown: true, after: moving}, true
	case o.standing == lost:
		return giveUp{remediation.Lost}, true
	case o.standing != ours:
		return stop(infrav1.RemediationBlockedReason, "nothing shows that %s is that of MaasMachine %s, so it is left alone: look at the conditions of that", o.machineName(), o.target.Name), true
	case o.machine.Status != maas.StatusDeployed:
		return giveUp{remediation.NotDeployed}, true
	case o.machine.Locked:
		return stop(infrav1.MachineLockedReason, "%s is locked, and MAAS refuses to switch it: unlock it in MAAS", o.machineName()), true
	}
	return nil, false
}

// nextOff: the machine has to go off.
func nextOff(o observation, p remediation.Progress) step {
	done, err := o.did(powerOff{})
	switch {
	case o.machine.PowerState == maas.PowerOff:
		return endOff{}
	case errors.Is(err, errNoPowerControl):
		return giveUp{remediation.NoPowerControl}
	case o.now.Sub(p.Last()) >= o.timeout():
		return giveUp{remediation.PowerStaysOn}
	case !done && o.mayAsk(powerOff{}):
		return powerOff{}
	case err != nil:
		return o.powerFailed("off", err)
	}
	return wait{reason: infrav1.RemediationPoweringOffReason, after: moving, message: o.machineName() + " is being switched off, to be switched on again"}
}

// nextOn: the machine has to be on, and its Node to become healthy.
func nextOn(o observation, p remediation.Progress) step {
	if o.machine.PowerState == maas.PowerOff {
		done, err := o.did(powerOn{})
		switch {
		case !done && o.mayAsk(powerOn{}):
			return powerOn{}
		case err != nil:
			return o.powerFailed("on", err)
		}
		return wait{reason: infrav1.RemediationPoweringOnReason, after: moving, message: o.machineName() + " was off, and is being switched on again"}
	}
	return wait{reason: infrav1.RemediationWaitingForNodeReason, after: min(p.On.Add(o.timeout()).Sub(o.now), settled),
		message: fmt.Sprintf("%s was switched on again: its Node has spec.strategy.timeout (%s) to become healthy", o.machineName(), o.timeout())}
}

func (o observation) powerFailed(to string, err error) wait {
	return wait{reason: infrav1.RemediationPowerFailedReason, after: moving,
		message: fmt.Sprintf("MAAS could not switch %s %s (%s): check its power settings in MAAS, and its BMC; it is tried again until spec.strategy.timeout is over",
			to, o.machineName(), maas.Words(err))}
}

// nextGivenUp: the machine is switched off, if it has to be, and then handed over.
func nextGivenUp(o observation, p remediation.Progress) step {
	why := explain(o, p.GaveUp.Because)
	switch {
	case o.handedOver():
		return stop(infrav1.RemediationHandedOverReason, "%s: Cluster API is to replace %s; if it stays, look at its condition OwnerRemediated", why, o.ownerName())
	case !o.unhealthy():
		return stop(infrav1.RemediationNotUnhealthyReason, "%s was given up, and is healthy: its MachineHealthCheck deletes this object; if nobody does, do it yourself", o.ownerName())
	case !p.GaveUp.Off || o.now.Sub(p.GaveUp.At) >= offPatience:
		return handOver{}
	}
	switch {
	case o.unreadable != nil:
		s, _ := nextUsable(o)
		return s
	case o.standing != ours || o.machine.Status != maas.StatusDeployed || o.machine.Locked || o.machine.PowerState != maas.PowerOn:
		return handOver{} // it is off, or nobody can switch it off
	}
	done, err := o.did(powerOff{})
	switch {
	case !done && o.mayAsk(powerOff{}):
		return powerOff{}
	case errors.Is(err, errNoPowerControl):
		return handOver{}
	case err != nil:
		return wait{reason: infrav1.RemediationSwitchingOffReason, after: moving,
			message: fmt.Sprintf("%s; %s could not be switched off (%s), and is handed over anyway in some minutes", why, o.machineName(), maas.Words(err))}
	}
	return wait{reason: infrav1.RemediationSwitchingOffReason, after: moving, message: why + ": it is switched off before Cluster API replaces it"}
}

// explain says why nothing more is tried.
func explain(o observation, because remediation.Cause) string {
	switch because {
	case remediation.NotRecovered:
		return "the Node of " + o.machineName() + " did not become healthy by as many power cycles as spec.strategy.retryLimit allows"
	case remediation.PowerStaysOn:
		return o.machineName() + " could not be switched off within spec.strategy.timeout"
	case remediation.NoPowerControl:
		return "MAAS cannot switch the power of " + o.machineName() + ", as with the power type manual"
	case remediation.InMemory:
		return o.machineName() + " was deployed to memory, which a power cycle would lose"
	case remediation.Lost:
		return o.machineName() + " is not there any more, or not ours"
	case remediation.NotDeployed:
		return o.machineName() + " is not deployed, or not any more, so a power cycle would not help"
	case remediation.Asked:
		return fmt.Sprintf("%s has annotation %s", o.ownerName(), clusterv1.RemediateMachineAnnotation)
	}
	return o.machineName() + " was given up"
}

// nextEnd: the MaasRemediation is being deleted, because the Machine is healthy, or because a person does not want it. A machine that we
// switched off is switched on again; whatever comes of that, nothing here keeps it off any more, and it is switched on as any other.
func nextEnd(o observation) step {
	p := o.progress()
	switch {
	case o.first != "" || o.leaving():
		return removeFinalizer{}
	case p.KeepsOff() || p.GaveUp != nil:
		return takeBack{}
	case p.On == nil || o.now.Sub(*p.On) >= o.timeout():
		return removeFinalizer{}
	case o.unreadable != nil || o.standing != ours || o.machine.Status != maas.StatusDeployed:
		return removeFinalizer{}
	case o.machine.Locked || o.isInMemory() || o.machine.PowerState != maas.PowerOff:
		return removeFinalizer{}
	}
	if done, _ := o.did(powerOn{}); done {
		return removeFinalizer{}
	}
	return powerOn{}
}

// stop waits for somebody else.
func stop(reason, message string, args ...any) wait {
	return wait{reason: reason, message: fmt.Sprintf(message, args...), stopped: true, after: settled}
}
