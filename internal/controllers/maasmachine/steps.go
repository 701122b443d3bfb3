package maasmachine

import "time"

// step is one thing to do. Its key tells it from others within one reconcile.
type step interface{ key() string }

type (
	// ensureClaim writes the claim token, before anything is asked of MAAS.
	ensureClaim struct{}
	// beginClaim writes down which machine is about to be allocated.
	beginClaim struct{ systemID string }
	// claim allocates that machine.
	claim struct{ systemID string }
	// adopt stores the system ID of a machine that carries our claim.
	adopt struct{ systemID string }
	// annotate writes on a machine whose it is.
	annotate struct{ systemID string }
	// noteExtra writes down a machine that a claim got beside the one it keeps, before it is released; dropExtra forgets it.
	noteExtra struct{ systemID string }
	dropExtra struct{ systemID string }
	// beginDeploy writes down that the machine is about to be deployed: a request that MAAS takes up late acquires it anew.
	beginDeploy struct{ systemID string }
	// deploy installs the image.
	deploy struct{}
	// deployTaken writes down that MAAS took a deployment up.
	deployTaken struct{ systemID string }
	// noteReturn writes down that a deployment came to nothing, and that the machine is Allocated again.
	noteReturn struct{ systemID string }
	// giveUp writes down that a deployment failed, and why.
	giveUp struct{ systemID, why string }
	// avoid marks a machine in MAAS on which a deployment failed, for others to take first.
	avoid struct {
		systemID string
		until    time.Time
	}
	// abort ends a deployment that was given up and is under way.
	abort struct{ systemID string }
	// forgetMachine drops the machine on which the deployment failed, once it is given back.
	forgetMachine struct{ systemID string }
	// noteWhere writes down which MAAS has the machine, and whose it is there.
	noteWhere struct{}
	// endAttempt removes what stands of a request that can have no effect any more.
	endAttempt struct{}
	// setProviderID freezes the machine's identity, once it is deployed.
	setProviderID struct{ providerID string }
	// joinDNS puts the machine's address into the control plane's record.
	joinDNS struct{ address string }
	// leaveDNS takes it out.
	leaveDNS struct{}
	// hookMachine makes the Machine wait for us before its infrastructure is deleted.
	hookMachine struct{}
	// unhookMachine ends that.
	unhookMachine struct{}
	// noteLeft writes down that the machine left the record, and for how long resolvers keep what they had; 0 if that is not known.
	noteLeft struct{ keptFor time.Duration }
	// linkNode gives the machine's Node its provider ID.
	linkNode struct{}
	// powerOn switches on a machine that lost its power.
	powerOn struct{}
	// release gives a machine back.
	release struct{ systemID string }
	// switchOff switches off a machine that is to be marked broken.
	switchOff struct{ systemID string }
	// markBroken gives a machine back that nobody is to get.
	markBroken struct{ systemID string }
	// markAbandoned writes on a machine why it is not released.
	markAbandoned struct{ systemID string }
	// markKept writes on a machine whose deployment failed that it is kept for a person.
	markKept struct{ systemID string }
	// removeFinalizer lets the object go.
	removeFinalizer struct{ because ending }
	// wait does nothing until something changes, or until some time has passed.
	wait struct {
		// condition is the one that the reason belongs to; "" means that nothing is amiss.
		condition       string
		reason, message string
		unknown         bool // the condition is Unknown, not False
		after           time.Duration
		timed           bool // something is to be done then, and nothing else wakes us for it
	}
)

// showsElsewhere says that the machine in MAAS is after a step as it was before. The address leaves DNS before a release, and may take
// its time: whose the machine is has to be seen anew then.
func showsElsewhere(s step) bool {
	switch s.(type) {
	case beginDeploy, deployTaken, noteReturn, giveUp, endAttempt, noteWhere, setProviderID, linkNode, joinDNS, hookMachine, noteLeft:
		return true
	}
	return false
}

// machineOf names the machine that a step changes in MAAS; "" if none.
func machineOf(s step, o observation) string {
	switch s := s.(type) {
	case claim:
		return s.systemID
	case annotate:
		return s.systemID
	case release:
		return s.systemID
	case switchOff:
		return s.systemID
	case markBroken:
		return s.systemID
	case abort:
		return s.systemID
	case avoid:
		return s.systemID
	case markAbandoned:
		return s.systemID
	case markKept:
		return s.systemID
	case deploy, powerOn:
		return o.systemID()
	}
	return ""
}

// ending is why an object may go.
type ending string

const (
	nothingClaimed ending = "nothing was claimed"
	released       ending = "released"
	notOurs        ending = "not ours"
	gone           ending = "gone"
	abandoned      ending = "abandoned"
	kept           ending = "kept"
	beingErased    ending = "being erased"
	moved          ending = "moved"
)

func (ensureClaim) key() string     { return "ensure claim" }
func (s beginClaim) key() string    { return "begin claim " + s.systemID }
func (s claim) key() string         { return "claim " + s.systemID }
func (s adopt) key() string         { return "adopt " + s.systemID }
func (s annotate) key() string      { return "annotate " + s.systemID }
func (s noteExtra) key() string     { return "note extra " + s.systemID }
func (s dropExtra) key() string     { return "drop extra " + s.systemID }
func (s beginDeploy) key() string   { return "begin deploy " + s.systemID }
func (deploy) key() string          { return "deploy" }
func (s deployTaken) key() string   { return "deployment taken " + s.systemID }
func (s noteReturn) key() string    { return "note return " + s.systemID }
func (s giveUp) key() string        { return "give up " + s.systemID }
func (s avoid) key() string         { return "avoid " + s.systemID }
func (s abort) key() string         { return "abort " + s.systemID }
func (s forgetMachine) key() string { return "forget machine " + s.systemID }
func (noteWhere) key() string       { return "note where" }
func (endAttempt) key() string      { return "end attempt" }
func (setProviderID) key() string   { return "set provider ID" }
func (joinDNS) key() string         { return "join DNS" }
func (leaveDNS) key() string        { return "leave DNS" }
func (hookMachine) key() string     { return "hook Machine" }
func (unhookMachine) key() string   { return "unhook Machine" }
func (noteLeft) key() string        { return "note left" }
func (linkNode) key() string        { return "link Node" }
func (powerOn) key() string         { return "power on" }
func (s release) key() string       { return "release " + s.systemID }
func (s switchOff) key() string     { return "switch off " + s.systemID }
func (s markBroken) key() string    { return "mark broken " + s.systemID }
func (s markAbandoned) key() string { return "mark abandoned " + s.systemID }
func (s markKept) key() string      { return "mark kept " + s.systemID }
func (removeFinalizer) key() string { return "remove finalizer" }
func (wait) key() string            { return "wait" }

// How long to wait before looking again, where nothing else wakes us.
const (
	moving    = 5 * time.Second  // something is under way
	releasing = 15 * time.Second // so is a release, or MAAS is away
	scarce    = 30 * time.Second // no machine is free
	settled   = time.Minute      // all is as it should be, or waits for a person
)

const (
	// powerGrace is how long the power must have been off before a machine is switched on. MAAS polls every 5 minutes.
	powerGrace = 5 * time.Minute
	// claimSettles is when an unanswered request for a machine can have no effect any more. MAAS 3.7: it tries for at most 90 s.
	claimSettles = 3 * time.Minute
)
