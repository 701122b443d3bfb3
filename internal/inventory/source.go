package inventory

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// changedPriority puts a machine that changed before those that wait for their turn, which have 0 or less.
const changedPriority = 10

// startedQueue is the queue of the controller that the source was started for.
type startedQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Source raises a reconcile of each object whose machine changed, or, for objects that wait for a machine, when one may have become free.
// It is for one controller: that of the objects which follow and await.
func (v *Inventory) Source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.queue = &startedQueue{queue}
		return nil
	})
}

// raise adds objects to the queue.
func (q *startedQueue) raise(objects []types.NamespacedName, priority int) {
	if q == nil || len(objects) == 0 {
		return
	}
	requests := make([]reconcile.Request, 0, len(objects))
	for _, object := range objects {
		requests = append(requests, reconcile.Request{NamespacedName: object})
	}
	if queue, ok := q.TypedRateLimitingInterface.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		queue.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, requests...)
		return
	}
	for _, request := range requests {
		q.Add(request)
	}
}
