package controllers_test

import (
	"slices"
	"testing"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// about are the warnings about one object, by their reason.
func (w *world) about(object string) []string {
	var reasons []string
	for _, e := range w.warnings() {
		if e.object == object {
			reasons = append(reasons, e.reason)
		}
	}
	return reasons
}

func (w *world) wantWarnings(object string, want ...string) {
	w.Helper()
	if got := w.about(object); !slices.Equal(got, want) {
		w.Errorf("warnings %v, want %v%s", got, want, w.story())
	}
}

// TestAWaitIsToldOnceThoughMAASComesAndGoes: nobody wants to hear each time that nothing has changed.
func TestAWaitIsToldOnceThoughMAASComesAndGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stands()
	w.add(worker, func(m *infrav1.MaasMachine) { m.Spec.MinCPU = 64 })
	for range 5 {
		w.pass(2 * time.Minute)
		if shows, _ := w.condition(worker, "MachineAllocated"); shows != "MachineAllocated=False NoMachineAvailable" {
			t.Errorf("it shows %s", shows)
		}
		w.network.breaks()
		w.pass(2 * time.Minute)
		for _, name := range []string{"MachineAllocated", "Ready"} {
			if shows, _ := w.condition(worker, name); shows != name+"=Unknown MAASUnreachable" {
				t.Errorf("while MAAS is away it shows %s", shows)
			}
		}
		w.network.heals()
	}
	w.wantWarnings(worker, "NoMachineAvailable")
}

// TestAnswersThatAlternateAreToldOnceEach: each is news, but only the first time.
func TestAnswersThatAlternateAreToldOnceEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stands()
	w.add(worker)
	for range 4 {
		for _, answer := range []struct {
			status int
			body   string
		}{{500, "Internal server error"}, {504, ""}, {403, ""}, {504, ""}} {
			w.answers("allocate", answer.status, answer.body)
			w.pass(2 * time.Minute)
		}
	}
	w.wantWarnings(worker, "ClaimRefused", "ClaimRefused")

	w.region.SetIntercept(nil)
	w.until(func() bool { return w.get(worker).Status.Initialization.Provisioned != nil })
	w.wantWarnings(worker, "ClaimRefused", "ClaimRefused")
}

// TestWhatCameBackIsToldAgain: the second time a machine leaves its state is news as the first was.
func TestWhatCameBackIsToldAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.runs(worker)
	for range 2 {
		w.must(w.region.SetStatus("aaaaa1", simulator.StatusRescueMode))
		w.pass(15 * time.Minute)
		w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed))
		w.pass(15 * time.Minute)
	}
	w.wantWarnings(worker, "MachineUnusable", "MachineUnusable")
}

// TestPowerThatComesBackIsNoWarning: it is switched on, which is told, and only where that fails somebody has to act.
func TestPowerThatComesBackIsNoWarning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.runs(worker)
	w.must(w.sees("aaaaa1", "off"))
	w.pass(15 * time.Minute)
	w.wantWarnings(worker)
	if shows, _ := w.condition(worker, "PoweredOn"); shows != "PoweredOn=True PoweredOn" {
		t.Errorf("it shows %s", shows)
	}
}

// TestADeletionWithAContradictorySpecSaysSo in the condition of the claim too, and not that a machine is being allocated.
func TestADeletionWithAContradictorySpecSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.runs(worker)
	edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/zzzzz9" })
	w.delete(worker)
	w.pass(time.Minute)
	if shows, message := w.condition(worker, "MachineAllocated"); shows != "MachineAllocated=False InvalidClaim" || message == "" {
		t.Errorf("it shows %s: %s", shows, message)
	}
	w.wantWarnings(worker, "ReleaseFailed")
}

// TestAFailedClaimKeepsItsAttempt: that MAAS says that it failed changes what is told, and not what is done.
func TestAFailedClaimKeepsItsAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stands()
	w.answers("allocate", 500, "Internal server error")
	w.add(worker)
	w.pass(5 * time.Minute)
	attempt := w.get(worker).Annotations[infrav1.ClaimAttemptAnnotation]
	if attempt == "" {
		t.Fatal("the attempt was given up, though it may have taken effect")
	}
	asked := map[string]bool{}
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" {
			asked[r.Form.Get("system_id")] = true
			return simulator.Fault{Status: 500, Body: "Internal server error"}
		}
		return simulator.Fault{}
	})
	w.pass(5 * time.Minute)
	if len(asked) != 1 {
		t.Errorf("it asked for %v", asked)
	}
}
