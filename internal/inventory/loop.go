package inventory

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	pollPatience = 15 * time.Second
	pagesAtOnce  = 10 // of events; what is more waits for the next time

	shortestPause = time.Second // a MAAS that takes long to answer gets a rest too
)

// Start keeps the view until ctx ends. It implements the manager's Runnable.
func (v *Inventory) Start(ctx context.Context) error {
	var loops sync.WaitGroup
	// Each has its own pace: a large batch must not keep back what the log tells.
	loops.Go(func() { repeat(ctx, v.followLog) })
	loops.Go(func() { repeat(ctx, v.goRound) })
	loops.Go(func() { repeat(ctx, v.lookForPower) })
	loops.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log = eventLog{}
	return nil
}

// Step does once what Start does again and again, and says how long Start would wait then. It is for those whose time is virtual.
func (v *Inventory) Step(ctx context.Context) (pause time.Duration) {
	return min(v.followLog(ctx), v.goRound(ctx), v.lookForPower(ctx))
}

func repeat(ctx context.Context, act func(context.Context) time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(act(ctx))
		}
	}
}

// followLog reads what came in the event log, and says how long to wait then.
func (v *Inventory) followLog(ctx context.Context) time.Duration {
	if pause := v.untilPoll(); pause > 0 {
		return pause
	}
	for range pagesAtOnce {
		if more := v.readPage(ctx); !more {
			break
		}
	}
	v.tellAwaiting()
	return max(v.untilPoll(), shortestPause)
}

// untilPoll says how long it is until the log is to be read.
func (v *Inventory) untilPoll() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	return v.log.until(now, v.view.expects(now))
}

// readPage reads one page of the event log.
func (v *Inventory) readPage(ctx context.Context) (more bool) {
	v.mu.Lock()
	filter := v.log.next(v.now())
	v.mu.Unlock()

	patience, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	answer, err := v.client.Events(patience, filter)

	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if err != nil {
		if v.log.failures == 0 && ctx.Err() == nil {
			log.FromContext(ctx).Info("MAAS's event log cannot be read; changes are seen later", "reason", err.Error())
		}
		v.log.failed(retryAfter(err))
		return false
	}
	p := v.log.took(filter, answer, now)
	if p.anew {
		v.follows(v.view.begin(now))
	}
	v.follows(v.view.heard(p.events, now))
	return p.more
}

// goRound reads the machines that are due, and says how long to wait then.
func (v *Inventory) goRound(ctx context.Context) time.Duration {
	v.mu.Lock()
	v.view.forgetOld(v.now())
	v.lists.forgetOld(v.now())
	b := v.view.due(v.now())
	v.mu.Unlock()
	if len(b.systemIDs) > 0 {
		v.readBatch(ctx, b)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view.untilDue(v.now())
}

func (v *Inventory) readBatch(ctx context.Context, b batch) {
	machines, err := v.client.Machines(ctx, maas.MachineFilter{SystemIDs: b.systemIDs})
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.view.failed(v.now(), retryAfter(err))
		return
	}
	v.follows(v.view.took(b, machines))
}

// retryAfter is how long MAAS wants to be left alone.
func retryAfter(err error) time.Duration {
	var e *maas.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// follows does what follows from news.
func (v *Inventory) follows(n news) {
	if n.lists {
		v.lists.somethingHappened()
	}
	if n.free {
		v.view.awaited.pending = true
	}
	v.queue.raise(n.changed, changedPriority)
}

// tellAwaiting raises those who await a machine, if there is news for them.
func (v *Inventory) tellAwaiting() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if objects := v.view.tell(v.now(), v.lists.rest()); len(objects) > 0 {
		v.lists.someTold()
		v.queue.raise(objects, 0)
	}
}
