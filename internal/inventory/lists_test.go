package inventory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// free asks for free machines.
func (w *world) free() []string {
	w.Helper()
	return w.freeThat(inventory.Constraints{})
}

func (w *world) freeThat(c inventory.Constraints) []string {
	w.Helper()
	list, err := w.Free(context.Background(), c)
	w.must(err)
	return ids(list)
}

func ids(list []maas.Machine) []string {
	out := []string{}
	for _, m := range list {
		out = append(out, m.SystemID)
	}
	return out
}

// How long one list serves all who ask.
func TestFreeListServesAgain(t *testing.T) {
	t.Parallel()
	all := []string{"aaaaa1", "aaaaa2", "aaaaa3"}
	for name, tc := range map[string]struct {
		standby bool
		between func(*world)
		after   time.Duration
		anew    bool
		want    []string
	}{
		"at once":                         {want: all},
		"after 4 s, whatever happens":     {between: func(w *world) { w.read("aaaaa1"); w.must(w.region.SetStatus("aaaaa1", 8)) }, after: 4 * time.Second, want: all},
		"after 59 s in which nothing is":  {after: 59 * time.Second, want: all},
		"after a minute":                  {after: time.Minute, anew: true, want: all},
		"after 6 s and an event":          {between: func(w *world) { w.must(w.region.SetStatus("aaaaa1", 8)) }, after: 6 * time.Second, anew: true, want: all[1:]},
		"after 6 s and one of no concern": {between: func(w *world) { w.must(w.region.LogEvent("aaaaa1", "INFO", "Configuring OS", "")) }, after: 6 * time.Second, want: all},
		"after 6 s and an act":            {between: func(w *world) { w.Touched("aaaaa1") }, after: 6 * time.Second, anew: true, want: all},
		"after 6 s and a look at another": {between: func(w *world) { w.read("aaaaa3") }, after: 6 * time.Second, anew: true, want: all},
		"after 6 s and a look at one known": {
			between: func(w *world) { w.read("aaaaa2") }, after: 6 * time.Second, want: all, // see prepare
		},
		"right after an act":            {between: func(w *world) { w.Touched("aaaaa1") }, want: all[1:]},
		"after 4 s and an act":          {between: func(w *world) { w.Touched("aaaaa1") }, after: 4 * time.Second, want: all[1:]},
		"on a standby, within 5 s":      {standby: true, after: 4 * time.Second, want: all},
		"on a standby, after that":      {standby: true, after: 6 * time.Second, anew: true, want: all},
		"on a standby, after an act":    {standby: true, between: func(w *world) { w.Touched("aaaaa2") }, want: []string{"aaaaa1", "aaaaa3"}},
		"others awaited, and were told": {between: func(w *world) { w.Await(object("a")); w.must(w.region.SetStatus("aaaaa1", 8)); w.hear() }, anew: true, want: all[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if !tc.standby {
				w.Step(t.Context())
				w.hear()
			}
			w.read("aaaaa2")
			if got := w.free(); !slices.Equal(got, all) {
				t.Fatalf("at first: %v", got)
			}
			if tc.between != nil {
				tc.between(w)
			}
			if tc.standby {
				w.clock.Advance(tc.after)
			} else {
				w.pass(tc.after)
			}
			if got := w.free(); !slices.Equal(got, tc.want) {
				t.Errorf("then: %v, want %v", got, tc.want)
			}
			if got := count(w.asked(time.Time{}), "machines?status=ready"); got != map[bool]int{false: 1, true: 2}[tc.anew] {
				t.Errorf("MAAS was asked %d times", got)
			}
		})
	}
}

// A touch goes before a list that was on its way.
func TestFreeLeavesOutWhatIsTouchedMeanwhile(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.region.SetIntercept(func(simulator.Request) simulator.Fault { w.Touched("aaaaa2"); return simulator.Fault{} })
	if got := w.free(); !slices.Equal(got, []string{"aaaaa1", "aaaaa3"}) {
		t.Errorf("free: %v", got)
	}
}

