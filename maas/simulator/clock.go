package simulator

import (
	"container/heap"
	"time"
)

// Clock is the region's time. It may be a RequestTimer and a ClientTimer too.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once d has passed. The function it returns cancels the
	// call if it has not begun.
	AfterFunc(d time.Duration, f func()) (cancel func())
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// dueItem is work that waits for its time; run is nil once it is cancelled.
type dueItem struct {
	at    time.Time
	order int
	run   func()
}

// dueQueue holds work by its time, and by age where that is equal. Its owner
// guards it.
type dueQueue struct {
	items dueItems
	last  int
}

func (q *dueQueue) add(at time.Time, run func()) *dueItem {
	q.last++
	item := &dueItem{at: at, order: q.last, run: run}
	heap.Push(&q.items, item)
	return item
}

// first is when the first work is due, and whether there is any.
func (q *dueQueue) first() (time.Time, bool) {
	for len(q.items) > 0 && q.items[0].run == nil {
		heap.Pop(&q.items)
	}
	if len(q.items) == 0 {
		return time.Time{}, false
	}
	return q.items[0].at, true
}

// next takes the first work out of the queue if it is due by end; nil when none is.
func (q *dueQueue) next(end time.Time) (at time.Time, run func()) {
	if at, ok := q.first(); !ok || at.After(end) {
		return time.Time{}, nil
	}
	item := heap.Pop(&q.items).(*dueItem)
	return item.at, item.run
}

// dueItems is the heap of a dueQueue.
type dueItems []*dueItem

func (q dueItems) Len() int { return len(q) }
func (q dueItems) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].order < q[j].order
	}
	return q[i].at.Before(q[j].at)
}
func (q dueItems) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *dueItems) Push(x any)   { *q = append(*q, x.(*dueItem)) }
func (q *dueItems) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
