package maasmachine

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// releaseFailure is what goes wrong with a release, in each version of MAAS.
type releaseFailure struct {
	begin func(w *world, systemID string) (mend func())
	// shows are the reasons that Deleting may have while it lasts.
	shows []string
	says  string // in one of the messages
	// versions are those that differ; nil means that all are alike.
	versions []string
}

func releaseFailures() map[string]releaseFailure {
	hardware := func(at simulator.Moment, trouble simulator.Trouble) func(*world, string) func() {
		return func(w *world, _ string) func() { return w.fails(at, trouble) }
	}
	requests := func(fault simulator.Fault) func(*world, string) func() {
		return func(w *world, _ string) func() {
			return w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
				if r.Op == "release" {
					return fault
				}
				return simulator.Fault{}
			})
		}
	}
	const failed, unknown, going = infrav1.ReleaseFailedReason, infrav1.ReleaseOutcomeUnknownReason, infrav1.ReleasingReason
	return map[string]releaseFailure{
		"the power-off fails":                      {hardware(simulator.MomentPowerOff, simulator.Trouble{Fail: "IPMI is dead"}), []string{failed, going}, "power settings", versions()},
		"the power-off hangs":                      {hardware(simulator.MomentPowerOff, simulator.Trouble{Stuck: true}), []string{failed, unknown, going}, "", versions()},
		"the BMC is busy":                          {hardware(simulator.MomentPowerOff, simulator.Trouble{Fail: "another action is already in progress"}), []string{failed, going}, "already in progress", versions()},
		"no rack reaches the BMC":                  {hardware(simulator.MomentRack, simulator.Trouble{Fail: "no rack"}), []string{failed, going, unknown}, "Unable to connect to any rack", versions()},
		"the release fails":                        {hardware(simulator.MomentRelease, simulator.Trouble{Fail: "the script failed"}), []string{failed, going}, "the script failed", versions()},
		"the release hangs":                        {hardware(simulator.MomentRelease, simulator.Trouble{Stuck: true}), []string{failed, going}, "timed out after 5 minutes", versions()},
		"MAAS answers 500":                         {requests(simulator.Fault{Status: 500, Body: "it broke", ContentType: "text/plain"}), []string{failed}, "it broke", nil},
		"a proxy answers 502":                      {requests(simulator.Fault{Status: 502, Body: "<html>", ContentType: "text/html"}), []string{unknown}, "502", nil},
		"answers are lost":                         {requests(simulator.Fault{Reset: true}), []string{unknown}, "no usable answer", nil},
		"the answers are lost, and it took effect": {requests(simulator.Fault{DropAnswer: true}), nil, "", nil},
		"MAAS forbids it":                          {requests(simulator.Fault{Status: 403}), []string{failed}, "does not let the API key's user", nil},
		"an operator locked it":                    {locks, []string{infrav1.ReleaseBlockedReason}, "unlock it in MAAS", nil},
		"MAAS is away":                             {away, []string{infrav1.MAASUnreachableReason, failed, unknown}, "MAAS", nil},
		"its erase is given up":                    {hardware(simulator.MomentErase, simulator.Trouble{Fail: "no disk"}), nil, "", nil}, // nothing is erased: it goes well
		"its power is never shown":                 {powerUnknown, nil, "", nil},
	}
}

func (f releaseFailure) in() []string {
	if f.versions == nil {
		return []string{"3.7.3"}
	}
	return f.versions
}

func locks(w *world, systemID string) func() {
	lock := func(is bool) {
		if err := w.region.Lock(systemID, is); err != nil {
			w.Fatal(err)
		}
	}
	lock(true)
	return func() { lock(false) }
}

func away(w *world, _ string) func() {
	w.region.SetAway(&simulator.Away{})
	return func() { w.region.SetAway(nil) }
}

func powerUnknown(w *world, systemID string) func() {
	if err := w.region.SetPower(systemID, "unknown"); err != nil {
		w.Fatal(err)
	}
	return func() {}
}