// Those who are raised because a machine became free must not be served the list from before, however fresh.
func TestThoseToldOfAFreeMachineFindIt(t *testing.T) {
	t.Parallel()
	w := started(t, deployed("aaaaa1"), func(cfg *simulator.Config) { cfg.Machines[0].PowerState = "off" })
	w.Await(object("waiting"))
	w.pass(20 * time.Second)
	w.must(w.region.OperatorRelease("aaaaa1"))
	w.clock.Advance(4 * time.Second)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		// Somebody else asked a moment before; the answer is from before the release.
		if r.Query.Has("status") {
			return simulator.Fault{Status: 200, Body: "[]", ContentType: "application/json"}
		}
		return simulator.Fault{}
	})
	if got := w.free(); len(got) != 0 {
		t.Fatalf("before: %v", got)
	}
	w.region.SetIntercept(nil)
	w.pass(2 * time.Second)
	w.expectRaised("waiting")
	if got := w.free(); !slices.Equal(got, []string{"aaaaa1"}) {
		t.Errorf("told of a free machine, and found %v", got)
	}
}

// held lets requests for lists wait until release is called.
func (w *world) held() (arrived <-chan struct{}, release func()) {
	came, gate := make(chan struct{}, 100), make(chan struct{})
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if strings.HasSuffix(r.Path, "/machines/") {
			came <- struct{}{}
			<-gate
		}
		return simulator.Fault{}
	})
	return came, sync.OnceFunc(func() { close(gate) })
}

// A list that was on its way when they were told does not serve them either. It does serve who asked before.
func TestThoseToldDoNotJoinAnOlderRequest(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.Await(object("waiting"))
	w.hear()
	arrived, release := w.held()
	defer release()
	before, after := make(chan []string), make(chan []string)
	go func() { before <- w.free() }()
	<-arrived
	w.comesAndGoes("aaaaa1")
	w.expectRaised("waiting")
	go func() { after <- w.free() }()
	release()
	<-before
	if got := <-after; !slices.Equal(got, []string{"aaaaa1", "aaaaa2", "aaaaa3"}) {
		t.Errorf("found %v", got)
	}
	if got := count(w.asked(time.Time{}), "machines?status=ready"); got != 2 {
		t.Errorf("MAAS was asked %d times", got)
	}
}

// Fifty who ask at once are one request; who gives up does not take it from the others.
func TestOneRequestServesAllWhoWait(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(context.Context, *world) ([]maas.Machine, error){
		"free": func(ctx context.Context, w *world) ([]maas.Machine, error) {
			return w.Free(ctx, inventory.Constraints{})
		},
		"all": func(ctx context.Context, w *world) ([]maas.Machine, error) { return w.All(ctx, time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			arrived, release := w.held()
			defer release()
			impatient, giveUp := context.WithCancel(t.Context())
			gaveUp := make(chan error)
			go func() { _, err := ask(impatient, w); gaveUp <- err }() // whose request it is
			<-arrived
			results := make(chan int, 50)
			for range 50 {
				go func() {
					list, err := ask(context.Background(), w)
					if err != nil {
						t.Error(err)
					}
					results <- len(list)
				}()
			}
			giveUp()
			if err := <-gaveUp; !errors.Is(err, maas.ErrUnavailable) || !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up got %v", err)
			}
			release()
			for range 50 {
				if n := <-results; n != 3 {
					t.Errorf("a list of %d machines", n)
				}
			}
			if got := count(w.asked(time.Time{}), "machines"); got != 1 {
				t.Errorf("MAAS was asked %d times", got)
			}
		})
	}
}

// A MAAS that is down is asked once in 5 s, not once for each claim.
func TestErrorsOfListsServeForSeconds(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*world) error{
		"free": func(w *world) error { _, err := w.Free(context.Background(), inventory.Constraints{}); return err },
		"all":  func(w *world) error { _, err := w.All(context.Background(), time.Minute); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: 503} })
			asked := func() int { return count(w.asked(time.Time{}), "machines") }
			for range 50 {
				if err := ask(w); !errors.Is(err, maas.ErrUnavailable) {
					t.Fatal(err)
				}
			}
			w.clock.Advance(4 * time.Second)
			if _ = ask(w); asked() != 1 {
				t.Errorf("MAAS was asked %d times within 5 s", asked())
			}
			w.region.SetIntercept(nil)
			w.clock.Advance(time.Second)
			if err := ask(w); err != nil || asked() != 2 {
				t.Errorf("after 5 s: %v, and MAAS was asked %d times", err, asked())
			}
		})
	}
}

