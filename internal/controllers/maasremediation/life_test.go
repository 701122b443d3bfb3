package maasremediation

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// healed is a life in which the last power cycle that is allowed helps.
func healed(w *world) {
	w.Helper()
	w.heals = w.limit()
	w.until(2*time.Hour, w.over)
	w.pass(5 * time.Minute)
	p, m := w.progress(), w.inMAAS("aaaaa1")
	if !w.over() || p.GaveUp != nil || p.KeepsOff() || m.Status != simulator.StatusDeployed || m.PowerState != "on" || m.Owner != ourUser {
		w.Errorf("not healed:%s", w.story())
	}
	if len(p.Cycles) != w.limit() {
		w.Errorf("%d power cycles were written down:%s", len(p.Cycles), w.story())
	}
}

// replacedInTheEnd is a life in which nothing helps.
func replacedInTheEnd(w *world) {
	w.Helper()
	w.heals = 100
	w.until(4*time.Hour, w.replaced)
	m := w.inMAAS("aaaaa1")
	if m.Status != simulator.StatusBroken || m.PowerState != "off" || m.Owner != "" || w.calls("release", "aaaaa1") > 0 {
		w.Errorf("not marked broken:%s", w.story())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.ons["aaaaa1"]; n != w.limit() {
		w.Errorf("switched on %d times", n)
	}
}

func (w *world) limit() int {
	if n := w.strategy.RetryLimit; n != nil {
		return int(*n)
	}
	return defaultRetryLimit
}

func TestAMachineIsHealed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.4.10", "3.5.13", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) { c.Version = version })
			defer w.close()
			healed(w)
			w.holds()
			if w.calls("power_off", "aaaaa1") != 2 || w.calls("power_on", "aaaaa1") != 2 {
				t.Errorf("switched more often than needed:%s", w.story())
			}
			for _, event := range []string{"RemediationStarted", "MachinePowerCycled"} {
				if !w.wasTold(event) {
					t.Errorf("nobody told %s:%s", event, w.story())
				}
			}
		})
	}
}

func TestAMachineThatDoesNotHealIsReplaced(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.4.10", "3.5.13", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) { c.Version = version })
			defer w.close()
			replacedInTheEnd(w)
			w.holds()
			for _, event := range []string{"RemediationGaveUp", "ReplacementRequested", "MarkedBroken"} {
				if !w.wasTold(event) {
					t.Errorf("nobody told %s:%s", event, w.story())
				}
			}
		})
	}
}

// TestKilledAtEveryWrite lives both lives once for each write that they make, to MAAS and to Kubernetes, and for each way in which it can go
// wrong. A status is made anew, so its writes are not struck.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	once := int32(1)
	hurried := func(t *testing.T) *world {
		w := newWorld(t)
		w.strategy = infrav1.RemediationStrategy{
			RetryLimit: &once, Timeout: &metav1.Duration{Duration: 5 * time.Minute}, CoolDown: &metav1.Duration{Duration: time.Minute},
		}
		return w
	}
	for name, life := range map[string]func(*world){"healed": healed, "replaced": replacedInTheEnd} {
		first := hurried(t)
		life(first)
		first.close()
		if first.writes < 6 {
			t.Fatalf("%s: only %d writes", name, first.writes)
		}
		for at := 1; at <= first.writes; at++ {
			for _, way := range []way{before, after, lostAnswer} {
				t.Run(fmt.Sprintf("%s, %s write %d", name, way, at), func(t *testing.T) {
					t.Parallel()
					w := hurried(t)
					defer w.close()
					w.blow = blow{at, way}
					life(w)
					w.holds()
					if w.struckAt == "" {
						t.Errorf("there was no write %d", at)
					}
					if way != lostAnswer && w.managers != 2 {
						t.Errorf("there were %d managers", w.managers)
					}
				})
			}
		}
	}
}
