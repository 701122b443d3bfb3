package maasmachine

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func brokenFor(why string) func(*observation) {
	return func(o *observation) { o.object.Annotations[infrav1.MarkBrokenAnnotation] = why }
}

func TestPlanOfAMachineThatIsToBeMarkedBroken(t *testing.T) {
	t.Parallel()
	broken := brokenFor("it hangs")
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"it is on":                  {seen(giveBack, maas.StatusDeployed, broken), "switch off aaaaa1"},
		"without a reason":          {seen(giveBack, maas.StatusDeployed, brokenFor("")), "switch off aaaaa1"},
		"out of DNS first":          {seen(giveBack, maas.StatusDeployed, broken, controlPlaneOf("10.0.0.1")), "leave DNS"},
		"off":                       {seen(giveBack, maas.StatusDeployed, broken, power(maas.PowerOff)), "mark broken aaaaa1"},
		"nobody can tell its power": {seen(giveBack, maas.StatusDeployed, broken, power(maas.PowerUnknown)), "mark broken aaaaa1"},
		"its disks were to be erased": {seen(giveBack, maas.StatusDeployed, broken, power(maas.PowerOff), func(o *observation) {
			o.object.Spec.Release.Erase = infrav1.EraseFull
		}), "mark broken aaaaa1"},
		"MAAS cannot run the scripts that a release would": {seen(giveBack, maas.StatusDeployed, broken, scriptsOn("3.4.10")), "switch off aaaaa1"},
		"asked for, and still on":                          {seen(giveBack, maas.StatusDeployed, broken, askedFor(1, time.Second, nil)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"the power stays on":                               {seen(giveBack, maas.StatusDeployed, broken, tried(switchOff{"aaaaa1"}, maas.ErrConflict)), "wait: Deleting ReleaseFailed"},
		"locked":                                           {seen(giveBack, maas.StatusDeployed, broken, lockedInMAAS), "wait: Deleting ReleaseBlocked"},
		"marked, and on":                                   {seen(giveBack, maas.StatusBroken, broken), "wait: Deleting Releasing"},
		"marked, and off":                                  {seen(giveBack, maas.StatusBroken, broken, power(maas.PowerOff)), "let go: released"},
		"it is free already":                               {seen(giveBack, maas.StatusReady, broken), "let go: released"},
		"nobody deletes it":                                {seen(keeping, maas.StatusDeployed, broken), "all is well"},
		"not another one of the claim": {seen(giveBack, maas.StatusReady, broken, func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusDeployed
			o.claimed = []maas.Machine{m}
		}, notes("bbbbb2")), "release bbbbb2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestAMachineIsMarkedBrokenInsteadOfReleased, once it is off, in each version of MAAS, whatever fails first.
func TestAMachineIsMarkedBrokenInsteadOfReleased(t *testing.T) {
	t.Parallel()
	drops := func(op string) func(*world) {
		return func(w *world) {
			dropped := false
			w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
				if r.Op != op || dropped {
					return simulator.Fault{}
				}
				dropped = true
				return simulator.Fault{DropAnswer: true}
			})
		}
	}
	for name, begin := range map[string]func(*world){
		"nothing is wrong": func(*world) {},
		"the power-off fails a while": func(w *world) {
			mend := w.fails(simulator.MomentPowerOff, simulator.Trouble{Fail: "IPMI is dead"})
			w.clock.AfterFunc(15*time.Minute, mend)
		},
		"the power-off's answer is lost": drops("power_off"),
		"the mark's answer is lost":      drops("mark_broken"),
		"it is off":                      func(w *world) { _ = w.region.SetPower(w.get("w1").Spec.SystemID, "off") },
	} {
		for _, version := range versions() {
			t.Run(name+", "+version, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ofVersion(version))
				w.kept = w.reconciler()
				w.add("w1", false, func(m *infrav1.MaasMachine) {
					m.Annotations = map[string]string{infrav1.MarkBrokenAnnotation: "it hangs again and again"}
				})
				w.until("w1", w.provisioned("w1"))
				id := w.get("w1").Spec.SystemID
				begin(w)
				w.delete("w1")
				w.until("w1", func() bool {
					m := w.inMAAS(id)
					if !w.exists("w1") {
						return true
					}
					if m.Status == simulator.StatusBroken && m.PowerState == "on" {
						t.Fatalf("it was marked broken while it runs: %+v", m)
					}
					return false
				})
				m := w.inMAAS(id)
				if m.Status != simulator.StatusBroken || m.PowerState != "off" || m.Owner != "" {
					t.Errorf("the machine is %s, %s, of %q", m.StatusName, m.PowerState, m.Owner)
				}
				// MAAS 3.5 and newer show it.
				if shown, err := w.maas.Machine(t.Context(), id); err != nil || version != "3.4.10" && shown.ErrorDescription != "CAPMAAS: default.w1: it hangs again and again" {
					t.Errorf("MAAS shows %+v, %v", shown, err)
				}
				if w.calls("release") > 0 || w.calls("power_off") > 9 || w.calls("mark_broken") > 2 {
					t.Errorf("asked %d times for a release, %d for the power, %d for the mark", w.calls("release"), w.calls("power_off"), w.calls("mark_broken"))
				}
				if told := w.told(); name != "the mark's answer is lost" && !slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "MarkedBroken") }) {
					t.Errorf("nobody told that it is marked broken: %v", told)
				}
			})
		}
	}
}

func TestAMachineWhosePowerStaysOnIsNotMarkedBroken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kept = w.reconciler()
	w.add("w1", false, func(m *infrav1.MaasMachine) {
		m.Annotations = map[string]string{infrav1.MarkBrokenAnnotation: "it hangs"}
	})
	w.until("w1", w.provisioned("w1"))
	w.fails(simulator.MomentPowerOff, simulator.Trouble{Fail: "IPMI is dead"})
	w.delete("w1")
	w.pass("w1", time.Hour)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseFailedReason)
	if c := conditions.Get(w.get("w1"), infrav1.MachineDeletingCondition); !strings.Contains(c.Message, "could not switch off") || !strings.Contains(c.Message, "IPMI is dead") {
		t.Errorf("it says %q", c.Message)
	}
	if len(w.owned()) != 1 || w.calls("mark_broken") > 0 {
		t.Errorf("owned: %v, marked %d times", w.owned(), w.calls("mark_broken"))
	}
}
