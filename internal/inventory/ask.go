package inventory

import (
	"context"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// listPatience is how long MAAS may take for a list.
	listPatience = 2 * time.Minute
	// overdue is when nobody begins to wait for a list any more: each of many who wait holds something up.
	overdue = 30 * time.Second
)

// Free lists the machines that are Ready and satisfy what MAAS checks. One list serves all who ask within seconds, and longer while nothing
// happens in MAAS. The callers must not change what they get. An error is one of package maas, and serves for seconds too.
func (v *Inventory) Free(ctx context.Context, constraints Constraints) ([]maas.Machine, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	needed := v.lists.freed
	for {
		now := v.now()
		l := v.lists.of(constraints, now)
		if a := l.answer; a != nil && v.lists.serves(a, v.log.followed(), now) {
			return v.lists.untouched(*a)
		}
		a := v.join(ctx, l, constraints.filter())
		if err := v.wait(ctx, a); err != nil {
			return nil, err
		}
		if a.answer.order > needed {
			return v.lists.untouched(a.answer)
		}
	}
}

// All lists every machine that our user may see, as of at most maxAge ago. It is the heaviest request there is: maxAge is a minute or more.
// The callers must not change what they get. An error is one of package maas, and serves for seconds too.
func (v *Inventory) All(ctx context.Context, maxAge time.Duration) ([]maas.Machine, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if a := v.lists.all.answer; a != nil && (a.err == nil && now.Sub(a.sent) <= maxAge || a.err != nil && now.Sub(a.arrived) < freshList) {
		return a.machines, a.err
	}
	a := v.join(ctx, &v.lists.all, maas.MachineFilter{})
	if err := v.wait(ctx, a); err != nil {
		return nil, err
	}
	return a.answer.machines, a.answer.err
}

// join returns the request for a list that is on its way, or sends one. It is for all who want the list: it outlives the caller. The lock is held
// before and after.
func (v *Inventory) join(ctx context.Context, of *list, filter maas.MachineFilter) *asking {
	if of.asking != nil {
		return of.asking
	}
	a := v.lists.ask(of, v.now())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listPatience)
	ask := func() {
		defer cancel()
		machines, err := v.client.Machines(ctx, filter)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lists.took(of, machines, err, v.now())
	}
	if v.OneByOne {
		v.mu.Unlock()
		ask()
		v.mu.Lock()
		return a
	}
	go ask()
	return a
}

// wait waits for an answer, without the lock.
func (v *Inventory) wait(ctx context.Context, a *asking) error {
	if v.now().Sub(a.answer.sent) >= overdue {
		return unanswered(nil)
	}
	v.mu.Unlock()
	defer v.mu.Lock()
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return unanswered(ctx.Err())
	}
}

func unanswered(cause error) error {
	return &maas.Error{Kind: maas.KindUnavailable, Operation: "list_machines", Message: "MAAS did not answer in time", Err: cause}
}
