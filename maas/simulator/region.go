package simulator

import (
	"math/rand/v2"
	"sync"
)

// Region is a simulated MAAS region. Its methods may be called from any
// goroutine.
type Region struct {
	cfg     Config
	version release // of Config.Version
	clock   Clock

	mu    sync.Mutex
	state *state
	// changes counts the transactions that changed something that a View shows.
	changes   uint64
	rand      *rand.Rand
	durations *rand.Rand
	latencies *rand.Rand
	publicURL string
	// What was added is asked after the configuration's own.
	intercept       func(Request) Fault
	addedIntercepts hooks[func(Request) Fault]
	hardware        func(HardwareEvent) Trouble
	addedHardware   hooks[func(HardwareEvent) Trouble]
	away            *Away
	// cut is closed while the region is away, and when it is closed.
	cut         chan struct{}
	dnsView     *View
	losesEvents bool
	latency     Latency
	// hardwareInfo is in the JSON of every machine.
	hardwareInfo map[string]string
	closed       bool
	filling      *taken         // while it is filled
	timers       map[int]func() // cancels of work that is queued
	lastTimer    int
	slots        map[string]*bootSlot // by system ID
	working      sync.WaitGroup

	store *imageStore
	log   accessLog
}

// New makes a region that holds what cfg describes. The error names the field
// that is wrong.
func New(cfg Config) (*Region, error) {
	if err := cfg.applyProfile(); err != nil {
		return nil, err
	}
	r := &Region{
		cfg: cfg, clock: cfg.Clock, state: newState(), publicURL: cfg.PublicURL, intercept: cfg.Intercept,
		hardware: cfg.Hardware, latency: cfg.Latency, hardwareInfo: hardwareInfo(),
		rand: cfg.draws("maas"), durations: cfg.draws("dura"), latencies: cfg.draws("late"),
		timers: map[int]func(){}, slots: map[string]*bootSlot{}, cut: make(chan struct{}),
	}
	if r.clock == nil {
		r.clock = realClock{}
	}
	if err := cfg.TLS.check(); err != nil {
		return nil, err
	}
	var err error
	if r.version, err = parseRelease(cfg.Version); err != nil {
		return nil, err
	}
	r.cfg.Version = r.version.String()
	if r.store, err = newImageStore(cfg.ImageDir); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.populate(); err != nil {
		return nil, err
	}
	return r, nil
}

// SetPublicURL says how machines reach the region (http://host:port/MAAS).
func (r *Region) SetPublicURL(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.publicURL = url
}

// Close drops all queued work, lets go of requests that hang or wait, ends the
// contexts of the Booter's calls and waits for the calls that run. It does not
// halt machines. Images stay in Config.ImageDir; what was uploaded of incomplete
// ones goes.
func (r *Region) Close() {
	r.mu.Lock()
	if !r.closed && r.away == nil {
		close(r.cut)
	}
	r.closed = true
	for _, cancel := range r.timers {
		cancel()
	}
	for _, slot := range r.slots {
		if slot.cancel != nil {
			slot.cancel()
		}
	}
	r.timers = map[int]func(){}
	for _, c := range r.state.contents.all() {
		r.store.drop(c.partial)
	}
	r.mu.Unlock()
	r.working.Wait()
}

// change runs f as one transaction with its after-commit work, outside of any
// request: for operators, hardware and the metadata service.
func (r *Region) change(f func(*tx) *refusal) *refusal {
	refused, todo := r.commit(f)
	r.perform(todo)
	return refused
}

func (r *Region) commit(f func(*tx) *refusal) (*refusal, []work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &tx{state: r.state, r: r}
	if refused := f(t); refused != nil {
		t.rollback()
		return refused, nil
	}
	return r.settle(t)
}

// settle runs the after-commit work of a committed transaction, and that of
// the transactions this makes. The lock is held. The first refusal is returned.
func (r *Region) settle(t *tx) (*refusal, []work) {
	var first *refusal
	if len(t.undo) > 0 {
		r.changes++
	}
	todo := t.work
	for _, f := range t.after {
		next := &tx{state: r.state, r: r}
		if refused := f(next); refused != nil && first == nil {
			first = refused
		}
		refused, more := r.settle(next)
		if first == nil {
			first = refused
		}
		todo = append(todo, more...)
	}
	return first, todo
}

// perform starts the work that a transaction left, without the lock.
func (r *Region) perform(todo []work) {
	for _, w := range todo {
		if w.delay <= 0 {
			w.run()
			continue
		}
		r.schedule(w)
	}
}

func (r *Region) schedule(w work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.lastTimer++
	id := r.lastTimer
	r.timers[id] = r.clock.AfterFunc(w.delay, func() {
		r.mu.Lock()
		_, wanted := r.timers[id]
		delete(r.timers, id)
		if wanted {
			r.working.Add(1)
		}
		r.mu.Unlock()
		if wanted {
			defer r.working.Done()
			w.run()
		}
	})
}
