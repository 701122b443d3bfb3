package scenario

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// armed is a fault that was started.
type armed struct {
	fault    Fault
	word     Word
	start    time.Time
	requests operationSet
	machines machineSet
	over     chan struct{} // closed when it is removed

	// What follows is guarded by Running.mu.
	draws   *rand.Rand
	matched int
	struck  int
	last    *Strike
	cancel  func()          // of what it waits for
	waits   bool            // for its next turn
	turn    time.Time       // the beginning of the last turn that was looked at
	lasts   bool            // it holds the region in a state
	view    *simulator.View // that it shows; nil when it shows none
}

// scheduled says that the fault is an act that no request brings about.
func (a *armed) scheduled() bool { return a.word.Group == ByOperators && len(a.fault.On) == 0 }

// active says whether the fault would strike now. Running.mu is held.
func (a *armed) active(now time.Time) bool {
	switch {
	case a.scheduled():
		return a.waits
	case a.word.Group == OnRegion:
		return a.lasts
	}
	_, active := a.fault.begun(a.start, now)
	return active && !a.spent()
}

// newDraws is a stream of random numbers of the fault's own, so that another
// one beside it changes nothing.
func newDraws(seed int64, name string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(uint64(seed), hash.Sum64()))
}

// begun returns when the present turn of a fault began, and whether it lasts
// now.
func (f Fault) begun(start, now time.Time) (time.Time, bool) {
	begin := start.Add(time.Duration(f.After))
	if now.Before(begin) {
		return begin, false
	}
	if every := time.Duration(f.Every); every > 0 {
		begin = begin.Add(now.Sub(begin) / every * every)
	}
	return begin, f.For == 0 || now.Before(begin.Add(time.Duration(f.For)))
}

// spent says that the fault will never strike again. Running.mu is held.
func (a *armed) spent() bool { return a.fault.Count > 0 && a.struck >= a.fault.Count }

// takes counts something that the fault fits, and says whether it strikes. Its
// time was looked at. Running.mu is held.
func (a *armed) takes() bool {
	a.matched++
	if a.matched <= a.fault.Skip || a.spent() {
		return false
	}
	if p := a.fault.Probability; p != nil && a.draws.Float64() >= *p {
		return false
	}
	a.struck++
	return true
}

func (a *armed) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}
