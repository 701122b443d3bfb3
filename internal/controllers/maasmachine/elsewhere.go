package maasmachine

import (
	"fmt"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// recordedHost is the MAAS that has the machine, or was asked for one; "" where an older object does not say.
func (o observation) recordedHost() string { return o.object.Annotations[infrav1.HostAnnotation] }

// recordedUser is the MAAS user who got the machine, or asked for one.
func (o observation) recordedUser() string { return o.object.Annotations[infrav1.UserAnnotation] }

// isElsewhere says that nothing of ours was found, and that the manager may look in the wrong place: it talks to another MAAS than the one
// that has the machine, if perhaps to the same one under another name. What is not there proves nothing then.
func (o observation) isElsewhere() bool {
	recorded := o.recordedHost()
	return recorded != "" && recorded != o.maasHost && !o.foundSomething()
}

// foundSomething says that MAAS shows a machine of ours.
func (o observation) foundSomething() bool {
	return o.standing == holdsOurs || len(o.claimed) > 0 || len(o.extras) > 0
}

// ofAnotherUser says that a machine which is not ours carries our claim nevertheless. MAAS: a release wipes annotations and the agent
// name, so nobody took it from us; our key is another user's than it was. A machine that MAAS does not show may be such a one, or not.
func (o observation) ofAnotherUser() bool {
	switch m := o.machine; {
	case o.foundSomething():
		return false
	case o.claimOwner != "":
		return true
	case m != nil:
		return o.standing == holdsForeign && m.Owner != "" && m.Owner != o.user && o.carriesClaim(m) && o.belongsToOther(m) == ""
	case o.systemID() == "":
		// A request for a machine of which MAAS shows the new user nothing, unless that is an administrator, who sees all.
		try := o.attempt()
		proven := o.admin && o.now.Sub(try.since).Abs() >= claimSettles
		return try.systemID != "" && o.formerUser() != "" && !proven
	}
	return o.standing == holdsForeign && o.formerUser() != ""
}

// formerUser is the MAAS user who got the machine, if that was another one than ours is now.
func (o observation) formerUser() string {
	if user := o.recordedUser(); user != o.user {
		return user
	}
	return ""
}

// isOutOfSight says that what MAAS does not show may be there all the same: nothing is given up, and nothing else is claimed.
func (o observation) isOutOfSight() bool { return o.isElsewhere() || o.ofAnotherUser() }

// outOfSight tells where the machine is instead, and what a person has to do.
func (o observation) outOfSight() (reason, message string) {
	then := "do not release the machine"
	if o.deleting() {
		then = "the release goes on then"
	}
	what := o.storedName()
	if o.systemID() == "" {
		what = "a machine"
		if id := o.attempt().systemID; id != "" {
			what = "machine " + id
		}
	}
	if o.isElsewhere() {
		return infrav1.MachineInAnotherMAASReason, fmt.Sprintf(
			"%s was allocated in MAAS %s, and MAAS %s has no machine of this claim: point MAAS_ENDPOINT to MAAS %s; if both are the same MAAS, set annotation %s=%s",
			what, o.recordedHost(), o.maasHost, o.recordedHost(), infrav1.HostAnnotation, o.maasHost)
	}
	owner := o.claimOwner
	if owner == "" && o.machine != nil {
		owner = o.machine.Owner
	}
	if owner == "" {
		return infrav1.MachineOfAnotherUserReason, fmt.Sprintf(
			"%s in MAAS %s was allocated for user %q, but the API key is one of user %q, to whom MAAS does not show it: put a key of user %q into MAAS_API_KEY, and restart the manager; %s",
			what, o.maasHost, o.formerUser(), o.user, o.formerUser(), then)
	}
	return infrav1.MachineOfAnotherUserReason, fmt.Sprintf("%s in MAAS %s belongs to user %q, but the API key is one of user %q: put a key of user %q into MAAS_API_KEY, and restart the manager; %s",
		what, o.maasHost, owner, o.user, owner, then)
}

// nextNote writes down where the machine is, once it was seen there: an older object does not say, and a MAAS may get another name.
func nextNote(o observation) (step, bool) {
	if done, _ := o.did(noteWhere{}); done || o.standing != holdsOurs {
		return nil, false
	}
	if o.recordedHost() == o.maasHost && o.recordedUser() != "" {
		return nil, false
	}
	return noteWhere{}, true
}

// setWhere writes down which MAAS is asked for a machine, and as whom.
func setWhere(m *infrav1.MaasMachine, host, user string) {
	setAnnotation(m, infrav1.HostAnnotation, host)
	setAnnotation(m, infrav1.UserAnnotation, user)
}

// dropWhere forgets that, once there is nothing there.
func dropWhere(m *infrav1.MaasMachine) {
	delete(m.Annotations, infrav1.HostAnnotation)
	delete(m.Annotations, infrav1.UserAnnotation)
}
