package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// state is what a fault says of itself.
func (w *world) state(name string) State {
	w.t.Helper()
	states := w.running.Faults()
	n := slices.IndexFunc(states, func(s State) bool { return s.Fault.Name == name })
	if n < 0 {
		w.t.Fatalf("no fault %s among %v", name, states)
	}
	return states[n]
}

// zones is what a client that asks for zones so often sees: x for an error, . for
// none.
func (w *world) zones(times int) string {
	var out strings.Builder
	for range times {
		if _, err := w.client.Zones(w.t.Context()); err != nil {
			out.WriteString("x")
		} else {
			out.WriteString(".")
		}
	}
	return out.String()
}

func TestSkipAndCountSayWhichRequestsAreStruck(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: some, do: fail, on: zones read, skip: 2, count: 3}")
	if got := w.zones(8); got != "..xxx..." {
		t.Errorf("of eight requests fail %s", got)
	}
	if s := w.state("some"); s.Active || s.Matched != 8 || s.Struck != 3 || s.Last == nil || s.Last.Operation != "zones read" {
		t.Errorf("%+v", s)
	}
}

func TestProbabilityFollowsTheSeedAndTheNameAlone(t *testing.T) {
	t.Parallel()
	const often = "- {name: often, do: fail, on: zones read, probability: 0.5}"
	first := play(t, often).zones(40)
	if n := strings.Count(first, "x"); n < 10 || n > 30 {
		t.Errorf("half of forty requests: %s", first)
	}
	if again := play(t, often).zones(40); again != first {
		t.Errorf("the same seed gives\n%s and\n%s", first, again)
	}
	// Another fault in front changes nothing, whatever it strikes.
	if beside := play(t, "- {name: slow, do: slow, delay: 1ns, on: reads, probability: 0.5}\n"+often).zones(40); beside != first {
		t.Errorf("beside another fault: %s, want %s", beside, first)
	}
	if other := play(t, strings.Replace(often, "often", "other", 1)).zones(40); other == first {
		t.Error("a fault of another name draws the same")
	}
	w := play(t, often)
	if err := w.running.Replace(Scenario{Seed: 2, Faults: w.running.Scenario().Faults}); err != nil {
		t.Fatal(err)
	}
	if other := w.zones(40); other == first {
		t.Error("another seed draws the same")
	}
}

func TestFaultsBeginAndEndOnTheRegionsClock(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: now-and-then, do: fail, on: reads, after: 1m, for: 10s, every: 1h}")
	for _, step := range []struct {
		by   time.Duration
		want string
	}{
		{0, "."}, {time.Minute - 1, "."}, {1, "x"}, {10*time.Second - 1, "x"}, {1, "."}, {59*time.Minute + 50*time.Second - 1, "."}, {1, "x"}, {5*time.Hour + 9*time.Second, "x"}, {time.Second, "."},
	} {
		w.clock.Advance(step.by)
		if got := w.zones(1); got != step.want {
			t.Errorf("%s after the start a request is %s, want %s", w.clock.Now().Sub(midnight()), got, step.want)
		}
	}
}

func TestStatesOfTheRegionOpenAndCloseWithinAdvance(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: away, do: away, after: 1m, for: 30s, every: 10m, count: 2}\n- {name: proxy, do: away, answer: bad-gateway, after: 75s, for: 30s}")
	w.clock.Advance(time.Hour)
	if _, pending := w.clock.Next(); pending {
		t.Error("something still waits after the last turn")
	}
	want := []string{
		"00:01:00 away: region away for 30s", "00:01:15 proxy: region away for 30s", "00:01:30 away: region back", "00:01:45 proxy: region back",
		"00:11:00 away: region away for 30s", "00:11:30 away: region back",
	}
	if !slices.Equal(w.lines, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(w.lines, "\n"), strings.Join(want, "\n"))
	}
	if s := w.state("away"); s.Active || s.Struck != 2 {
		t.Errorf("%+v", s)
	}
}

