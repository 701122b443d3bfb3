package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Errors of a Running for those who decide by them.
var (
	// ErrNameTaken: there is a fault of that name already.
	ErrNameTaken = errors.New("there is a fault of that name already")
	// ErrNoFault: there is no fault of that name.
	ErrNoFault = errors.New("there is no fault of that name")
	// ErrStopped: the scenario was stopped.
	ErrStopped = errors.New("the scenario was stopped")
)

// Running is a scenario that is being played. Its methods may be called from
// any goroutine, but not from what OnStrike gave.
type Running struct {
	region   *simulator.Region
	clock    simulator.Clock
	onStrike func(Strike)
	remove   []func() // of its hooks

	// lasting is held while states of the region begin and end. Locks are taken
	// in this order: lasting, the region's, mu. So the region is never asked while
	// mu is held: hardware asks with the region locked.
	lasting sync.Mutex

	mu       sync.Mutex
	scenario Scenario // without its faults
	faults   []*armed // replaced, never changed
	stopped  bool
}

// Option changes how a scenario is played.
type Option func(*Running)

// OnStrike has f called for each strike and for each end of what lasts. It must
// use neither the region nor the Running, which may be locked.
func OnStrike(f func(Strike)) Option { return func(r *Running) { r.onStrike = f } }

// Start plays a scenario against a region until Stop. Times in it count from
// now on clock, which has to be the region's. What is due at once happens
// before Start returns.
func Start(region *simulator.Region, clock simulator.Clock, s Scenario, options ...Option) (*Running, error) {
	r := &Running{region: region, clock: clock, onStrike: func(Strike) {}}
	for _, option := range options {
		option(r)
	}
	// Before anything happens, for what operators do may meet hardware that fails.
	r.remove = []func(){region.AddIntercept(r.intercept), region.AddHardware(r.hardware)}
	if err := r.Replace(s); err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

// Stop ends all faults. What they did stays done.
func (r *Running) Stop() {
	for _, remove := range r.remove {
		remove()
	}
	r.mu.Lock()
	r.stopped = true
	old := r.faults
	r.faults = nil
	r.mu.Unlock()
	r.end(old)
}

// Replace ends all faults and plays another scenario from now on.
func (r *Running) Replace(s Scenario) error {
	if err := s.check(); err != nil {
		return err
	}
	var all []*armed
	for _, f := range s.named() {
		a, err := prepare(f)
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	s.Faults = nil
	// At one stroke, so that of several who do this at once the last one wins, and
	// all faults meet what the first of them does.
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		return ErrStopped
	}
	old := r.faults
	r.faults, r.scenario = all, s
	for _, a := range all {
		r.start(a)
	}
	r.mu.Unlock()
	r.end(old)
	for _, a := range all {
		r.begin(a)
	}
	return nil
}

// Add begins another fault. Its times count from now.
func (r *Running) Add(f Fault) error {
	_, err := r.add(f)
	return err
}

// add returns the name of the fault that it begins.
func (r *Running) add(f Fault) (name string, err error) {
	a, err := prepare(f)
	if err != nil {
		return "", err
	}
	if err := r.enter(a); err != nil {
		return "", err
	}
	r.begin(a)
	return a.fault.Name, nil
}

// prepare reads what a fault says.
func prepare(f Fault) (*armed, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	word, _ := wordOf(f.Do)
	a := &armed{fault: f, word: word, over: make(chan struct{})}
	var err error
	if a.requests, err = operationsOf(f.On); err != nil {
		return nil, err
	}
	if a.machines, err = machinesOf(f.Machine); err != nil {
		return nil, err
	}
	return a, nil
}

// start lets the times and draws of a fault begin. Running.mu is held.
func (r *Running) start(a *armed) {
	a.start, a.draws = r.clock.Now(), newDraws(r.scenario.Seed, a.fault.Name)
}

// enter gives a fault its name and its place, among requests and hardware.
func (r *Running) enter(a *armed) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return ErrStopped
	}
	var taken []string
	for _, other := range r.faults {
		taken = append(taken, other.fault.Name)
	}
	if a.fault.Name == "" {
		a.fault.Name = a.fault.Do.freeName(taken)
	}
	if slices.Contains(taken, a.fault.Name) {
		return fmt.Errorf("name %q: %w", a.fault.Name, ErrNameTaken)
	}
	r.start(a)
	r.faults = append(slices.Clone(r.faults), a)
	return nil
}

// freeName is what a fault without a name is called.
func (d Do) freeName(taken []string) string {
	name := string(d)
	for n := 2; slices.Contains(taken, name); n++ {
		name = string(d) + "-" + strconv.Itoa(n)
	}
	return name
}

// named gives all faults names.
func (s Scenario) named() []Fault {
	out := slices.Clone(s.Faults)
	var taken []string
	for _, f := range out {
		taken = append(taken, f.Name)
	}
	for i := range out {
		if out[i].Name == "" {
			out[i].Name = out[i].Do.freeName(taken)
			taken = append(taken, out[i].Name)
		}
	}
	return out
}

// Remove ends a fault. What it did stays done.
func (r *Running) Remove(name string) error {
	r.mu.Lock()
	at := slices.IndexFunc(r.faults, func(a *armed) bool { return a.fault.Name == name })
	if at < 0 {
		r.mu.Unlock()
		return fmt.Errorf("%q: %w", name, ErrNoFault)
	}
	old := r.faults[at : at+1]
	r.faults = slices.Delete(slices.Clone(r.faults), at, at+1)
	r.mu.Unlock()
	r.end(old)
	return nil
}

// end ends faults that are not in the list any more.
func (r *Running) end(old []*armed) {
	r.mu.Lock()
	for _, a := range old {
		close(a.over)
		if a.cancel != nil {
			a.cancel()
		}
	}
	r.mu.Unlock()
	for _, a := range old {
		r.leave(a)
	}
}

// State is a fault and what it did.
type State struct {
	Fault Fault `json:"fault"`
	// Active says whether it would strike now.
	Active bool `json:"active"`
	// Matched is how often something came by that it fits, while it was active or
	// after it had struck as often as it may.
	Matched int `json:"matched"`
	// Struck is how often it struck.
	Struck int `json:"struck"`
	// Last is when and what it struck last; nil if it never did.
	Last *Strike `json:"last,omitempty"`
}

// Scenario returns what is played, with all faults that were added and not
// removed.
func (r *Running) Scenario() Scenario {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.scenario
	for _, a := range r.faults {
		out.Faults = append(out.Faults, a.fault)
	}
	return out
}

// Faults returns the faults and what they did, in the order in which requests
// meet them.
func (r *Running) Faults() []State {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []State{}
	for _, a := range r.faults {
		out = append(out, State{Fault: a.fault, Active: a.active(now), Matched: a.matched, Struck: a.struck, Last: a.last})
	}
	return out
}

// all are the faults of a group, in order.
func (r *Running) all(group Group) []*armed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.faults), func(a *armed) bool { return a.word.Group != group })
}

// takes counts something that a fault fits, and says whether it strikes.
func (r *Running) takes(a *armed, now time.Time) bool {
	_, active := a.fault.begun(a.start, now)
	if !active || a.isOver() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return a.takes()
}

// tell keeps and reports what a fault did.
func (r *Running) tell(a *armed, s Strike) {
	s.Time, s.Fault = r.clock.Now(), a.fault.Name
	r.mu.Lock()
	a.last = &s
	r.mu.Unlock()
	r.onStrike(s)
}
