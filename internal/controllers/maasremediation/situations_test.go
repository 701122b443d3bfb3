package maasremediation

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// goingOff is a world in which the machine was just told to go off, which takes it so long.
func goingOff(t *testing.T, takes time.Duration) *world {
	t.Helper()
	w := newWorld(t)
	w.heals = 1
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == simulator.MomentPowerOff {
			return simulator.Trouble{Delay: takes}
		}
		return simulator.Trouble{}
	})
	w.until(time.Hour, w.at(infrav1.RemediationPoweringOffReason))
	return w
}

// isOff is a world in which the machine is off, and the manager has not seen that yet.
func isOff(t *testing.T) *world {
	t.Helper()
	w := goingOff(t, 0)
	w.must(w.region.SetPower("aaaaa1", "off"))
	return w
}

func (w *world) isOn() bool { return w.inMAAS("aaaaa1").PowerState == "on" }

// failsAgain makes the Node unhealthy until its machine is switched on once more.
func (w *world) failsAgain() {
	w.Helper()
	w.mu.Lock()
	w.heals = w.ons["aaaaa1"] + 1
	w.mu.Unlock()
	w.tick() // a health check finds that
}

func TestAMachineThatFailsAgainAndAgainIsReplacedThoughItHealsEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.heals = 1
	for range defaultRetryLimit {
		w.until(2*time.Hour, w.over)
		w.pass(time.Hour)
		w.failsAgain()
	}
	w.until(2*time.Hour, w.replaced)
	w.holds()
	if n := w.calls("power_on", "aaaaa1"); n != defaultRetryLimit {
		t.Errorf("switched on %d times:%s", n, w.story())
	}
	if m := w.inMAAS("aaaaa1"); m.Status != simulator.StatusBroken {
		t.Errorf("it is %s", m.StatusName)
	}
}

func TestAMachineThatFailsNowAndThenIsHealedEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.heals = 1
	for range 4 {
		w.until(2*time.Hour, w.over)
		w.clock.Advance(48 * time.Hour)
		w.failsAgain()
	}
	w.holds()
	if p := w.progress(); p.GaveUp != nil || len(p.Cycles) != 4 {
		t.Errorf("got %+v", p)
	}
}

func TestAPausedClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := isOff(t)
	defer w.close()
	pause := func(is bool) {
		change(w, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "prod"}}, func(c *clusterv1.Cluster) { c.Spec.Paused = &is })
	}
	pause(true)
	before := len(w.writesToMAAS())
	w.pass(time.Hour)
	if after := w.writesToMAAS(); len(after) != before {
		t.Errorf("touched: %v", after[before:])
	}
	pause(false)
	w.until(time.Hour, w.over)
	w.holds()
}

func TestAMachineDeletedInTheMiddleIsReleased(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) *world{
		"while it goes off": func(t *testing.T) *world { return goingOff(t, 5*time.Minute) },
		"while it is off":   isOff,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			defer w.close()
			m := &clusterv1.Machine{}
			w.find(machineName, m)
			w.must(w.stored.Delete(context.Background(), m))
			w.until(time.Hour, w.replaced)
			w.holds()
			if m := w.inMAAS("aaaaa1"); m.Status != simulator.StatusReady || m.Owner != "" || w.calls("power_on", "aaaaa1") > 0 {
				t.Errorf("not released:%s", w.story())
			}
		})
	}
}

func TestAMachineTakenInTheMiddleIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*world) error{
		"an operator releases it":      func(w *world) error { return w.region.OperatorRelease("aaaaa1") },
		"another user deploys it":      func(w *world) error { return w.deploysAs("alice", nil) },
		"it is deployed by hand as us": func(w *world) error { return w.deploysAs(ourUser, nil) },
		"it is deployed for another claim": func(w *world) error {
			return w.deploysAs(ourUser, map[string]string{infrav1.MachineAnnotationClaim: "capmaas-1-other", infrav1.MachineAnnotationMachine: "default.other"})
		},
		"another user takes it":   func(w *world) error { return w.region.OperatorTake("aaaaa1", "alice") },
		"it is deleted from MAAS": func(w *world) error { return w.region.OperatorDelete("aaaaa1") },
		"it is marked broken":     func(w *world) error { return w.region.OperatorMarkBroken("aaaaa1", "smoke") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := isOff(t)
			defer w.close()
			w.stubborn = true
			before := len(w.writesToMAAS())
			w.must(take(w))
			if name == "it is deployed by hand as us" { // or its annotations are lost: nothing is concluded from that
				w.pass(10 * time.Minute)
			} else {
				w.until(time.Hour, w.at(infrav1.RemediationHandedOverReason))
			}
			w.pass(10 * time.Minute)
			w.holds()
			if after := w.writesToMAAS(); len(after) != before {
				t.Errorf("touched: %v", after[before:])
			}
			target := &infrav1.MaasMachine{}
			w.find(machineName, target)
			if _, marked := target.Annotations[infrav1.MarkBrokenAnnotation]; marked {
				t.Error("it is to be marked broken")
			}
		})
	}
}