func TestOfTwoStatesAlikeTheOtherOneStays(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: reset, do: away, for: 30s}\n- {name: proxy, do: away, answer: bad-gateway, after: 10s, for: 1m}")
	status := func() string {
		_, err := w.client.Zones(t.Context())
		return seen(err)
	}
	steps := []string{status()}
	w.clock.Advance(20 * time.Second)
	steps = append(steps, status())
	w.clock.Advance(20 * time.Second)
	steps = append(steps, status())
	w.clock.Advance(time.Minute)
	steps = append(steps, status())
	if want := []string{"Unavailable", "Unavailable", "Unavailable 502", "ok"}; !slices.Equal(steps, want) {
		t.Errorf("a client sees %v, want %v", steps, want)
	}
}

func TestASubnetStaysExhaustedForTheFaultThatIsLeft(t *testing.T) {
	t.Parallel()
	w := play(t, `
- {name: one, do: exhaust-addresses, subnet: 10.20.0.0/21}
- {name: all, do: exhaust-addresses, for: 1m}
- {name: typo, do: exhaust-addresses, subnet: nowhere, for: 1m}
`)
	if got := w.state("typo").Last.Effect; !strings.Contains(got, `no addresses left in subnet nowhere for 1m: no subnet "nowhere"`) {
		t.Errorf("of a subnet that is not there it says %s", got)
	}
	w.allocate(mine)
	w.clock.Advance(time.Minute)
	still := w.deploy(mine)
	if err := w.running.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if after := w.deploy(mine); !strings.Contains(still, "No more IPs available") || after != "ok" {
		t.Errorf("while one fault is left: %s, after it: %s", still, after)
	}
}

func TestActsHappenAtTheirTimeToTheMachinesThatFitThen(t *testing.T) {
	t.Parallel()
	w := play(t, `
- {name: all, do: lock, machine: "zone:rack-*", after: 1m}
- {name: one, do: unlock, machine: "*", after: 2m, every: 1m, count: 2}
- {name: until, do: rezone, to: default, machine: node-3, after: 10m, every: 1m, for: 3m}
- {name: none, do: delete, machine: "status:deployed & owner:capi", every: 1m, count: 1}
`)
	w.clock.Advance(5 * time.Minute)
	locked := ""
	for _, m := range w.region.Snapshot().Machines {
		locked += fmt.Sprint(m.Locked, " ")
	}
	if all, one := w.state("all"), w.state("one"); locked != "false false true " || all.Struck != 3 || all.Active || one.Struck != 2 || one.Active {
		t.Errorf("locked: %s, %+v, %+v", locked, all, one)
	}
	if s := w.state("none"); !s.Active || s.Matched != 0 {
		t.Errorf("what waits for a machine that fits: %+v", s)
	}
	if a, d := w.allocate(mine), w.deploy(mine); a != "ok" || d != "ok" {
		t.Fatalf("allocate: %s, deploy: %s", a, d)
	}
	w.clock.Advance(time.Hour)
	if s := w.state("none"); s.Active || s.Struck != 1 || w.holds(mine) != "none" {
		t.Errorf("after a machine fits: %+v, the region holds %s", s, w.holds(mine))
	}
	if s := w.state("until"); s.Struck != 3 || s.Active {
		t.Errorf("an act that ends after 3m: %+v", s)
	}
}

func TestWhatIsDueAtOnceHappensBeforeStartReturns(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: lock, machine: node-1}\n- {do: away}")
	if got := w.holds(mine); !strings.HasSuffix(got, "locked") {
		t.Error(got)
	}
	if got := w.zones(1); got != "x" {
		t.Error("the region is there")
	}
}