func TestFreePassesOnWhatMAASJudges(t *testing.T) {
	t.Parallel()
	w := started(t, func(cfg *simulator.Config) {
		cfg.Subnets = []simulator.Subnet{{Name: "one", CIDR: "10.1.0.0/24"}, {Name: "two", CIDR: "10.2.0.0/24"}}
		cfg.Machines[0].DiskGB = 2000
		cfg.Machines[1].Subnet = "two"
	})
	for _, tc := range []struct {
		constraints inventory.Constraints
		asked       string
		want        []string
	}{
		{inventory.Constraints{}, "machines?status=ready", []string{"aaaaa1", "aaaaa2", "aaaaa3"}},
		{inventory.NewConstraints("root:900", "", nil), "machines?status=ready&storage=root:900", []string{"aaaaa1"}},
		{inventory.NewConstraints("", "", []string{"two"}), "machines?status=ready&subnets=two", []string{"aaaaa2"}},
		{inventory.NewConstraints("", "", []string{"one", "two"}), "machines?status=ready&subnets=one,two", []string{}},
		{inventory.NewConstraints("", "eth0:subnet_cidr=10.1.0.0/24", nil), "machines?status=ready&interfaces=eth0:subnet_cidr=10.1.0.0/24", []string{"aaaaa1", "aaaaa3"}},
	} {
		for range 2 { // the second time from the list of these constraints
			if got := w.freeThat(tc.constraints); !slices.Equal(got, tc.want) {
				t.Errorf("%s: %v, want %v", tc.asked, got, tc.want)
			}
		}
		asked := w.asked(time.Time{})
		if n := len(asked); asked[n-1] != tc.asked || n > 1 && asked[n-2] == tc.asked {
			t.Errorf("asked %v, want %q once", asked, tc.asked)
		}
	}
}

func TestAllIsAsOldAsTheCallerAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := func(maxAge time.Duration) int {
		list, err := w.All(t.Context(), maxAge)
		w.must(err)
		return len(list)
	}
	if n := all(time.Minute); n != 3 {
		t.Fatalf("%d machines", n)
	}
	w.must(w.region.OperatorDelete("aaaaa1"))
	w.clock.Advance(time.Minute)
	if n := all(time.Minute); n != 3 {
		t.Errorf("within a minute: %d machines", n)
	}
	if n := all(time.Minute - time.Second); n != 2 {
		t.Errorf("for one who wants it younger: %d machines", n)
	}
	if n := all(time.Minute); n != 2 {
		t.Errorf("then: %d machines", n)
	}
	if n := count(w.asked(time.Time{}), "machines"); n != 2 {
		t.Errorf("MAAS was asked %d times", n)
	}
}

// A MAAS with many free machines takes its time to list them. However much happens in it, it is not asked all the time.
func TestASlowListGivesMAASARest(t *testing.T) {
	t.Parallel()
	w := started(t)
	const takes = 8 * time.Second
	asked := 0
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Query.Has("status") {
			asked++
			w.clock.Advance(takes)
		}
		return simulator.Fault{}
	})
	w.Await(object("waiting"))
	w.free()
	for end := w.clock.Now().Add(10 * time.Minute); w.clock.Now().Before(end); {
		w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
		w.must(w.region.SetStatus("aaaaa1", simulator.StatusReady))
		w.pass(time.Second)
		if len(w.raised()) > 0 {
			w.free()
		}
	}
	// Of each four parts of the time MAAS works for one at most.
	if most := int(10*time.Minute/(4*takes)) + 2; asked > most || asked < most/2 {
		t.Errorf("in ten minutes it was asked %d times, want %d at most", asked, most)
	}
}

func TestNobodyBeginsToWaitForAListThatHangs(t *testing.T) {
	t.Parallel()
	w := started(t)
	release := make(chan struct{})
	w.region.SetIntercept(func(simulator.Request) simulator.Fault { <-release; return simulator.Fault{} })
	impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := w.Free(impatient, inventory.Constraints{}); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("the first: %v", err)
	}
	w.clock.Advance(30 * time.Second)
	if _, err := w.Free(t.Context(), inventory.Constraints{}); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("the next: %v", err)
	}
	close(release)
}