// deploysAs lets an operator release the machine, and a user deploy it, with these annotations.
func (w *world) deploysAs(user string, annotations map[string]string) error {
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed))
	w.must(w.region.SetPower("aaaaa1", "on"))
	w.must(w.region.SetAgentName("aaaaa1", ""))
	w.must(w.region.SetOwner("aaaaa1", user))
	return w.region.SetAnnotations("aaaaa1", annotations)
}

// TestADecisionFromAnOldCopyIsNotWritten: a cache may show the MaasMachine as it was before the power cycle.
func TestADecisionFromAnOldCopyIsNotWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.heals = 1
	w.checkHealth(machineName)
	old := &infrav1.MaasMachine{}
	w.find(machineName, old)
	w.until(time.Hour, w.at(infrav1.RemediationWaitingForNodeReason))
	before := w.progress()
	r := w.manager.remediations
	r.Client = interceptor.NewClient(w.stored, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if m, is := o.(*infrav1.MaasMachine); is {
				old.DeepCopyInto(m)
				return nil
			}
			return c.Get(ctx, k, o, opts...)
		},
	})
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key(machineName)}); err != nil {
		t.Errorf("it is an error: %v", err)
	}
	if after := w.progress(); !reflect.DeepEqual(before, after) || w.calls("power_off", "aaaaa1") != 1 {
		t.Errorf("got %+v after %+v:%s", after, before, w.story())
	}
}

// All machines look like somebody else's with the key of another user, or are not there in another MAAS. That is no reason to replace them.
func TestAMachineOfAnotherKeyOrMAASIsNotHandedOver(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*world){
		"another user, who is known": func(w *world) {
			w.must(w.region.SetOwner("aaaaa1", "alice"))
			w.editTarget(func(m *infrav1.MaasMachine) { m.Annotations[infrav1.UserAnnotation] = "alice" })
		},
		"another user, and the machine says whose it is": func(w *world) {
			w.must(w.region.SetOwner("aaaaa1", "alice"))
			w.editTarget(func(m *infrav1.MaasMachine) { delete(m.Annotations, infrav1.UserAnnotation) })
		},
		"another MAAS": func(w *world) {
			w.must(w.region.OperatorDelete("aaaaa1"))
			w.editTarget(func(m *infrav1.MaasMachine) { m.Annotations[infrav1.HostAnnotation] = "elsewhere.example.com" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			defer w.close()
			w.heals = 1
			begin(w)
			w.until(10*time.Minute, w.at(infrav1.RemediationBlockedReason))
			w.pass(30 * time.Minute)
			if !w.at(infrav1.RemediationBlockedReason)() || len(w.writesToMAAS()) > 0 || w.progress().GaveUp != nil {
				t.Errorf("something was done:%s", w.story())
			}
		})
	}
}