// TestAReleaseThatFailsIsTriedAgain, not too often, says what is wrong, and succeeds when that is mended. The object never goes while
// its machine is ours.
func TestAReleaseThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range releaseFailures() {
		for _, version := range test.in() {
			t.Run(name+", "+version, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ofVersion(version))
				w.kept = w.reconciler()
				w.add("w1", false)
				w.until("w1", w.provisioned("w1"))
				id := w.get("w1").Spec.SystemID
				mend := test.begin(w, id)
				w.delete("w1")
				said := watchRelease(w, id, 30*time.Minute)
				if test.shows == nil {
					if w.exists("w1") {
						t.Errorf("it is still there: %s", w.story("w1"))
					}
					return
				}
				if n := len(w.released()); n > 9 {
					t.Errorf("asked for a release %d times in half an hour", n)
				}
				if !said.has(test.shows, test.says) {
					t.Errorf("want only %v, and once %q; it said %v", test.shows, test.says, said)
				}
				mend()
				w.until("w1", w.goneFrom("w1"))
				if len(w.owned()) > 0 {
					t.Errorf("owned: %v", w.owned())
				}
			})
		}
	}
}

// toldByReason holds messages of Deleting by their reasons.
type toldByReason map[string]map[string]bool

// watchRelease lets time pass, and notes what Deleting says.
func watchRelease(w *world, systemID string, d time.Duration) toldByReason {
	w.Helper()
	all := toldByReason{}
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end) && w.exists("w1"); {
		result := w.reconcile("w1")
		if !w.exists("w1") {
			if m := w.inMAAS(systemID); m.Owner != "" {
				w.Errorf("the object went, and its machine is %s of %s", m.Status, m.Owner)
			}
			break
		}
		if c := conditions.Get(w.get("w1"), infrav1.MachineDeletingCondition); c != nil && c.Status == metav1.ConditionTrue {
			if all[c.Reason] == nil {
				all[c.Reason] = map[string]bool{}
			}
			all[c.Reason][c.Message] = true
		}
		w.clock.Advance(max(result.RequeueAfter, time.Second))
	}
	return all
}

func (all toldByReason) has(reasons []string, part string) bool {
	found := part == ""
	for reason, messages := range all {
		if !slices.Contains(reasons, reason) || len(messages) > 3 {
			return false
		}
		for message := range messages {
			found = found || strings.Contains(message, part)
		}
	}
	return found && len(all) > 0
}

// TestAFailedReleaseEndsWhenTheMachineIsNotOursAnyMore: while a release fails, somebody takes the machine, or deletes it.
func TestAFailedReleaseEndsWhenTheMachineIsNotOursAnyMore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		take  func(w *world, systemID string) error
		event string
	}{
		"an operator releases it":  {func(w *world, id string) error { return w.region.OperatorRelease(id) }, "Released"},
		"another user takes it":    {func(w *world, id string) error { return w.region.OperatorTake(id, otherUser) }, "MachineLost"},
		"another user deploys it":  {func(w *world, id string) error { return w.region.OperatorDeploy(id, otherUser, "") }, "MachineLost"},
		"it is deleted from MAAS":  {func(w *world, id string) error { return w.region.OperatorDelete(id) }, "MachineLost"},
		"it is used by hand as us": {func(w *world, id string) error { return w.takeAsUs(id, nil) }, "MachineLost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ofVersion("3.7.3"))
			w.kept = w.reconciler()
			w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseQuick })
			w.until("w1", w.provisioned("w1"))
			id := w.get("w1").Spec.SystemID
			w.fails(simulator.MomentErase, simulator.Trouble{Fail: "no disk"})
			w.delete("w1")
			w.until("w1", func() bool {
				c := conditions.Get(w.get("w1"), infrav1.MachineDeletingCondition)
				return c != nil && c.Reason == infrav1.ReleaseFailedReason
			})
			if err := test.take(w, id); err != nil {
				t.Fatal(err)
			}
			start := len(w.region.Requests())
			w.told()
			w.until("w1", w.goneFrom("w1"))
			if all := w.writes(start); len(all) > 0 {
				t.Errorf("touched: %v", all)
			}
			wantEvents(t, w, test.event)
		})
	}
}
