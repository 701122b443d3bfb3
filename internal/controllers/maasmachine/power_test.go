package maasmachine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// runningAlone is a machine that runs, and a manager that stays the same.
func runningAlone(t *testing.T, version string, change ...func(*infrav1.MaasMachine)) *world {
	t.Helper()
	w := newWorld(t, func(c *simulator.Config) { c.Version = version })
	w.kept = w.reconciler()
	w.add("w1", false, change...)
	w.until("w1", w.provisioned("w1"))
	w.told()
	return w
}

// TestPowerIsSwitchedOnOnlyWhere it is safe: each row lasts an hour.
func TestPowerIsSwitchedOnOnlyWhere(t *testing.T) {
	t.Parallel()
	see := func(states ...string) func(*world) {
		return func(w *world) {
			for end := w.clock.Now().Add(time.Hour); w.clock.Now().Before(end); {
				for _, state := range states {
					w.must(w.region.SetPower("aaaaa1", state))
					w.pass("w1", 4*time.Minute)
				}
			}
		}
	}
	status := func(s simulator.Status) func(*world) {
		return func(w *world) {
			w.must(errors.Join(w.region.SetPower("aaaaa1", "off"), w.region.SetStatus("aaaaa1", s)))
			w.pass("w1", time.Hour)
		}
	}
	inMemory := func(m *infrav1.MaasMachine) { m.Spec.DeployInMemory = true }
	for name, test := range map[string]struct {
		version  string // of MAAS
		spec     func(*infrav1.MaasMachine)
		happens  func(*world)
		switched int
		says     string
	}{
		"off for longer than the grace": {happens: func(w *world) { w.must(w.region.SetPower("aaaaa1", "off")); w.pass("w1", time.Hour) }, switched: 1},
		"off and on again within it":    {happens: see("off", "on")},
		"off, and MAAS cannot tell":     {happens: see("off", "unknown"), says: "cannot tell whether"},
		"off, and the BMC fails":        {happens: see("off", "error"), says: "cannot tell whether"},
		"unknown":                       {happens: see("unknown"), says: "cannot tell whether"},
		"error":                         {happens: see("error"), says: "cannot tell whether"},
		"locked": {
			happens: func(w *world) { w.must(w.region.Lock("aaaaa1", true)); see("off")(w) }, says: "unlock it in MAAS",
		},
		"deployed to memory": {spec: inMemory, happens: see("off"), says: "deployed to memory, which is lost"},
		"deployed to memory, which an old MAAS does not show": {
			version: "3.4.0", spec: inMemory, happens: see("off"), says: "deployed to memory, which is lost",
		},
		"its Machine goes": {
			happens: func(w *world) { w.deleteOwner("w1"); see("off")(w) }, says: "stays off, for Machine w1 is being deleted",
		},
		"deleted by mistake, and held": {happens: func(w *world) { w.deleteOnly("w1"); see("off")(w) }},
		"in rescue mode":               {happens: status(simulator.StatusRescueMode)},
		"being tested":                 {happens: status(simulator.StatusTesting)},
		"broken":                       {happens: status(simulator.StatusBroken)},
		// MAAS: power_on would deploy it, without user data.
		"put back to Allocated": {happens: status(simulator.StatusAllocated)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.spec == nil {
				test.spec = func(*infrav1.MaasMachine) {}
			}
			w := runningAlone(t, test.version, test.spec)
			deploys := w.calls("deploy")
			test.happens(w)
			if got := w.calls("power_on"); got != test.switched {
				t.Errorf("switched on %d times, want %d%s", got, test.switched, w.story("w1"))
			}
			if got := w.calls("deploy"); got != deploys {
				t.Error("it was deployed again")
			}
			if said := conditions.GetMessage(w.get("w1"), infrav1.MachinePoweredOnCondition); !strings.Contains(said, test.says) {
				t.Errorf("it does not say %q: %s", test.says, said)
			}
		})
	}
}

// TestPowerThatDoesNotComeOnIsAskedForLessAndLess often, and told.
func TestPowerThatDoesNotComeOnIsAskedForLessAndLess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault simulator.Fault
		says  string
	}{
		"MAAS fails": {
			simulator.Fault{Status: 500, Body: "Failed talking to node's BMC", ContentType: "text/plain"},
			"could not be switched on (Failed talking to node's BMC)",
		},
		"the BMC does nothing": {simulator.Fault{Then: func(simulator.Request) {}}, "is off, though MAAS was asked to switch it on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := runningAlone(t, "")
			w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
				if e.Moment == simulator.MomentPowerOn {
					return simulator.Trouble{Stuck: true}
				}
				return simulator.Trouble{}
			})
			w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if r.Op == "power_on" {
					return test.fault
				}
				return simulator.Fault{}
			})
			w.must(w.region.SetPower("aaaaa1", "off"))
			w.pass("w1", time.Hour)
			// 5 minutes, then after 0.5, 1, 2, 4, 8 and each 10 minutes.
			if n := w.calls("power_on"); n < 6 || n > 12 {
				t.Errorf("asked %d times in an hour", n)
			}
			if said := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(said, test.says) {
				t.Errorf("it does not say %q: %s", test.says, said)
			}
			before := w.get("w1").ResourceVersion
			w.pass("w1", 30*time.Minute)
			if w.get("w1").ResourceVersion != before {
				t.Errorf("what it says does not stay: %s", w.story("w1"))
			}
			n := 0
			for _, e := range w.told() {
				if strings.HasPrefix(e, "Warning PoweredOff") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// TestAnOperatorWhoSwitchesItOffAgainAndAgain is told how to keep it off.
func TestAnOperatorWhoSwitchesItOffAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := runningAlone(t, "")
	said := ""
	for end := w.clock.Now().Add(3 * time.Hour); w.clock.Now().Before(end); {
		w.must(w.region.SetPower("aaaaa1", "off"))
		w.pass("w1", time.Minute)
		for w.inMAAS("aaaaa1").PowerState != "on" {
			w.pass("w1", time.Minute)
			if m := conditions.GetMessage(w.get("w1"), infrav1.MachinePoweredOnCondition); strings.Contains(m, "lock it in MAAS") {
				said = m
			}
		}
		w.pass("w1", time.Minute)
	}
	if n := w.calls("power_on"); n < 10 || n > 25 {
		t.Errorf("switched on %d times in three hours", n)
	}
	if !strings.Contains(said, "went off again after it was switched on") {
		t.Errorf("it says %q", said)
	}
	w.must(errors.Join(w.region.SetPower("aaaaa1", "off"), w.region.Lock("aaaaa1", true)))
	n := w.calls("power_on")
	w.pass("w1", 2*time.Hour)
	if w.calls("power_on") != n {
		t.Error("it was switched on though it is locked")
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