func TestWhatComesInBetweenIsWaitedFor(t *testing.T) {
	t.Parallel()
	fails := func(at simulator.Moment, trouble simulator.Trouble) func(*world) func() {
		return func(w *world) func() {
			return w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
				if e.Moment == at {
					return trouble
				}
				return simulator.Trouble{}
			})
		}
	}
	lock := func(w *world) func() {
		w.must(w.region.Lock("aaaaa1", true))
		return func() { w.must(w.region.Lock("aaaaa1", false)) }
	}
	away := func(w *world) func() {
		w.region.SetAway(&simulator.Away{})
		return func() { w.region.SetAway(nil) }
	}
	for name, test := range map[string]struct {
		begin func(*world) func()
		shows string
		says  string
	}{
		"MAAS is away":                   {away, infrav1.MAASUnreachableReason, "MAAS maas.example.com is not available"},
		"an operator locked it":          {lock, infrav1.MachineLockedReason, "unlock it in MAAS"},
		"the BMC does not switch it off": {fails(simulator.MomentPowerOff, simulator.Trouble{Fail: "IPMI is dead"}), infrav1.RemediationPowerFailedReason, "IPMI is dead"},
		"the BMC does not switch it on":  {fails(simulator.MomentPowerOn, simulator.Trouble{Fail: "IPMI is dead"}), infrav1.RemediationPowerFailedReason, "IPMI is dead"},
		"no rack reaches the BMC":        {fails(simulator.MomentRack, simulator.Trouble{Fail: "no rack"}), infrav1.RemediationPowerFailedReason, "Unable to connect to any rack"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			defer w.close()
			w.heals = 1
			mend := test.begin(w)
			w.until(time.Hour, w.at(test.shows))
			if said := w.message(); !strings.Contains(said, test.says) {
				t.Errorf("it says %q", said)
			}
			w.pass(5 * time.Minute)
			if asked := w.calls("power_off", "aaaaa1"); asked > 8 {
				t.Errorf("asked %d times", asked)
			}
			mend()
			w.until(2*time.Hour, w.over)
			w.holds()
		})
	}
}

// Nobody knows whether it runs, so it is not released, and not marked broken, before somebody switched it off.
func TestAMachineWhosePowerStaysOnIsHandedOverAndNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.heals = 1
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == simulator.MomentPowerOff {
			return simulator.Trouble{Fail: "IPMI is dead"}
		}
		return simulator.Trouble{}
	})
	w.until(time.Hour, w.at(infrav1.RemediationHandedOverReason))
	if !strings.Contains(w.message(), "could not be switched off") {
		t.Errorf("it says %q", w.message())
	}
	w.pass(time.Hour)
	if m := w.inMAAS("aaaaa1"); m.Owner != ourUser || m.Status != simulator.StatusDeployed || !w.find(machineName, &infrav1.MaasMachine{}) {
		t.Errorf("it is lost:%s", w.story())
	}
	w.must(w.region.SetPower("aaaaa1", "off")) // by hand
	w.until(time.Hour, w.replaced)
	w.holds()
	if m := w.inMAAS("aaaaa1"); m.Status != simulator.StatusBroken {
		t.Errorf("it is %s", m.StatusName)
	}
}

// The owner of the only machine of a control plane refuses to replace it: it is left as it is, for it may serve on.
func TestTheOnlyMachineOfAControlPlaneIsLeftOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	controlPlane(w)
	w.stubborn, w.heals = true, 100
	w.until(4*time.Hour, w.at(infrav1.RemediationHandedOverReason))
	w.pass(2 * time.Hour)
	w.holds()
	if m := w.inMAAS("aaaaa1"); m.PowerState != "on" || m.Status != simulator.StatusDeployed || m.Owner != ourUser {
		t.Errorf("it was taken away:%s", w.story())
	}
	w.mu.Lock()
	w.heals = 0
	w.ons["aaaaa1"] = 1
	w.mu.Unlock()
	w.until(time.Hour, w.over)
	target := &infrav1.MaasMachine{}
	if w.find(machineName, target); target.Annotations[infrav1.MarkBrokenAnnotation] != "" || w.progress().GaveUp != nil {
		t.Errorf("it healed, and is given up still:%s", w.story())
	}
}

func TestMachinesOfAControlPlaneGoOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	controlPlane(w)
	w.addMachine("prod-cp-1", "aaaaa2", clusterv1.MachineControlPlaneLabel)
	w.heals = 1
	done := func(name string) bool {
		target := &infrav1.MaasMachine{}
		return w.find(name, target) && len(remediation.Of(target).Cycles) == 1 && !w.find(name, &infrav1.MaasRemediation{})
	}
	w.until(3*time.Hour, func() bool {
		if !w.isOn() && w.inMAAS("aaaaa2").PowerState != "on" {
			t.Fatalf("both are off:%s", w.story())
		}
		if !w.healthy("aaaaa1") && w.calls("power_on", "aaaaa1") > 0 && w.calls("power_off", "aaaaa2") > 0 && !w.healthy("aaaaa2") {
			t.Fatalf("the second did not wait for the first:%s", w.story())
		}
		return done(machineName) && done("prod-cp-1")
	})
	w.holds()
}

