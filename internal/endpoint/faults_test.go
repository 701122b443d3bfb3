package endpoint_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The machines of the record in these tests, and one of somebody else.
const (
	first, second, third = "10.20.1.11", "10.20.1.12", "10.20.1.13"
	foreign              = "10.20.1.99"
)

// all are the control plane's machines as their objects have them.
func all(addresses ...string) endpoint.Members {
	return endpoint.Members{Addresses: addresses, Complete: true}
}

// settle does what both reconcilers do until nothing is left to do: the record is repaired, and machines that are not in it join again.
func (w *world) settle(addresses ...string) {
	w.Helper()
	w.ensure(all(addresses...))
	for _, address := range addresses {
		w.join(address)
	}
	// While nobody else was there, an address of nobody was better than none.
	w.ensure(all(addresses...))
	w.holds(published(addresses...))
}

// act is what is done while something goes wrong. Its error is the caller's, who tries again later.
type act func(context.Context, *endpoint.Publisher) error

func joins(address string) act {
	return func(ctx context.Context, p *endpoint.Publisher) error {
		_, err := p.Join(ctx, record, address)
		return err
	}
}

func leaves(address string) act {
	return func(ctx context.Context, p *endpoint.Publisher) error {
		_, err := p.Leave(ctx, record, "", address)
		return err
	}
}

func repairs(addresses ...string) act {
	return func(ctx context.Context, p *endpoint.Publisher) error {
		_, err := p.Ensure(ctx, record, all(addresses...))
		return err
	}
}

// once strikes the first request of a method.
func (w *world) once(method string, fault simulator.Fault) {
	var mu sync.Mutex
	struck := false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		mu.Lock()
		defer mu.Unlock()
		if struck || r.Method != method {
			return simulator.Fault{}
		}
		struck = true
		return fault
	})
	w.Cleanup(func() {
		if !struck {
			w.Errorf("no %s was struck", method)
		}
	})
}

func TestARecordGetsOverARequestThatGoesWrong(t *testing.T) {
	t.Parallel()
	faults := map[string]simulator.Fault{
		"the answer is lost":               {DropAnswer: true},
		"it fails after it was done":       {Committed: true, Status: http.StatusBadGateway, Body: "bad gateway"},
		"it is refused, for MAAS is busy":  {Status: http.StatusServiceUnavailable, Body: "busy"},
		"it is refused by a proxy":         {Status: http.StatusBadGateway, Proxy: true, Body: "<html>"},
		"the connection breaks before":     {Reset: true},
		"it fails in MAAS and has no word": {Status: http.StatusInternalServerError},
	}
	for name, test := range map[string]struct {
		before []string // in the record
		method string   // of the request that goes wrong
		act    act
		after  []string // what it comes to once it is tried again
	}{
		"the mark is made":            {nil, http.MethodPost, joins(first), []string{first}},
		"the first joins":             {nil, http.MethodPut, joins(first), []string{first}},
		"another joins":               {[]string{first}, http.MethodPut, joins(second), []string{first, second}},
		"one leaves":                  {[]string{first, second}, http.MethodPut, leaves(first), []string{second}},
		"the last leaves":             {[]string{first}, http.MethodPut, leaves(first), nil},
		"a stranger's is taken out":   {[]string{first, foreign}, http.MethodPut, repairs(first), []string{first}},
		"the record is read to join":  {[]string{first}, http.MethodGet, joins(second), []string{first, second}},
		"the record is read to leave": {[]string{first, second}, http.MethodGet, leaves(second), []string{first}},
	} {
		for what, fault := range faults {
			t.Run(name+", and "+what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, simulator.Config{})
				for _, address := range test.before {
					w.join(address)
				}
				w.once(test.method, fault)
				_ = test.act(t.Context(), w.publisher) // it may have failed, and is tried again
				if err := test.act(t.Context(), w.publisher); err != nil {
					t.Fatalf("again: %v", err)
				}
				w.holds(published(test.after...))
			})
		}
	}
}

// late lets the first write wait on its way to MAAS until it is let in; arrived says that it waits.
func (w *world) late() (arrived <-chan struct{}, letIn func()) {
	waits, in := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	held := false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		mu.Lock()
		mine := !held && r.Method == http.MethodPut
		held = held || mine
		mu.Unlock()
		if mine {
			close(waits)
			<-in
		}
		return simulator.Fault{}
	})
	return waits, sync.OnceFunc(func() { close(in) })
}

// TestAnUpdateThatIsLostIsMadeUpFor: MAAS takes whole sets, so a write that arrives late, or that another process made from what it had read
// before, undoes what was done meanwhile. A second process is there while leadership changes.
func TestAnUpdateThatIsLostIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before      []string
		late, other act
		gone        string   // the address that was lost, or came back
		after       []string // who is to be in
	}{
		"one joins while another's join is late":  {[]string{first}, joins(second), joins(third), third, []string{first, second, third}},
		"one leaves while another's join is late": {[]string{first, second}, joins(third), leaves(second), second, []string{first, third}},
		"one joins while another's leave is late": {[]string{first, second}, leaves(second), joins(third), third, []string{first, third}},
		"one joins while a repair is late":        {[]string{first, foreign}, repairs(first), joins(second), second, []string{first, second}},
	} {
		for _, waits := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, and its process is there: %t", name, waits), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, simulator.Config{})
				for _, address := range test.before {
					w.join(address)
				}
				arrived, letIn := w.late()
				defer letIn()
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				done := make(chan error, 1)
				go func() { done <- test.late(ctx, endpoint.NewPublisher(w.client)) }()
				<-arrived
				if !waits {
					kill()
					if err := <-done; err == nil {
						t.Fatal("a process that was killed heard an answer")
					}
				}
				changed := 0
				w.publisher.Changed = func(endpoint.Record) { changed++ }
				if err := test.other(t.Context(), w.publisher); err != nil {
					t.Fatal(err)
				}
				before := w.writes()
				letIn()
				w.landed(waits, done, before)
				state, err := w.publisher.Read(t.Context(), record)
				if err != nil || state.Has(test.gone) == slices.Contains(test.after, test.gone) {
					t.Fatalf("nothing was lost: %+v, %v", state, err)
				}
				if wasLost := slices.Contains(test.after, test.gone); wasLost != (changed == 1) {
					t.Errorf("the machines were called %d times", changed)
				}
				// Who leaves looks again before it goes.
				for _, address := range []string{second} {
					if !slices.Contains(test.after, address) {
						if err := leaves(address)(t.Context(), w.publisher); err != nil {
							t.Fatal(err)
						}
					}
				}
				w.settle(test.after...)
			})
		}
	}
}

// landed waits until the late write took effect.
func (w *world) landed(waits bool, done <-chan error, before int) {
	w.Helper()
	if waits {
		if err := <-done; err != nil {
			w.Fatal(err)
		}
		return
	}
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		if w.writes() > before {
			return
		}
	}
	w.Fatal("the late write did not arrive")
}
