package maasremediation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// observation is all that a decision is made from. Any object in it may be missing.
type observation struct {
	now      time.Time
	maasHost string // of the MAAS that is talked to, for messages

	object  *infrav1.MaasRemediation
	owner   *clusterv1.Machine
	cluster *clusterv1.Cluster
	target  *infrav1.MaasMachine // the owner's
	first   string               // the name of another MaasRemediation of the same Machine, which goes first
	peer    string               // another Machine of the control plane that is being switched off and on

	// unreadable is why MAAS could not be read. Then nothing below counts.
	unreadable error
	user       string // ours, in MAAS
	standing   standing
	machine    *maas.Machine // nil unless MAAS shows it to us

	asked asked // how this process told MAAS to switch the power last
	// tried holds what was done in this reconcile, and what came of it.
	tried map[string]error
}

// standing is what the machine is to us.
type standing int

const (
	unknown  standing = iota // MAAS was not looked at
	ours                     // its owner is our user, and it carries our claim
	lost                     // MAAS showed twice that it is not ours, or not there
	unproven                 // nothing shows that it is ours, and nothing that it never will be: it is left alone
)

func (o observation) deleting() bool { return !o.object.DeletionTimestamp.IsZero() }

// leaving says that the machine is on its way out.
func (o observation) leaving() bool {
	return o.owner == nil || !o.owner.DeletionTimestamp.IsZero() || o.target == nil || !o.target.DeletionTimestamp.IsZero()
}

// progress is what was done so far.
func (o observation) progress() remediation.Progress {
	if o.target == nil {
		return remediation.Progress{}
	}
	return remediation.Of(o.target)
}

// controlPlane says whether the machine is one of the control plane's.
func (o observation) controlPlane() bool {
	_, is := o.owner.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}

// unhealthy says that a health check failed, and that none succeeded since.
func (o observation) unhealthy() bool {
	return conditions.IsFalse(o.owner, clusterv1.MachineHealthCheckSucceededCondition)
}

// skipped says that a person wants the machine left alone.
func (o observation) skipped() bool {
	_, is := o.owner.Annotations[clusterv1.MachineSkipRemediationAnnotation]
	return is
}

// replacementAsked says that a person wants another machine: while the annotation is there, no health check succeeds.
func (o observation) replacementAsked() bool {
	_, is := o.owner.Annotations[clusterv1.RemediateMachineAnnotation]
	return is
}

// handedOver says that the Machine's owner was told to replace it. What it says about that since stays as it is.
func (o observation) handedOver() bool {
	return conditions.IsFalse(o.owner, clusterv1.MachineOwnerRemediatedCondition)
}

// What holds where the strategy says nothing. Servers take up to a quarter of an hour until they boot.
const (
	defaultRetryLimit = 2
	defaultTimeout    = 20 * time.Minute
	defaultCoolDown   = 30 * time.Minute
	// memory is how long a power cycle counts, beside the time that those which the strategy allows can take.
	memory = 24 * time.Hour
	// offPatience is how long the handing over waits until a machine is off for good.
	offPatience = 10 * time.Minute
	// askAgain is when the power is switched again where MAAS does not show that it was.
	askAgain = time.Minute
)

func (o observation) retryLimit() int {
	if n := o.object.Spec.Strategy.RetryLimit; n != nil {
		return int(*n)
	}
	return defaultRetryLimit
}

func (o observation) timeout() time.Duration {
	return orElse(o.object.Spec.Strategy.Timeout, defaultTimeout)
}

func (o observation) coolDown() time.Duration {
	return orElse(o.object.Spec.Strategy.CoolDown, defaultCoolDown)
}

func orElse(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil || d.Duration < 0 {
		return otherwise
	}
	return d.Duration
}

// counted is how many power cycles count.
func (o observation) counted() int {
	allowed := time.Duration(o.retryLimit()) * (o.timeout() + o.coolDown())
	return o.progress().Since(o.now.Add(-memory - allowed))
}

// marksBroken says whether the machine is marked broken when it is given back. Only one that was shown to be at fault is.
func (o observation) marksBroken(why remediation.Cause) bool {
	if why != remediation.NotRecovered && why != remediation.PowerStaysOn {
		return false
	}
	if mark := o.object.Spec.Strategy.MarkBroken; mark != nil {
		return *mark
	}
	release := o.target.Spec.Release
	return (release.Erase == "" || release.Erase == infrav1.EraseNone) && len(release.Scripts) == 0
}

// staysOff says whether the machine is switched off when it is given up. A control plane may go on with a member whose Node is not
// healthy, and not without it; only its owner knows, and may refuse to replace it.
func (o observation) staysOff(why remediation.Cause) bool {
	if o.controlPlane() || o.machine == nil || o.standing != ours || o.machine.Status != maas.StatusDeployed {
		return false
	}
	return why != remediation.PowerStaysOn && why != remediation.NoPowerControl && why != remediation.Asked
}

func (o observation) did(s step) (done bool, err error) {
	err, done = o.tried[s.key()]
	return done, err
}

// asked is a request to switch the power.
type asked struct {
	to   string
	when time.Time
}

// mayAsk says that MAAS may be told to switch the power: it was not just now.
func (o observation) mayAsk(s step) bool {
	return o.asked.to != s.key() || o.now.Sub(o.asked.when).Abs() >= askAgain
}

// machineName names the machine for people.
func (o observation) machineName() string {
	switch {
	case o.target == nil || o.target.Spec.SystemID == "":
		return "the machine"
	case o.target.Status.Hostname == "":
		return fmt.Sprintf("machine %s in MAAS %s", o.target.Spec.SystemID, o.maasHost)
	}
	return fmt.Sprintf("machine %s (%s) in MAAS %s", o.target.Status.Hostname, o.target.Spec.SystemID, o.maasHost)
}

func (o observation) ownerName() string {
	if o.owner == nil {
		return "the Machine"
	}
	return "Machine " + o.owner.Name
}

// isInMemory says that what runs is lost with the power. MAAS before 3.3.7 and 3.4.2 does not show how a machine was deployed, so that
// what was asked for counts too.
func (o observation) isInMemory() bool {
	return o.machine.EphemeralDeploy || o.target.Spec.DeployInMemory
}
