package scenario

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// hurry is a clock that is two seconds on whenever somebody looks: nobody keeps up
// with it.
type hurry struct {
	simulator.VirtualClock

	mu     sync.Mutex
	looked time.Duration
	queued int
}

func (c *hurry) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked += 2 * time.Second
	return midnight().Add(c.looked)
}

func (c *hurry) AfterFunc(time.Duration, func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queued++
	return func() {}
}

func TestAFaultThatFallsBehindHoldsUpNobody(t *testing.T) {
	t.Parallel()
	clock := &hurry{}
	region, err := simulator.New(simulator.Config{Clock: clock, Machines: []simulator.Machine{{Hostname: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	faults := []Fault{
		{Do: Lock, Machine: Names{"*"}, Every: Duration(time.Second)},
		{Do: Stale, Age: Duration(time.Second)},
		{Do: OldDNS, Age: Duration(time.Second)},
		{Do: LoseEvents, Every: Duration(time.Minute), For: Duration(time.Second)},
	}
	running, err := Start(region, clock, Scenario{Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	if clock.queued != len(faults) {
		t.Errorf("%d of %d faults wait for their next turn", clock.queued, len(faults))
	}
}

func TestScenariosThatReplaceEachOtherDoNotMix(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: away}\n- {do: lose-events}")
	s := w.running.Scenario()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := w.running.Replace(s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	states := w.running.Faults()
	if len(states) != 2 || !states[0].Active || !states[1].Active {
		t.Errorf("in the end these are played: %+v", states)
	}
	if got := w.call(http.MethodGet, "/zones/"); !strings.Contains(got, "connection reset") {
		t.Errorf("the region is there: %s", got)
	}
	if err := w.running.Replace(Scenario{}); err != nil {
		t.Fatal(err)
	}
	if got := w.call(http.MethodGet, "/zones/"); !strings.HasPrefix(got, "200") {
		t.Errorf("without any fault: %s", got)
	}
}

func TestStaleDataIsShownFromTheFirstMomentOn(t *testing.T) {
	t.Parallel()
	w := play(t, "")
	// What is queued before the fault is looks at it first.
	read := simulator.Request{Method: http.MethodGet, Operation: "machines read"}
	var shown *simulator.View
	w.clock.AfterFunc(time.Minute, func() { shown = w.running.intercept(read).From })
	if err := w.running.Add(Fault{Do: Stale, Age: Duration(time.Hour), After: Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	if shown == nil {
		t.Error("the fault strikes, and shows nothing old")
	}
}

func TestAClockThatCannotGoFurtherSaysSo(t *testing.T) {
	t.Parallel()
	clock := simulator.NewJumpingClock()
	region, err := simulator.New(simulator.Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	running, err := Start(region, clock, Scenario{})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	c := &control{region: region, running: running}
	jump := func(by string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/clock/advance?by="+by, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.advance(req)
		return err
	}
	if err := jump("2500000h"); err != nil {
		t.Error(err)
	}
	before := clock.Now()
	var refused statusError
	if err := jump("2500000h"); !errors.As(err, &refused) || refused.status != http.StatusConflict {
		t.Errorf("twice as far as it can: %v", err)
	}
	clock.Advance(math.MaxInt64)
	if clock.Now().Before(before) {
		t.Error("the clock went back")
	}
}

func TestProbabilityIsANumber(t *testing.T) {
	t.Parallel()
	w := play(t, "")
	nan := math.NaN()
	if err := w.running.Add(Fault{Do: LoseEvents, Probability: &nan}); err == nil {
		t.Error("a probability that is no number is taken")
	}
}
