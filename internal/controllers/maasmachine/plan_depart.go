package maasmachine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

const (
	// longestHold is how long Cluster API is kept waiting at most, whatever is amiss.
	longestHold = 10 * time.Minute
	// longestEcho is how long after its time an address may still be answered before that is no reason to wait any more: somebody wrote
	// it into a hosts file, perhaps.
	longestEcho = 2 * time.Minute
)

// siblings is what a machine of a control plane has to know of the others before it leaves the record.
type siblings struct {
	earlier   string // the name of a Machine that was deleted before this one's, and is not gone yet
	successor bool   // there is one that stays
}

// hooked says that the Machine waits for us before its infrastructure is deleted.
func (o observation) hooked() bool {
	if o.owner == nil {
		return false
	}
	_, is := o.owner.Annotations[infrav1.EndpointHookAnnotation]
	return is
}

// lacksHook: what joins the record is not to go before clients have forgotten it. That has to stand before the address does.
func (o observation) lacksHook() bool {
	done, _ := o.did(hookMachine{})
	return !done && o.owner != nil && !o.hooked() && !o.leaving() && o.controlPlane() && o.dns.managed && !o.clusterGoes()
}

// nextUnhook: the Machine never waits for nothing. Who deletes a cluster waits for no clients, and an object that goes can do no more.
func nextUnhook(o observation) (step, bool) {
	done, _ := o.did(unhookMachine{})
	switch {
	case done || !o.hooked() || !o.leaving():
		return nil, false
	case o.deleting():
		return unhookMachine{}, !o.movedAway() && !o.heldByMistake()
	}
	return unhookMachine{}, o.hasNothingToLose() || o.isHeldForLong()
}

// hasNothingToLose says that no client reaches an API server through this machine's address, or that nobody asks for it any more.
func (o observation) hasNothingToLose() bool {
	switch {
	case !o.controlPlane(), o.infra == nil, !o.dns.managed, o.clusterGoes(), o.abandoning(), !o.provisioned(), o.contradiction() != "":
		return true
	case o.unreadable != nil:
		return false
	}
	return o.standing != holdsOurs || stateOf(o.machine).deploy != runs
}

// clusterGoes says that the cluster is being deleted as a whole, or is gone.
func (o observation) clusterGoes() bool {
	return o.cluster == nil || !o.cluster.DeletionTimestamp.IsZero() || o.infra != nil && !o.infra.DeletionTimestamp.IsZero()
}

// isHeldForLong says that Cluster API has done all that comes before, and waited for us for long enough.
func (o observation) isHeldForLong() bool {
	deletion := o.owner.Status.Deletion
	return deletion != nil && !deletion.WaitForPreTerminateHookStartTime.IsZero() &&
		o.now.Sub(deletion.WaitForPreTerminateHookStartTime.Time) >= longestHold
}

// nextDepart takes a machine whose Machine is being deleted out of the record, and ends the hold once it is forgotten.
func nextDepart(o observation) (step, bool) {
	if !o.leaving() {
		return nil, false
	}
	if done, _ := o.did(leaveDNS{}); !done && o.dns.attached && o.staysBecause() == "" {
		return leaveDNS{}, true
	}
	if !o.hooked() || o.dns.attached || o.dns.err != nil {
		return nil, false
	}
	left, noted := o.leftEndpoint()
	note := noteLeft{o.keptFor}
	if done, _ := o.did(note); !done && (!noted || o.keptFor > 0) {
		return note, true
	}
	done, _ := o.did(unhookMachine{})
	return unhookMachine{}, !done && noted && o.isForgotten(left)
}

// staysBecause says why a machine that goes stays in the record for now; "" if it leaves. While it stays it serves: Cluster API lets the
// machines of a control plane go one by one. What is being released never stays.
func (o observation) staysBecause() string {
	switch {
	case o.deleting(), o.clusterGoes(), o.standing != holdsOurs, stateOf(o.machine).deploy != runs:
		return ""
	case o.siblings.earlier != "":
		return fmt.Sprintf("Machine %s/%s was deleted before %s: it leaves the control plane's DNS record first; look at what it waits for",
			o.object.Namespace, o.siblings.earlier, o.ownerName())
	case o.dns.alone && o.siblings.successor:
		return fmt.Sprintf("%s is the last in the control plane's DNS record, and stays there until another machine of the control plane has joined it: look at the others",
			o.storedName())
	}
	return ""
}

// departure is when a machine left the record, and for how long resolvers keep its address from then on.
type departure struct {
	at      time.Time
	keptFor time.Duration
}

// leftEndpoint reads it from the object.
func (o observation) leftEndpoint() (departure, bool) {
	text, noted := o.object.Annotations[infrav1.LeftEndpointAnnotation]
	if !noted {
		return departure{}, false
	}
	stamp, rest, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, stamp)
	keptFor, unclear := time.ParseDuration(rest)
	if err != nil || unclear != nil {
		// Somebody edited it. It was written after the Machine was deleted.
		return departure{at: o.owner.DeletionTimestamp.Time, keptFor: endpoint.KeptFor}, true
	}
	return departure{at: at, keptFor: keptFor}, true
}

func (d departure) String() string { return d.at.UTC().Format(time.RFC3339) + " " + d.keptFor.String() }

// over is when everybody has forgotten the address who does as the record said.
func (d departure) over() time.Time { return d.at.Add(d.keptFor + endpoint.Propagation) }

// isForgotten says that nobody who asks for the name anew gets the address, as far as that can be known.
func (o observation) isForgotten(d departure) bool {
	return !o.now.Before(d.over()) && (!o.dns.answered || !o.now.Before(d.over().Add(longestEcho)))
}

// departing says what the Machine waits for that we hold.
func (o observation) departing() (w wait, is bool) {
	if o.deleting() || !o.leaving() || !o.hooked() {
		return wait{}, false
	}
	w = wait{condition: infrav1.MachineDNSAttachedCondition, reason: infrav1.DNSDetachPendingReason, after: releasing, timed: true}
	tried, failed := o.did(leaveDNS{})
	left, noted := o.leftEndpoint()
	switch {
	case o.unreadable != nil:
		_, w.message = o.away(o.unreadable)
	case o.dns.err != nil:
		w.message = endpoint.Explain(o.maasHost, o.dns.err)
	case tried && failed != nil:
		w.message = endpoint.Explain(o.maasHost, failed)
	case o.dns.attached:
		w.message = cmp.Or(o.staysBecause(), "the machine goes, and has yet to leave the record")
		w.after = moving
	case noted && o.isForgotten(left):
		w.reason, w.message = infrav1.DNSForgettingReason, fmt.Sprintf("%s is to be let go, and could not be written to: CAPMAAS tries again by itself", o.ownerName())
	default:
		w.reason = infrav1.DNSForgettingReason
		w.message = fmt.Sprintf("the address has left the control plane's DNS record: %s is held until resolvers have forgotten it", o.ownerName())
		// It may be time to give up before resolvers have forgotten it.
		w.after = min(left.over().Sub(o.now), releasing)
		if w.after <= 0 {
			w.after = moving
		}
	}
	return w, true
}
