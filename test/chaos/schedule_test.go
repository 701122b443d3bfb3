package chaos

import (
	"container/heap"
	"time"
)

// schedule is what is to happen, in order of time, and of its coming where the time is the same.
type schedule struct {
	events eventHeap
	number int
}

type event struct {
	at     time.Time
	number int
	run    func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].number < h[j].number
	}
	return h[i].at.Before(h[j].at)
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (s *schedule) add(at time.Time, run func()) {
	s.number++
	heap.Push(&s.events, event{at, s.number, run})
}

// next takes the first event that is due by then.
func (s *schedule) next(end time.Time) (event, bool) {
	if len(s.events) == 0 || s.events[0].at.After(end) {
		return event{}, false
	}
	return heap.Pop(&s.events).(event), true
}

// after lets something happen later.
func (w *world) after(d time.Duration, run func()) { w.schedule.add(w.clock.Now().Add(d), run) }

// every lets something happen again and again, for as long as it says so.
func (w *world) every(d time.Duration, run func() bool) {
	w.after(d, func() {
		if run() {
			w.every(d, run)
		}
	})
}

// pass lets all happen that is due within d, or until done; done is asked now and then. It says whether it was done.
func (w *world) pass(d time.Duration, done func() bool) bool {
	end := w.clock.Now().Add(d)
	asked := w.clock.Now()
	for {
		if now := w.clock.Now(); now.Sub(asked) >= beat {
			asked = now
			if done != nil && done() {
				return true
			}
		}
		e, ok := w.schedule.next(end)
		if !ok {
			break
		}
		w.clock.Advance(max(0, e.at.Sub(w.clock.Now())))
		e.run()
		if w.isBroken() {
			return false
		}
	}
	w.clock.Advance(max(0, end.Sub(w.clock.Now())))
	return done != nil && done()
}

// beat is how often this package's Cluster API looks, and how often it is asked whether all is as it should be.
const beat = 15 * time.Second