func TestOfTwoRemediationsOneActs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.heals = 1
	w.request("a-second", machineName)
	w.until(time.Hour, func() bool { return w.calls("power_on", "aaaaa1") == 1 })
	w.until(time.Hour, w.over)
	second := &infrav1.MaasRemediation{}
	if !w.find("a-second", second) {
		t.Fatal("the second is gone")
	}
	w.must(w.stored.Delete(context.Background(), second))
	w.until(time.Minute, func() bool { return !w.find("a-second", second) })
	w.holds()
	if w.calls("power_off", "aaaaa1") != 1 || w.calls("power_on", "aaaaa1") != 1 {
		t.Errorf("both acted:%s", w.story())
	}
}

func TestWhoSkipsARemediationFindsTheMachineOn(t *testing.T) {
	t.Parallel()
	w := isOff(t)
	defer w.close()
	w.editMachine(func(m *clusterv1.Machine) {
		m.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}
	})
	w.until(10*time.Minute, w.isOn)
	w.until(time.Hour, w.at(infrav1.RemediationSkippedReason))
	w.pass(2 * time.Hour)
	w.holds()
	if p := w.progress(); len(p.Cycles) != 1 || p.GaveUp != nil {
		t.Errorf("it went on:%s", w.story())
	}
}

// A person deletes the MaasRemediation, and the MachineHealthCheck before it.
func TestADeletedRemediationLeavesTheMachineOn(t *testing.T) {
	t.Parallel()
	for name, force := range map[string]bool{"deleted": false, "removed by force": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := isOff(t)
			defer w.close()
			w.noHealthCheck = true
			object := &infrav1.MaasRemediation{}
			w.find(machineName, object)
			if force {
				object.Finalizers = nil
				w.must(w.stored.Update(context.Background(), object))
			}
			w.must(w.stored.Delete(context.Background(), object))
			w.until(10*time.Minute, func() bool { return w.isOn() && !w.find(machineName, object) })
			w.pass(10 * time.Minute)
			w.holds()
			if !w.isOn() || w.calls("power_on", "aaaaa1") != 1 {
				t.Errorf("it is off:%s", w.story())
			}
		})
	}
}

// What is given up is undone with the MaasRemediation, but for what a person decided.
func TestADeletedRemediationTakesBackWhatItDecided(t *testing.T) {
	t.Parallel()
	for name, wants := range map[string]string{"nobody else wants it marked": "", "a person wants it marked": "the fan is dead"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			defer w.close()
			w.stubborn, w.heals = true, 100
			if wants != "" {
				w.editTarget(func(m *infrav1.MaasMachine) { m.Annotations[infrav1.MarkBrokenAnnotation] = wants })
			}
			w.until(4*time.Hour, w.at(infrav1.RemediationHandedOverReason))
			if w.isOn() {
				t.Errorf("it was left on:%s", w.story())
			}
			w.noHealthCheck = true
			object := &infrav1.MaasRemediation{}
			w.find(machineName, object)
			w.must(w.stored.Delete(context.Background(), object))
			w.until(10*time.Minute, func() bool { return w.isOn() && !w.find(machineName, object) })
			target := &infrav1.MaasMachine{}
			w.find(machineName, target)
			if got := target.Annotations[infrav1.MarkBrokenAnnotation]; got != wants {
				t.Errorf("it is to be marked broken: %q", got)
			}
			w.holds()
		})
	}
}

func TestAPersonWhoWantsAnotherMachineGetsOneAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	defer w.close()
	w.editMachine(func(m *clusterv1.Machine) {
		m.Annotations = map[string]string{clusterv1.RemediateMachineAnnotation: ""}
	})
	w.until(30*time.Minute, w.replaced)
	w.holds()
	if m := w.inMAAS("aaaaa1"); m.Status != simulator.StatusReady || w.calls("power_off", "aaaaa1") > 0 {
		t.Errorf("not just released:%s", w.story())
	}
}

func TestAMachineThatMAASCannotSwitchIsHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) { c.Machines[0].PowerType = "manual" })
	defer w.close()
	w.stubborn, w.heals = true, 1
	w.until(30*time.Minute, w.at(infrav1.RemediationHandedOverReason))
	if !strings.Contains(w.message(), "MAAS cannot switch the power") {
		t.Errorf("it says %q", w.message())
	}
	w.holds()
}
