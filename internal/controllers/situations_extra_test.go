package controllers_test

import (
	"errors"
	"testing"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const extraMachine = "aaaaa2"

// late lets MAAS take up a request for a second machine, of which nobody heard any more.
func (w *world) late() {
	w.Helper()
	w.must(errors.Join(w.region.SetOwner(extraMachine, ourUser), w.region.SetAgentName(extraMachine, w.get(worker).Annotations[infrav1.ClaimAnnotation]),
		w.region.SetStatus(extraMachine, simulator.StatusAllocated)))
}

// releaseFails leaves the extra machine as a release does that began, and failed: ours, with its annotations, and without the agent name.
func (w *world) releaseFails() {
	w.Helper()
	w.must(errors.Join(w.region.SetOwner(extraMachine, ourUser), w.region.SetAgentName(extraMachine, ""),
		w.region.SetAnnotations(extraMachine, map[string]string{infrav1.MachineAnnotationClaim: w.get(worker).Annotations[infrav1.ClaimAnnotation]}),
		w.region.SetStatus(extraMachine, simulator.StatusFailedReleasing)))
}

func (w *world) extra() simulator.MachineSnapshot {
	m, _ := w.region.Machine(extraMachine)
	return m
}

// TestAnExtraMachineIsKeptInViewUntilItIsReleased: MAAS forgets the claim when a release starts, so that one whose release fails could be lost.
func TestAnExtraMachineIsKeptInViewUntilItIsReleased(t *testing.T) {
	t.Parallel()
	releases := func(w *world, then func()) {
		done := false
		w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
			if r.Op == "release" && r.SystemID == extraMachine && !done {
				done = true
				return simulator.Fault{Committed: true, DropAnswer: true, Then: func(simulator.Request) { then() }}
			}
			return simulator.Fault{}
		})
	}
	for name, test := range map[string]struct {
		trouble, heal func(*world)
		says          string
	}{
		"MAAS refuses": {
			trouble: func(w *world) {
				w.answersOn(extraMachine, "release", 500, "Failed talking to node's BMC: IPMI authentication failed")
			},
			heal: (*world).heals,
		},
		"it is locked": {
			trouble: func(w *world) { w.must(w.region.Lock(extraMachine, true)) },
			heal:    func(w *world) { w.must(w.region.Lock(extraMachine, false)) },
		},
		"its release fails": {
			trouble: func(w *world) {
				releases(w, func() { w.releaseFails() })
			},
			heal: func(*world) {},
		},
		"its release fails, and the manager starts anew": {
			trouble: func(w *world) {
				releases(w, func() {
					w.releaseFails()
					w.must(w.region.Lock(extraMachine, true))
				})
			},
			heal: func(w *world) { w.starts(); w.must(w.region.Lock(extraMachine, false)) },
		},
	} {
		for _, deleted := range []bool{false, true} {
			if deleted {
				name += ", and the object is deleted"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.installs(worker)
				w.late()
				test.trouble(w)
				if deleted {
					w.delete(worker)
					w.pass(10 * time.Minute)
				} else {
					w.until(func() bool { return w.get(worker).Status.Initialization.Provisioned != nil })
				}
				switch m := w.extra(); {
				case m.Owner == "":
					// The trouble was over by itself.
				case !w.isThere(worker):
					t.Fatalf("the object is gone, and the extra machine is %s", m.StatusName)
				case w.get(worker).Annotations[infrav1.ExtraMachinesAnnotation] != extraMachine:
					t.Errorf("the extra machine is %s, and nobody knows of it: %v", m.StatusName, w.get(worker).Annotations)
				}
				test.heal(w)
				w.pass(15 * time.Minute)
				if m := w.extra(); m.Owner != "" || m.Status != simulator.StatusReady {
					t.Errorf("the extra machine is %s, with owner %q%s", m.StatusName, m.Owner, w.story())
				}
				if deleted {
					if w.isThere(worker) || ownedIn(w.region) != "" {
						t.Errorf("left over: %q%s", ownedIn(w.region), w.story())
					}
					return
				}
				if shows, message := w.condition(worker, "Ready"); shows != "Ready=True Ready" || message != "machine node1 (aaaaa1) in MAAS maas.example.com" {
					t.Errorf("it shows %s: %s", shows, message)
				}
				if noted := w.get(worker).Annotations[infrav1.ExtraMachinesAnnotation]; noted != "" {
					t.Errorf("noted still: %q", noted)
				}
			})
		}
	}
}

// TestAnExtraMachineThatIsNotGivenBackIsTold where people look first.
func TestAnExtraMachineThatIsNotGivenBackIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.installs(worker)
	w.late()
	w.must(w.region.Lock(extraMachine, true))
	w.pass(15 * time.Minute)
	const want = "machine node1 (aaaaa1) in MAAS maas.example.com; the claim got another one too: machine node2 (aaaaa2) in MAAS maas.example.com is locked, and MAAS refuses to release it: unlock it in MAAS"
	if shows, message := w.condition(worker, "Ready"); shows != "Ready=True Ready" || message != want {
		t.Errorf("it shows %s: %s", shows, message)
	}
}

// answersOn answers an operation on one machine.
func (w *world) answersOn(systemID, op string, status int, body string) {
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == op && r.SystemID == systemID {
			return simulator.Fault{Status: status, Body: body, ContentType: "text/plain"}
		}
		return simulator.Fault{}
	})
}