func TestWhatIsDueAtOnceMeetsTheOtherFaults(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: act, do: redeploy, machine: node-1}\n- {name: fails, do: fail-deployment}")
	w.clock.Advance(time.Hour)
	if got := w.state("fails").Struck; got != 1 || !strings.HasPrefix(w.holds(mine), "Failed deployment, operator, on") {
		t.Errorf("%d strikes, the region holds %s", got, w.holds(mine))
	}
}

func TestSeveralFaultsOfOneRequestHappenInOrderUntilOneDecides(t *testing.T) {
	t.Parallel()
	w := play(t, `
- {do: rezone, on: allocate, to: rack-b}
- {do: slow, on: allocate, delay: 2s}
- {do: slow, on: writes, delay: 1s}
- {do: fail, on: allocate, answer: conflict}
- {do: drop-answer, on: allocate}
- {do: delete, on: allocate}
`)
	w.clock.MoveWithRequests(true)
	if got := w.allocate(mine); got != "Conflict 409: No machine with system ID aaaaaa available." {
		t.Error(got)
	}
	if took := w.clock.Now().Sub(midnight()); took != 3*time.Second || w.machine(mine).Zone != "rack-b" {
		t.Errorf("it took %s, and the machine is in %s", took, w.machine(mine).Zone)
	}
	var counts []int
	for _, s := range w.running.Faults() {
		counts = append(counts, s.Matched, s.Struck)
	}
	if want := []int{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}; !slices.Equal(counts, want) {
		t.Errorf("matched and struck %v, want %v", counts, want)
	}
}

func TestUserAndMachineSayWhoIsStruck(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: u, do: fail, on: reads, user: operator}\n- {name: m, do: fail, on: '*', machine: [tag:gpu & zone:rack-a, pool:workers, 'status:broken']}")
	other := w.as("d:e:f")
	_, err := other.Zones(t.Context())
	got := []string{
		seen(err), w.zones(1), w.read("aaaaaa"), w.read("bbbbbb"), w.read("cccccc"), w.allocate("aaaaaa"), w.allocate(""),
	}
	const failed = " 503: IP address checks failed after 2 retries."
	want := []string{
		"Unavailable" + failed, ".", "Unavailable" + failed, "Unavailable" + failed, "Ready, nobody, off", gone + failed, "ok",
	}
	if !slices.Equal(got, want) {
		t.Errorf("seen %q\nwant %q", got, want)
	}
	if err := w.region.SetStatus("cccccc", simulator.StatusBroken); err != nil {
		t.Fatal(err)
	}
	if got := w.read("cccccc"); got != "Unavailable"+failed {
		t.Errorf("once it is broken: %s", got)
	}
}

func TestWhatMAASRefusesByItselfIsNoStrike(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: late, do: fail, on: allocate, committed: true, count: 1}\n- {name: lost, do: drop-answer, on: deploy, count: 1}")
	if err := w.region.Lock(mine, true); err != nil {
		t.Fatal(err)
	}
	refused := w.allocate(mine)
	if s := w.state("late"); refused != "Conflict 409: No machine with system ID aaaaaa available." || s.Struck != 0 || s.Matched != 1 || !s.Active {
		t.Errorf("%s, %+v", refused, s)
	}
	lost := w.allocate("bbbbbb")
	if s := w.state("late"); lost != gone+" 503: IP address checks failed after 2 retries." || s.Struck != 1 || w.holds("bbbbbb") != "Allocated, capi, off" {
		t.Errorf("%s, %+v, the region holds %s", lost, s, w.holds("bbbbbb"))
	}
	// A refusal can get lost like any answer.
	if got := w.deploy(mine); got != gone || w.state("lost").Last.Effect != "refused by MAAS, answer dropped" {
		t.Errorf("%s, %+v", got, w.state("lost"))
	}
}

