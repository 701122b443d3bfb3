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
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas"
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
		for _, op := range []string{"", "abort", "release", "deploy", "allocate", "set_workload_annotations", "update_nodes"} {
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

// tagsOf are a machine's tags by which it is avoided.
func (w *world) tagsOf(systemID string) []string {
	w.Helper()
	var tags []string
	for _, tag := range w.inMAAS(systemID).Tags {
		if _, ok := avoidance.UntilOf(tag); ok {
			tags = append(tags, tag)
		}
	}
	return tags
}

func TestAFailedMachineIsTaggedBeforeItIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1")
	var order []string
	w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "update_nodes" || r.Op == "release" {
			order = append(order, r.Op)
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.untilAlone("w1", w.provisioned("w1"))
	if tags := w.tagsOf("aaaaa1"); len(tags) != 1 || w.get("w1").Spec.SystemID != "aaaaa2" {
		t.Errorf("tags %v, and it is on %s", tags, w.get("w1").Spec.SystemID)
	}
	// The tag was not there at first, so it is made and asked for again.
	if !slices.Equal(order, []string{"update_nodes", "update_nodes", "release"}) {
		t.Errorf("order: %v", order)
	}
	// Another manager knows of it by the tag alone, and takes another machine; the last one only when nothing else is left.
	w.inventory, w.publisher = nil, nil
	w.add("w2", false)
	w.until("w2", func() bool { return w.get("w2").Spec.SystemID != "" })
	if got := w.get("w2").Spec.SystemID; got != "aaaaa3" {
		t.Errorf("the other manager took %s", got)
	}
	w.add("w3", false)
	w.until("w3", func() bool { return w.reason("w3") == infrav1.NoMachineAvailableReason })
	began := w.clock.Now()
	w.until("w3", func() bool { return w.get("w3").Spec.SystemID == "aaaaa1" })
	if waited := w.clock.Now().Sub(began); waited > avoidance.Period/4 {
		t.Errorf("it waited %v for a machine that nobody else wanted", waited)
	}
	if told := strings.Join(w.told(), "\n"); !strings.Contains(told, "though a deployment failed on it a short while ago: nothing else fits") {
		t.Errorf("events: %s", told)
	}
}

func TestAMachineWithoutItsTagIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) { c.Machines = c.Machines[:1] })
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1")
	w.add("w1", false)
	w.untilAlone("w1", func() bool { return w.reason("w1") == infrav1.NoMachineAvailableReason })
	if err := w.region.SetTags("aaaaa1"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 2*time.Minute)
	if n := w.calls("deploy"); n != 2 {
		t.Errorf("%d deploys", n)
	}
}

func TestOldTagsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1")
	w.add("w1", false)
	w.untilAlone("w1", w.provisioned("w1"))
	if err := w.region.OperatorTake("aaaaa1", otherUser); err != nil {
		t.Fatal(err)
	}
	sweep := func() []string {
		if err := w.reconciler().SweepTags(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.tagsOf("aaaaa1")
	}
	w.clock.Advance(avoidance.Period - 10*time.Minute)
	if tags := sweep(); len(tags) != 1 {
		t.Errorf("too early: %v", tags)
	}
	start := len(w.region.Requests())
	w.clock.Advance(30 * time.Minute)
	if tags := sweep(); len(tags) != 0 {
		t.Errorf("left over: %v", tags)
	}
	for _, write := range w.writes(start) {
		if !strings.HasPrefix(write, "DELETE /MAAS/api/2.0/tags/capmaas-avoid-until-") {
			t.Errorf("touched: %s", write)
		}
	}
	if all, err := w.maas.Tags(t.Context()); err != nil || slices.ContainsFunc(all, func(tag maas.Tag) bool { return strings.HasPrefix(tag.Name, "capmaas") }) {
		t.Errorf("tags: %v, %v", all, err)
	}
}

func TestWithoutTheRightToTagTheObjectAloneAvoids(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) { c.Users[0].Admin = false })
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1")
	w.add("w1", false)
	w.untilAlone("w1", w.provisioned("w1"))
	if w.get("w1").Spec.SystemID != "aaaaa2" || w.calls("update_nodes") != 0 {
		t.Errorf("on %s, after %d tags", w.get("w1").Spec.SystemID, w.calls("update_nodes"))
	}
	if err := w.reconciler().SweepTags(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestADeletionTagsAMachineThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.badMachines(simulator.Trouble{Fail: "curtin: no disk"}, "aaaaa1")
	w.add("w1", false, tries(1))
	w.until("w1", func() bool { return w.reason("w1") == infrav1.DeployFailedReason })
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if tags := w.tagsOf("aaaaa1"); len(tags) != 1 {
		t.Errorf("tags: %v", tags)
	}
}

func TestAnAbortByAnotherUserCountsAsAnAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) {
		c.Users = append(c.Users, simulator.User{Name: "ops", APIKey: "ops:ops:ops", Admin: true})
	})
	ops, err := maas.New(maas.Config{Endpoint: w.maas.Endpoint(), APIKey: "ops:ops:ops", Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.add("w1", false)
	w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
	if _, err := ops.Abort(t.Context(), "aaaaa1", "mine"); err != nil {
		t.Fatal(err)
	}
	w.untilAlone("w1", w.provisioned("w1"))
	if w.get("w1").Spec.SystemID != "aaaaa2" || w.calls("deploy") != 2 {
		t.Errorf("on %s, after %d deploys", w.get("w1").Spec.SystemID, w.calls("deploy"))
	}
	if told := strings.Join(w.told(), "\n"); !strings.Contains(told, `was aborted by user "ops"`) {
		t.Errorf("events: %s", told)
	}
}
