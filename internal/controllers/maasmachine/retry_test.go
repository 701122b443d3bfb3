package maasmachine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func tries(n int32) func(*infrav1.MaasMachine) {
	return func(m *infrav1.MaasMachine) { m.Spec.DeployAttempts = n }
}

// badMachines lets installations on some machines fail, or never end.
func (w *world) badMachines(trouble simulator.Trouble, bad ...string) {
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == simulator.MomentInstall && slices.Contains(bad, e.SystemID) {
			return trouble
		}
		return simulator.Trouble{}
	})
}

// untilAlone is until for what takes hours, and looks after each reconcile that one machine at most is ours and not on its way back.
func (w *world) untilAlone(name string, done func() bool) {
	w.Helper()
	least := 20 * time.Second
	if w.steps > 0 {
		least = time.Second // who takes one step at a time must not be too late for the next
	}
	for range 1000 {
		var ours []string
		for _, m := range w.region.Snapshot().Machines {
			if m.Owner == ourUser && m.Status != simulator.StatusDiskErasing {
				ours = append(ours, fmt.Sprintf("%s (%v)", m.SystemID, m.Status))
			}
		}
		if len(ours) > 1 {
			w.Fatalf("two machines are ours: %v", ours)
		}
		if done() {
			return
		}
		result := w.reconcile(name)
		w.clock.Advance(max(result.RequeueAfter, least))
	}
	w.Fatalf("%s did not get there: %s", name, w.story(name))
}

func (w *world) reason(name string) string {
	c := conditions.Get(w.get(name), infrav1.MachineReadyCondition)
	if c == nil {
		return ""
	}
	return c.Reason
}

func TestAnotherMachineIsTriedAfterAFailedDeployment(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]simulator.Trouble{
		"that failed":      {Fail: "curtin: no disk"},
		"that never ended": {Stuck: true},
	} {
		for _, version := range []string{"3.4.10", "3.7.3"} {
			t.Run(name+", in MAAS "+version, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, func(c *simulator.Config) { c.Version, c.Durations.DeployTimeout = version, 10*time.Hour })
				w.badMachines(trouble, "aaaaa1")
				began := w.clock.Now()
				w.add("w1", false)
				w.untilAlone("w1", w.provisioned("w1"))
				if got := w.get("w1").Spec.SystemID; got != "aaaaa2" {
					t.Errorf("it is on %s", got)
				}
				if took := w.clock.Now().Sub(began); trouble.Stuck && (took < 45*time.Minute || took > time.Hour) {
					t.Errorf("it took %v", took)
				}
				if status := w.inMAAS("aaaaa1").Status; status != simulator.StatusReady {
					t.Errorf("the failed machine is %v", status)
				}
				if a := w.get("w1").Annotations[infrav1.DeployAttemptsAnnotation]; a != "" {
					t.Errorf("left over: %s", a)
				}
				if got := w.get("w1").Status; got.Hostname != "m2" {
					t.Errorf("the status names %s", got.Hostname)
				}
				wantEvents(t, w, "DeployFailed")
			})
		}
	}
}

func TestADeploymentThatFailsEverywhereIsReportedForReplacement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Fail: "curtin: no such package"}, "aaaaa1", "aaaaa2", "aaaaa3")
	w.add("w1", false)
	w.untilAlone("w1", func() bool { return w.reason("w1") == infrav1.DeployFailedReason })
	w.pass("w1", 2*time.Hour)
	m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition)
	for _, want := range []string{"machine m3 (aaaaa3)", "no such package", "before it on m1, m2 alike", "image u-2404", "delete Machine w1"} {
		if !strings.Contains(m, want) {
			t.Errorf("%q is not in: %s", want, m)
		}
	}
	if n := w.calls("deploy"); n != 3 {
		t.Errorf("%d deploys", n)
	}
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if owned := w.owned(); len(owned) > 0 {
		t.Errorf("owned: %v", owned)
	}
}

func TestAMachineThatFailedIsTriedAgainInAWhileIfNothingElseFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) { c.Machines = c.Machines[:1] })
	w.badMachines(simulator.Trouble{Fail: "PXE-E32: TFTP open timeout"}, "aaaaa1")
	w.add("w1", false)
	w.untilAlone("w1", func() bool { return w.reason("w1") == infrav1.NoMachineAvailableReason })
	if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(m, "is avoided after a failed deployment (m1)") {
		t.Errorf("message: %s", m)
	}
	w.pass("w1", 10*time.Minute)
	if n := w.calls("deploy"); n != 1 {
		t.Errorf("%d deploys within the first minutes", n)
	}
	w.untilAlone("w1", func() bool { return w.calls("deploy") == 2 })
}

