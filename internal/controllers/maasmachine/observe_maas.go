package maasmachine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Limits of one call. Cluster API's builder gives a whole reconcile one minute.
const (
	readPatience  = 15 * time.Second
	writePatience = 30 * time.Second
)

// observeMAAS reads what MAAS says of the machines of an object. What it fills is complete, or unreadable says why not.
func (r *Reconciler) observeMAAS(ctx context.Context, o *observation) {
	o.unreadable, o.standing, o.machine, o.claimed, o.strangers = nil, holdsNone, nil, nil, ""
	o.candidates, o.scarcity = nil, ""
	_, missing := o.prerequisite()
	if o.contradiction() != "" || o.systemID() == "" && o.token() == "" && (missing || o.deleting()) {
		return
	}
	user, err := r.Identity.User(ctx)
	if err != nil {
		o.unreadable = err
		return
	}
	o.user = user.Username
	if o.unreadable = r.lookUp(ctx, o); o.unreadable != nil {
		return
	}
	if o.irrevocable() {
		// A verdict that cannot be taken back needs a second look, and so does who we are.
		if o.unreadable = r.lookAgain(ctx, o); o.unreadable != nil {
			return
		}
	}
	if o.token() != "" && !missing && !o.deleting() && o.systemID() == "" && len(o.claimed) == 0 && o.attempt().systemID == "" {
		o.unreadable = r.findCandidates(ctx, o)
	}
}

// irrevocable says whether what was seen would end something for good: the machine is not ours, or nothing is left to release.
func (o observation) irrevocable() bool {
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
	o.user = user.Username
	return r.lookUp(ctx, o)
}

// lookUp reads the machine with the stored system ID, and where that matters, those found by the claim.
func (r *Reconciler) lookUp(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, 2*readPatience)
	defer cancel()
	o.standing, o.machine, o.claimed, o.strangers = holdsNone, nil, nil, ""
	var missing error
	if id := o.systemID(); id != "" {
		m, err := r.machines().Machine(ctx, id)
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

// lookUpClaim lists the machines that were allocated with our claim. A deployed machine that carries the claim as an
// annotation needs no list.
func (r *Reconciler) lookUpClaim(ctx context.Context, o *observation) error {
	settled := o.machine != nil && o.carriesClaim(o.machine) && o.provisioned() && !o.deleting()
	if o.token() == "" || settled {
		return nil
	}
	found, err := r.machines().Machines(ctx, maas.MachineFilter{AgentName: o.token()})
	if err != nil {
		return err
	}
	for i := range found {
		m := &found[i]
		if m.Owner == "" || m.Owner != o.user {
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

// findCandidates lists the machines that can be claimed, the best first, or finds out why there is none.
func (r *Reconciler) findCandidates(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, 2*readPatience)
	defer cancel()
	free, err := r.machines().Machines(ctx, maas.MachineFilter{Statuses: []maas.Status{maas.StatusReady}})
	if err != nil {
		return err
	}
	free = slices.DeleteFunc(free, func(m maas.Machine) bool {
		refused, _ := o.did(claim{m.SystemID})
		return refused
	})
	want := o.constraints()
	if o.candidates, _ = placement.Choose(free, want, placement.Preferences{}); len(o.candidates) > 0 {
		return nil
	}
	all, err := r.wide.look(ctx, r.machines(), o.now)
	if err != nil {
		return err
	}
	fitting, why := placement.Choose(all, want, placement.Preferences{})
	if o.scarcity = why.String(); len(fitting) > 0 {
		o.scarcity = "no machine available: those that fit were taken a moment ago"
	}
	return nil
}
