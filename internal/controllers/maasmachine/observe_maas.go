package maasmachine

import (
	"context"
	"errors"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Limits of one call. Cluster API's builder gives a whole reconcile one minute.
const (
	readPatience  = 15 * time.Second
	writePatience = 30 * time.Second
)

// observeShared answers from the view that all share, if that shows the machine as ours. It is good for waiting: whoever acts, or
// concludes that a machine is not ours, looks at MAAS itself.
func (r *Reconciler) observeShared(ctx context.Context, o *observation) bool {
	o.forgetMAAS()
	if o.contradiction() != "" || o.token() == "" || o.systemID() == "" || len(o.notedExtras()) > 0 {
		return false
	}
	m, ok := r.Inventory.Look(o.systemID())
	// Of what failed MAAS's own words are wanted, which the view does not have.
	if !ok || o.wantsWords(m) {
		return false
	}
	user, err := r.Identity.User(ctx)
	if err != nil {
		return false
	}
	o.user, o.admin = user.Username, user.IsSuperuser
	if !o.owns(m) || o.provisioned() && isStuckOff(m) {
		return false
	}
	o.machine, o.standing, o.page = m, holdsOurs, r.MAAS.MachineURL(m.SystemID)
	r.observeRequests(o)
	r.observePower(o)
	return true
}

// forgetMAAS drops what was seen before.
func (o *observation) forgetMAAS() {
	o.unreadable, o.user, o.standing, o.machine, o.claimed, o.strangers = nil, "", holdsNone, nil, nil, ""
	o.claimOwner, o.extras = "", nil
	o.admin, o.abortedBy, o.imageless, o.imageFor = false, "", checks.Finding{}, nil
	o.page, o.candidate, o.scarcity, o.malformed, o.failure, o.erasesAnyway, o.asked = "", "", "", nil, "", false, nil
}

// observeMAAS reads what MAAS says of the machines of an object. What it fills is complete, or unreadable says why not.
func (r *Reconciler) observeMAAS(ctx context.Context, o *observation) {
	o.forgetMAAS()
	if o.wantsScripts() {
		if o.version, o.unreadable = r.region.versionOf(ctx, r.MAAS, o.now); o.unreadable != nil {
			return
		}
	}
	_, missing := o.prerequisite()
	if o.contradiction() != "" || o.systemID() == "" && o.token() == "" && (missing || o.deleting()) {
		return
	}
	user, err := r.Identity.User(ctx)
	if err != nil {
		o.unreadable = err
		return
	}
	o.user, o.admin = user.Username, user.IsSuperuser
	if !missing && o.wantsCandidate() && r.observeFree(ctx, o) {
		return
	}
	if o.unreadable = r.lookUp(ctx, o); o.unreadable != nil {
		return
	}
	if o.irrevocable() {
		// A verdict that cannot be taken back needs a second look, and so does who we are.
		if o.unreadable = r.lookAgain(ctx, o); o.unreadable != nil {
			return
		}
	}
	if o.machine != nil {
		o.page = r.MAAS.MachineURL(o.machine.SystemID)
	}
	r.observeRequests(o)
	r.observePower(o)
	if o.standing == holdsOurs {
		r.observeTrouble(ctx, o)
	}
}

// observeFree looks whether a machine can be claimed. It says whether that is all that has to be known.
func (r *Reconciler) observeFree(ctx context.Context, o *observation) (enough bool) {
	if r.observeImage(ctx, o); o.imageless.Message == "" {
		if o.unreadable = r.findCandidate(ctx, o); o.unreadable != nil {
			return true
		}
	}
	// Whether an earlier claim found a machine is asked before one is allocated, and now and then while none is free.
	return o.candidate != "" || o.malformed == nil && !r.searches.due(o.object, o.now)
}

// observeTrouble finds out more about a machine of ours with which something is wrong.
func (r *Reconciler) observeTrouble(ctx context.Context, o *observation) {
	if o.wantsWords(o.machine) {
		o.failure = r.failureOf(ctx, o.machine)
	}
	if o.machine.Status == maas.StatusAllocated && o.deployment().Taken && !o.provisioned() {
		o.abortedBy = r.abortedBy(ctx, o.machine)
	}
	if o.givesBack() && o.eraseUnclear(o.machine) {
		o.erasesAnyway, o.unreadable = r.erasesOnRelease(ctx)
	}
}

// wantsCandidate says that there is a claim, and that no machine was asked for it yet.
func (o observation) wantsCandidate() bool {
	return o.token() != "" && o.systemID() == "" && o.attempt().systemID == "" && len(o.notedExtras()) == 0 && !o.deleting()
}

// irrevocable says whether what was seen would end something for good: the machine is not ours, or nothing is left to release.
func (o observation) irrevocable() bool {
	if len(o.notedExtras()) > len(o.extras) {
		return true
	}
	switch o.standing {
	case holdsForeign, holdsGone:
		return true
	case holdsNone:
		return o.deleting() && len(o.claimed) == 0
	}
	return false
}

func (r *Reconciler) lookAgain(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	user, err := r.MAAS.WhoAmI(ctx)
	if err != nil {
		return err
	}
	o.user, o.admin = user.Username, user.IsSuperuser
	return r.lookUp(ctx, o)
}

// lookUp reads the machine with the stored system ID, and where that matters, those found by the claim.
func (r *Reconciler) lookUp(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, 2*readPatience)
	defer cancel()
	o.standing, o.machine, o.claimed, o.strangers, o.claimOwner, o.extras = holdsNone, nil, nil, "", "", nil
	if r.seenInAnswer(o) {
		return nil
	}
	var missing error
	if id := o.systemID(); id != "" {
		m, err := r.read(ctx, id)
		switch {
		case errors.Is(err, maas.ErrNotFound), errors.Is(err, maas.ErrForbidden): // MAAS: another user's machine is forbidden
			missing = err
		case err != nil:
			return err
		default:
			o.machine = m
		}
	}
	if err := r.lookUpClaim(ctx, o); err != nil {
		return err
	}
	if err := r.lookUpExtras(ctx, o); err != nil {
		return err
	}
	switch {
	case o.systemID() == "":
		o.standing = holdsNone
	case errors.Is(missing, maas.ErrNotFound):
		o.standing = holdsGone
	case o.machine != nil && o.owns(o.machine):
		o.standing = holdsOurs
	case o.machine != nil && o.token() == "" && o.machine.Owner != "" && o.machine.Owner == o.user:
		o.standing = holdsUnproven
	default:
		o.standing = holdsForeign
	}
	return nil
}

