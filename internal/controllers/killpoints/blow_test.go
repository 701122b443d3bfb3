package killpoints

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// point is one call in a life: the nth of its name.
type point struct {
	name  string
	n     int
	write bool
	// first says that it is the first call at its time. To be killed at a later one that only looks is to be killed after the write
	// before it, or, without one, at the first: Kubernetes and MAAS hold the same.
	first bool
}

func (p point) String() string { return fmt.Sprintf("%s#%d", p.name, p.n) }

// way is how a call goes wrong; doc.go says what each means.
type way string

const (
	before        way = "before"
	after         way = "after"
	lost          way = "lost"
	failed        way = "failed"
	late          way = "late"
	lateMinute    way = "late-minute"
	beforeDeleted way = "before-deleted"
	afterDeleted  way = "after-deleted"
	lateDeleted   way = "late-deleted"
)

// ways are those in which a call goes wrong in the life of a role. Those with a detour are struck where it matters most.
func (p point) ways(r role) []way {
	switch {
	case r.isDetour() && (!p.write || p.toStatus()):
		return nil
	case r.isDetour() && p.toKubernetes():
		return []way{before, after, afterDeleted}
	case r.isDetour():
		return []way{before, after, late, afterDeleted, lateDeleted}
	case !p.write && p.first:
		return []way{before, lost}
	case !p.write: // it changes nothing, so it does not matter whether it arrives, or when
		return []way{lost}
	case p.toStatus(): // which is made anew
		return []way{before, after}
	case p.toKubernetes():
		return []way{before, after, lost, failed, late, afterDeleted}
	}
	return []way{before, after, lost, failed, late, lateMinute, beforeDeleted, afterDeleted, lateDeleted}
}

// kubernetes begins the names of calls that go there; others go to MAAS.
const kubernetes = "kubernetes-"

func (p point) toKubernetes() bool { return strings.HasPrefix(p.name, kubernetes) }

// toStatus says that the call writes the status of an object.
func (p point) toStatus() bool { return p.toKubernetes() && strings.HasSuffix(p.name, "-status") }

// deletes says that the Machine is deleted when the blow falls.
func (w way) deletes() bool { return strings.HasSuffix(string(w), "-deleted") }

// kind is the way without what else happens.
func (w way) kind() way {
	if w == lateMinute {
		return late
	}
	return way(strings.TrimSuffix(string(w), "-deleted"))
}

// blow is what goes wrong in a life; the zero value is nothing.
type blow struct {
	at  point
	way way
	// again is a second one, which falls later.
	again    point
	againWay way
}

// call is one that was made.
type call struct {
	point
	manager int
	at      time.Time
}

// held is a call of a dead manager that is on its way.
type held struct {
	point
	since  time.Time
	lands  chan struct{} // closed when it is to arrive
	landed chan struct{} // closed once it took effect, or was refused
	write  func()        // the call itself, if it is one to Kubernetes
	looks  int           // of the next manager
}

// next counts a call, and says whether a blow falls on it.
func (w *world) next(m *manager, name string, write bool) (point, way) {
	w.counts[name]++
	now := w.clock.Now()
	p := point{name, w.counts[name], write, len(w.calls) == 0 || w.calls[len(w.calls)-1].at.Before(now)}
	w.calls = append(w.calls, call{p, m.number, now})
	switch {
	case w.struck == 0 && p.is(w.blow.at):
		w.struck, w.afterBlow = 1, len(w.calls)
		return p, w.blow.way.kind()
	case w.struck == 1 && p.is(w.blow.again):
		w.struck = 2
		return p, w.blow.againWay.kind()
	}
	return p, ""
}

func (p point) is(other point) bool { return p.name == other.name && p.n == other.n }

// arrives is the simulator's question what is to happen to a request.
func (w *world) arrives(r simulator.Request) simulator.Fault {
	isWrite := r.Method != http.MethodGet
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.manager
	w.rules.arrives(w, r) // by what could be known: what lands now could not
	if isWrite && w.held != nil && w.held.write == nil && w.blow.way != lateMinute {
		w.mu.Unlock()
		w.land()
		w.mu.Lock()
	}
	p, way := w.next(m, nameOf(r), isWrite)
	answered := simulator.Fault{Then: func(r simulator.Request) { w.rules.answered(w, r) }}
	unanswered := simulator.Fault{Then: func(r simulator.Request) { w.rules.unanswered(w, r) }}
	switch way {
	case before:
		m.kill()
		return simulator.Fault{Reset: true}
	case after:
		unanswered.Then = func(r simulator.Request) { m.kill(); w.rules.committed(w, r) }
		unanswered.DropAnswer = true
		return unanswered
	case lost:
		unanswered.DropAnswer = true
		return unanswered
	case failed:
		unanswered.Committed, unanswered.Status, unanswered.Body = true, http.StatusServiceUnavailable, "MAAS is busy"
		return unanswered
	case late:
		h := &held{point: p, since: w.clock.Now(), lands: make(chan struct{}), landed: make(chan struct{})}
		w.held = h
		m.kill()
		w.mu.Unlock()
		<-h.lands
		w.mu.Lock()
		unanswered.Then = func(r simulator.Request) { w.rules.committed(w, r); close(h.landed) }
		return unanswered
	}
	return answered
}

// nameOf names a request as MAAS's command line does, and says of a list of machines what was asked for.
func nameOf(r simulator.Request) string {
	name := strings.ReplaceAll(r.Operation, " ", "-")
	if r.Operation != "machines read" {
		return name
	}
	for _, by := range []string{"agent_name", "id", "status", "power_state"} {
		if r.Query.Has(by) {
			return name + "-by-" + strings.ReplaceAll(by, "_", "-")
		}
	}
	return name
}

// writes is a write to Kubernetes.
func (w *world) writes(m *manager, verb, sub string, o client.Object, do func(client.Object) error) error {
	name := kubernetes + verb + "-" + kindOf(o)
	if sub != "" {
		name += "-" + sub
	}
	if m.dead() {
		return errKilled
	}
	w.mu.Lock()
	p, way := w.next(m, name, true)
	w.mu.Unlock()
	aside := o.DeepCopyObject().(client.Object) // for who gets no answer learns nothing
	switch way {
	case before:
		m.kill()
		return errKilled
	case after:
		_ = do(aside) // nobody hears of it
		m.kill()
		return errKilled
	case lost:
		_ = do(aside) // nobody hears of it
		return apierrors.NewTimeoutError("the API server did not answer in time", 1)
	case failed:
		return apierrors.NewServiceUnavailable("etcd has no leader")
	case late:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held = &held{point: p, since: w.clock.Now(), write: func() { _ = do(aside) }} // nobody hears of it
		m.kill()
		return errKilled
	}
	return do(o)
}

// landsIfDue lets a held call arrive when it is its time. MAAS tries for a minute and a half at most to do what it was asked.
func (w *world) landsIfDue() {
	w.mu.Lock()
	h := w.held
	due := false
	if h != nil {
		due = w.clock.Now().Sub(h.since) >= time.Minute || h.write != nil && w.blow.way != lateMinute && h.looks > 0
		h.looks++
	}
	w.mu.Unlock()
	if due {
		w.land()
	}
}

// land lets a held call arrive now, if there is one.
func (w *world) land() {
	w.mu.Lock()
	h := w.held
	w.held = nil
	w.mu.Unlock()
	switch {
	case h == nil:
	case h.write != nil:
		h.write()
	default:
		close(h.lands)
		select {
		case <-h.landed:
		case <-time.After(10 * time.Second): // only a defect of these tests lets it hang
			w.Errorf("the call %s did not take effect", h.point)
		}
	}
}
