package maasmachine

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nextAvoid marks a machine whose deployment failed while it is still ours, so that nobody claims it at once when it is free. Without
// the right to do that, the object alone knows.
func nextAvoid(o observation) (step, bool) {
	d := o.deployment()
	if d.Failed == "" || o.standing != holdsOurs || !o.admin || o.machine.Locked || o.object.Spec.KeepFailed || o.isGivenBack(o.machine) {
		return nil, false
	}
	until := d.Ended.Add(avoidance.Period)
	mark := avoid{o.machine.SystemID, until}
	if done, _ := o.did(mark); done || !o.now.Before(until) || stateOf(o.machine).release == underWay {
		return nil, false
	}
	for _, tag := range o.machine.Tags {
		if tag == avoidance.TagName(until) {
			return nil, false
		}
	}
	return mark, true
}

// avoid gives the machine the tag, which is made if there is none.
func (r *Reconciler) avoid(ctx context.Context, o *observation, s avoid) (failure, err error) {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	name := avoidance.TagName(s.until)
	failure = r.MAAS.TagMachine(ctx, name, s.systemID)
	if errors.Is(failure, maas.ErrNotFound) {
		// Another manager may make the same a moment before.
		if _, failure = r.MAAS.CreateTag(ctx, name, avoidance.TagComment); failure == nil || errors.Is(failure, maas.ErrInvalid) {
			failure = r.MAAS.TagMachine(ctx, name, s.systemID)
		}
	}
	if failure != nil {
		return failure, nil
	}
	return nil, r.change(ctx, o, func(m *infrav1.MaasMachine) {
		changeDeployment(m, s.systemID, o.machine.Hostname, r.now(), func(d *deployment) { d.Tagged = true })
	})
}

// avoided says which machines are to be avoided: those that say so in MAAS, and those on which a deployment of this object failed and that could
// not be marked there. Whoever takes the mark off a machine wants it to be taken.
func (o observation) avoided() func(maas.Machine) avoidance.Level {
	levels := map[string]avoidance.Level{}
	for _, d := range o.failedBefore() {
		if !d.Tagged {
			levels[d.Machine] = max(levels[d.Machine], avoidance.LevelAt(o.now, d.Ended.Add(avoidance.Period)))
		}
	}
	return func(m maas.Machine) avoidance.Level { return max(levels[m.SystemID], avoidance.LevelOf(m.Tags, o.now)) }
}

const (
	// sweepEvery is how often tags are looked through.
	sweepEvery = 10 * time.Minute
	// sweepLate leaves a tag that another clock than ours may find to be valid.
	sweepLate = 10 * time.Minute
)

// SweepTags deletes the tags of machines that are not avoided any more. MAAS takes a tag that is deleted off all machines, whosever they
// are: it is ours. It does nothing without the right to.
func (r *Reconciler) SweepTags(ctx context.Context) error {
	user, err := r.Identity.User(ctx)
	if err != nil || !user.IsSuperuser {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*writePatience)
	defer cancel()
	tags, err := r.MAAS.Tags(ctx)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		until, ours := avoidance.UntilOf(tag.Name)
		if !ours || r.now().Sub(until) < sweepLate {
			continue
		}
		if err := r.MAAS.DeleteTag(ctx, tag.Name); err != nil && !errors.Is(err, maas.ErrNotFound) {
			return err
		}
	}
	return nil
}

// sweeper does so as long as the manager leads.
type sweeper struct{ of *Reconciler }

// NeedLeaderElection says that one sweeps for all.
func (sweeper) NeedLeaderElection() bool { return true }

// Start sweeps until ctx ends. It implements the manager's Runnable.
func (s sweeper) Start(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := s.of.SweepTags(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).V(1).Info("Old tags could not be deleted; it is tried again", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