// TestRetryingSurvivesAnything: the program is killed after each single step, and remembers nothing; or answers are lost.
func TestRetryingSurvivesAnything(t *testing.T) {
	t.Parallel()
	lost := map[string]simulator.Fault{"its answer is lost": {DropAnswer: true}}
	for _, trouble := range []simulator.Trouble{{Fail: "curtin: no disk"}, {Stuck: true}} {
		for _, op := range []string{"", "abort", "release", "deploy", "allocate", "set_workload_annotations"} {
			for how, fault := range lost {
				t.Run(fmt.Sprintf("stuck %v: %s: %s", trouble.Stuck, op, how), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.steps = 1
					w.badMachines(trouble, "aaaaa1")
					struck := map[string]bool{}
					w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
						if r.Op != op || struck[r.Path] {
							return simulator.Fault{}
						}
						struck[r.Path] = true
						return fault
					})
					w.add("w1", false)
					w.untilAlone("w1", w.provisioned("w1"))
					w.clock.Advance(5 * time.Minute)
					if owned := w.owned(); len(owned) != 1 || owned[0] != w.get("w1").Spec.SystemID || owned[0] == "aaaaa1" {
						t.Errorf("owned: %v", owned)
					}
				})
			}
		}
	}
}

// TestAttemptsSurviveAMove: no status is restored, and everything in it is made anew.
func TestAttemptsSurviveAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1", "aaaaa2")
	w.add("w1", false, tries(2))
	move := func() {
		m := w.get("w1")
		m.Status = infrav1.MaasMachineStatus{}
		if err := w.client.Status().Update(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		w.untilAlone("w1", func() bool { return w.calls("deploy") == max(n, 1) })
		move()
	}
	w.untilAlone("w1", func() bool { return w.reason("w1") == infrav1.DeployFailedReason })
	if !strings.Contains(conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition), "before it on m1") {
		t.Error(w.story("w1"))
	}
}

func TestAMachineThatIsMarkedBrokenWhileItIsInstalledIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.4.10", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) { c.Version = version })
			w.add("w1", false)
			w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
			if err := w.region.OperatorMarkBroken("aaaaa1", "the fan is broken"); err != nil {
				t.Fatal(err)
			}
			w.until("w1", w.provisioned("w1"))
			if got := w.get("w1").Spec.SystemID; got != "aaaaa2" {
				t.Errorf("it is on %s", got)
			}
			if got := w.inMAAS("aaaaa1").Status; got != simulator.StatusBroken || w.calls("release") != 0 {
				t.Errorf("the broken machine is %v, after %d releases", got, w.calls("release"))
			}
		})
	}
}

func TestAControlPlaneMachineLeavesDNSBeforeAnotherIsTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Stuck: true}, "aaaaa1")
	w.add("cp1", true)
	w.until("cp1", func() bool { return len(w.record()) == 1 })
	old := w.record()[0]
	var atRelease []string
	w.untilAlone("cp1", func() bool {
		if w.calls("release") > 0 && atRelease == nil {
			atRelease = append([]string{"seen"}, w.record()...)
		}
		return w.provisioned("cp1")()
	})
	if slices.Contains(atRelease, old) {
		t.Errorf("when it was released, the record had %v", atRelease)
	}
	if r := w.record(); len(r) != 1 || w.get("cp1").Spec.SystemID != "aaaaa2" {
		t.Errorf("the record has %v, the machine is %s", r, w.get("cp1").Spec.SystemID)
	}
}

func TestAMachineThatMAASPutsBackIsTriedAgainAndThenAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) { c.Version = "3.5.13" })
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == simulator.MomentPowerOn && e.SystemID == "aaaaa1" {
			return simulator.Trouble{Fail: "BMC does not answer"}
		}
		return simulator.Trouble{}
	})
	w.add("w1", false)
	w.untilAlone("w1", func() bool { return w.reason("w1") == infrav1.DeployRefusedReason })
	w.untilAlone("w1", w.provisioned("w1"))
	if got := w.get("w1").Spec.SystemID; got != "aaaaa2" {
		t.Errorf("it is on %s", got)
	}
	if owned := w.owned(); len(owned) != 1 {
		t.Errorf("owned: %v", owned)
	}
}
