package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// intercept is asked about every request before it runs. All that fits happens
// in the order of the scenario, until a fault decides how the request ends.
func (r *Running) intercept(request simulator.Request) simulator.Fault {
	out := simulator.Fault{}
	named := r.machineOf(request.SystemID)
	var then []func(simulator.Request)
	r.mu.Lock()
	faults := r.faults
	r.mu.Unlock()
	for _, a := range faults {
		switch {
		case a.word.Group == ByOperators && len(a.fault.On) > 0:
			if after := r.actOn(a, request, named); after != nil {
				then = append(then, after)
			}
		case a.word.Group == OnRequests && a.fits(request, named) && r.takes(a, r.clock.Now()):
			done := r.strike(a, request, &out)
			if done != nil {
				then = append(then, done)
			}
			if a.fault.Do != Slow && a.fault.Do != Stale {
				out.Then = all(then)
				return out
			}
		}
	}
	out.Then = all(then)
	return out
}

func all(then []func(simulator.Request)) func(simulator.Request) {
	if len(then) == 0 {
		return nil
	}
	return func(request simulator.Request) {
		for _, f := range then {
			f(request)
		}
	}
}

// machineOf looks a machine up; without a name when there is none of that ID.
func (r *Running) machineOf(systemID string) simulator.MachineSnapshot {
	if systemID == "" {
		return simulator.MachineSnapshot{}
	}
	if m, ok := r.region.Machine(systemID); ok {
		return m
	}
	return simulator.MachineSnapshot{SystemID: systemID}
}

// fits says whether a fault is about a request, without regard to the time.
func (a *armed) fits(request simulator.Request, named simulator.MachineSnapshot) bool {
	switch {
	case a.fault.Do == Stale:
		if !isRead(request.Method) || len(a.fault.On) > 0 && !a.requests.matches(request) {
			return false
		}
	case !a.requests.matches(request):
		return false
	}
	return (a.fault.User == "" || a.fault.User == request.User) && a.machines.matches(named)
}

// strike does to a request what a fault wants. What it returns is to be called
// once the request ran, and tells of a fault whose effect is not known before.
func (r *Running) strike(a *armed, request simulator.Request, out *simulator.Fault) func(simulator.Request) {
	f := a.fault
	told := func(request simulator.Request, effect string) {
		r.tell(a, Strike{
			Operation: operationOf(request), SystemID: request.SystemID, Hostname: r.machineOf(request.SystemID).Hostname, Effect: effect,
		})
	}
	effect, refused := "", true // whether a refusal of MAAS's gets lost too
	switch f.Do {
	case DropAnswer:
		out.DropAnswer, effect = true, "answer dropped"
	case Hang:
		out.Hang, out.Until, out.Committed, effect = true, a.over, f.Committed, "no answer"
	case Reset:
		out.Reset, out.Committed, effect = true, f.Committed, "connection reset"
	case Fail:
		answer := f.answer(request)
		answer.Delay, answer.From = out.Delay, out.From
		*out, effect, refused = answer, "answered "+strconv.Itoa(answer.Status), answer.Proxy
		if f.Answer != "" {
			effect += " (" + f.Answer + ")"
		}
	case Slow:
		out.Delay += time.Duration(f.Delay)
		told(request, "held up for "+f.Delay.String())
		return nil
	case Stale:
		if out.From = r.viewOf(a); out.From == nil {
			out.From = r.region.View() // its turn began, and the copy is not there yet
		}
		told(request, "answered from old data")
		return nil
	}
	if f.Do != DropAnswer && !f.Committed {
		told(request, "not carried out, "+effect)
		return nil
	}
	return func(ran simulator.Request) {
		switch {
		case ran.Committed:
			told(ran, "committed, "+effect)
		case refused:
			told(ran, "refused by MAAS, "+effect)
		default:
			r.giveBack(a)
		}
	}
}

// giveBack takes back a strike that came to nothing: MAAS refused the request
// by itself.
func (r *Running) giveBack(a *armed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.struck--
}

func operationOf(request simulator.Request) string {
	if request.Operation != "" {
		return request.Operation
	}
	return fmt.Sprintf("%s %s", request.Method, request.Path)
}