func TestAnAllocateByConstraintsIsToldWithItsMachine(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: lost-allocate, do: drop-answer, on: machines allocate}\n- {name: grab, do: take, on: deploy, committed: true}")
	if _, err := w.client.Allocate(t.Context(), maas.AllocateParams{Tags: []string{"gpu"}}); !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Error(err)
	}
	if want := []string{"00:00:00 lost-allocate: machines allocate of node-1: committed, answer dropped"}; !slices.Equal(w.lines, want) {
		t.Errorf("told %q", w.lines)
	}
}

func TestAHangEndsWithItsFault(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: hang, do: hang, on: zones read}")
	done := make(chan error, 1)
	go func() {
		_, err := w.client.Zones(t.Context())
		done <- err
	}()
	for w.state("hang").Struck == 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-done:
		t.Fatalf("it was answered: %v", err)
	default:
	}
	if err := w.running.Remove("hang"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, maas.ErrUnavailable) {
		t.Error(err)
	}
	if got := w.zones(1); got != "." {
		t.Error("the next request fails")
	}
}

func TestStopEndsWhatLastsAndLeavesWhatWasDone(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: away, do: away}\n- {do: lock, machine: node-1}\n- {do: fail, on: '*'}\n- {do: no-rack}\n- {do: stale, age: 1s}\n- {do: delete, machine: node-2, after: 1m}")
	w.running.Stop()
	if _, pending := w.clock.Next(); pending {
		t.Error("something still waits")
	}
	w.clock.Advance(time.Hour)
	if got := w.zones(1); got != "." || w.holds(mine) != "Ready, nobody, off, locked" || w.holds("bbbbbb") != "Ready, nobody, off" {
		t.Errorf("%s, the region holds %s", got, w.holds(mine))
	}
	if err := w.running.Add(Fault{Do: AwayRegion}); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	if err := w.running.Replace(Scenario{}); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	w.running.Stop()
}

func TestFaultsGetNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: fail, on: '*', after: 1h}\n- {do: fail, on: '*', after: 1h}\n- {name: fail-2, do: hang, on: '*', after: 1h}")
	for range 2 {
		if err := w.running.Add(Fault{Do: Fail, On: Names{"*"}, After: Duration(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, s := range w.running.Faults() {
		names = append(names, s.Fault.Name)
	}
	if want := []string{"fail", "fail-3", "fail-2", "fail-4", "fail-5"}; !slices.Equal(names, want) {
		t.Errorf("names are %v, want %v", names, want)
	}
	if err := w.running.Add(Fault{Name: "fail", Do: AwayRegion}); !errors.Is(err, ErrNameTaken) {
		t.Error(err)
	}
	if err := w.running.Add(Fault{Do: "x"}); err == nil {
		t.Error("an unknown word is taken")
	}
	if err := w.running.Remove("nobody"); !errors.Is(err, ErrNoFault) {
		t.Error(err)
	}
}

func TestTimesOfAFaultCountFromWhenItWasAdded(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: first, do: away, after: 1h}")
	w.clock.Advance(30 * time.Minute)
	if err := w.running.Add(Fault{Name: "second", Do: Fail, On: Names{"*"}, After: Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	before := w.zones(1)
	w.clock.Advance(time.Minute)
	if after := w.zones(1); before != "." || after != "x" {
		t.Errorf("before %s, after %s", before, after)
	}
}

func TestAFailingActSaysWhy(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: lost, do: rezone, to: nowhere, machine: node-1}")
	if s := w.state("lost"); s.Last == nil || !strings.HasPrefix(s.Last.Effect, "not moved to zone nowhere: ") {
		t.Errorf("%+v", s.Last)
	}
}

func TestScenarioGivesBackWhatIsPlayed(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte("description: d\nseed: 3\nfaults: [{do: away, after: 1h}]"))
	if err != nil {
		t.Fatal(err)
	}
	w := play(t, "- {do: away, after: 1h}")
	if err := w.running.Replace(s); err != nil {
		t.Fatal(err)
	}
	if got := w.running.Scenario(); !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, want %+v", got, s)
	}
}