// lookUpClaim lists the machines that were allocated with our claim. One that carries the claim as an annotation needs no list, but
// for one look when it was installed: by then every request for a machine has had its effect, also one that MAAS did not answer. A
// deletion looks again, whatever was seen before, and so does one that has an extra machine: that may not be annotated yet.
func (r *Reconciler) lookUpClaim(ctx context.Context, o *observation) error {
	known := o.machine != nil && o.carriesClaim(o.machine) && !o.deleting() && len(o.notedExtras()) == 0 && (o.provisioned() || stateOf(o.machine).deploy != runs)
	if o.token() == "" || known {
		return nil
	}
	found, err := r.MAAS.Machines(ctx, maas.MachineFilter{AgentName: o.token()})
	if err != nil {
		return err
	}
	r.searches.done(o.object, o.now)
	for i := range found {
		m := &found[i]
		if m.Owner != o.user {
			// MAAS: the agent name goes when a release starts, so that nobody else got it in between.
			if m.Owner != "" && o.belongsToOther(m) == "" {
				o.claimOwner = m.Owner
			}
			continue
		}
		if whose := o.belongsToOther(m); whose != "" {
			o.strangers = whose
			continue
		}
		o.claimed = append(o.claimed, *m)
	}
	return nil
}

// seenInAnswer takes MAAS's answer to the last step for a look, which it is: the step was one of ours on this machine. A deletion
// looks for other machines with our claim too.
func (r *Reconciler) seenInAnswer(o *observation) bool {
	m := o.answered
	o.answered = nil
	if m == nil || o.deleting() || len(o.notedExtras()) > 0 || o.systemID() != m.SystemID || m.Owner != o.user {
		return false
	}
	o.machine, o.claimed, o.standing = m, []maas.Machine{*m}, holdsOurs
	return true
}

// read looks at one machine, for all who look at it.
func (r *Reconciler) read(ctx context.Context, systemID string) (*maas.Machine, error) {
	began := r.now()
	m, err := r.MAAS.Machine(ctx, systemID)
	if err != nil {
		r.Inventory.Touched(systemID) // what the view has may not be so any more
		return nil, err
	}
	r.Inventory.Learned(m, began)
	return m, nil
}

// failureOf finds MAAS's own words for why a deployment or a release failed. MAAS before 3.5 has them in its event log alone.
func (r *Reconciler) failureOf(ctx context.Context, m *maas.Machine) string {
	if m.ErrorDescription != "" {
		return brief(m.ErrorDescription, maxWords)
	}
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	page, err := r.MAAS.Events(ctx, maas.EventFilter{SystemIDs: []string{m.SystemID}, Level: "WARNING", Limit: 1})
	switch {
	case err == nil && len(page.Events) > 0:
	case m.Status == maas.StatusFailedDeployment:
		return brief(m.StatusMessage, maxWords)
	default:
		return ""
	}
	return brief(page.Events[0].Type+": "+page.Events[0].Description, maxWords)
}

// abortedBy finds out whether a person ended the deployment of a machine, and who. MAAS 3.4 to 3.7: the event of the abort is newer than that of the
// deployment then, and both have level DEBUG.
func (r *Reconciler) abortedBy(ctx context.Context, m *maas.Machine) string {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	page, err := r.MAAS.Events(ctx, maas.EventFilter{SystemIDs: []string{m.SystemID}, Level: "DEBUG", Limit: 100})
	if err != nil {
		return "" // it counts as one that came to nothing
	}
	for _, e := range page.Events {
		switch e.Type {
		case "User aborting deployment":
			return e.Username
		case "User starting deployment":
			return ""
		}
	}
	return ""
}

// observeImage looks whether MAAS has the image, and for which architectures. Where nobody knows, nothing is concluded.
func (r *Reconciler) observeImage(ctx context.Context, o *observation) {
	if r.Checks == nil {
		return
	}
	wish := checks.ImageWish{Architecture: o.object.Spec.Architecture, Wish: checks.Wish{
		Name: o.object.Spec.Image, By: "spec.image of MaasMachine " + o.object.Namespace + "/" + o.object.Name, In: "in a new MaasMachineTemplate",
	}}
	found, architectures := r.Checks.Image(ctx, wish)
	if found.Verdict == checks.Wrong {
		o.imageless = found
	}
	o.imageFor = architectures
}
