package controllers_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// other is a MAAS that the manager was pointed at, and that knows nothing of our machines.
const other = "http://other.example.com/MAAS"

// pointsAtOther restarts the manager with the endpoint of another MAAS, which has one free machine of its own.
func (w *world) pointsAtOther() *simulator.Region {
	w.Helper()
	region, err := simulator.New(simulator.Config{
		Clock: w.clock, PublicURL: other,
		Users:    []simulator.User{{Name: ourUser, APIKey: ourKey, Admin: true}},
		Pools:    []simulator.Pool{{Name: "workers"}},
		Zones:    []simulator.Zone{{Name: "rack1"}},
		Images:   []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/u-2404"}},
		Machines: []simulator.Machine{{Hostname: "stranger", SystemID: "zzzzz9", Pool: "workers", Zone: "rack1", Tags: []string{"ssd"}}},
	})
	w.must(err)
	w.network.leadsTo(w.serve(region))
	w.endpoint = other
	w.starts()
	return region
}

// pointsBack restarts the manager with the endpoint that it had.
func (w *world) pointsBack() {
	w.Helper()
	w.network.leadsTo(nil)
	w.endpoint = "http://maas.example.com/MAAS"
	w.starts()
}

// renamed restarts the manager with another name of the same MAAS.
func (w *world) renamed() {
	w.Helper()
	w.endpoint = "http://maas.internal/MAAS"
	w.starts()
}

func (w *world) isThere(name string) bool {
	err := w.client.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &infrav1.MaasMachine{})
	return !apierrors.IsNotFound(err)
}

// ownedIn lists the machines of our user in a region.
func ownedIn(region *simulator.Region) string {
	var ids []string
	for _, m := range region.Snapshot().Machines {
		if m.Owner == ourUser {
			ids = append(ids, m.SystemID)
		}
	}
	return strings.Join(ids, " ")
}

// unanswered lets the next allocation take effect, and its answer get lost; MAAS is away then.
func (w *world) unanswered() {
	w.Helper()
	w.stands()
	lost := false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" && !lost {
			lost = true
			return simulator.Fault{DropAnswer: true}
		}
		if lost {
			return simulator.Fault{Status: 503}
		}
		return simulator.Fault{}
	})
	w.add(worker)
	w.until(func() bool { return ownedIn(w.region) != "" })
	w.look()
	w.region.SetIntercept(nil)
}

// TestAManagerThatLooksInTheWrongPlaceLosesNothing: what its MAAS, or its MAAS user, does not see may be there all the same. No machine is
// given up, no second one is claimed and no object goes, until it looks in the right place again.
func TestAManagerThatLooksInTheWrongPlaceLosesNothing(t *testing.T) {
	t.Parallel()
	lives := map[string]func(*world){
		"an answer is missing": (*world).unanswered,
		"claimed":              func(w *world) { w.claims(worker) },
		"being installed":      func(w *world) { w.installs(worker) },
		"runs":                 func(w *world) { w.runs(worker) },
	}
	places := map[string]struct {
		leave func(*world) *simulator.Region
		back  func(*world)
		shows string
	}{
		"another MAAS": {(*world).pointsAtOther, (*world).pointsBack, "MachineAllocated=False MachineInAnotherMAAS"},
		"another administrator": {
			func(w *world) *simulator.Region { w.startsWith(secondKey); return w.region }, func(w *world) { w.startsWith(ourKey) },
			"MachineAllocated=False MachineOfAnotherUser",
		},
		"another plain user": {
			func(w *world) *simulator.Region { w.startsWith("a:b:c"); return w.region }, func(w *world) { w.startsWith(ourKey) },
			"MachineAllocated=False MachineOfAnotherUser",
		},
	}
	for life, lives := range lives {
		for place, p := range places {
			for _, deleted := range []bool{false, true} {
				name := life + ", " + place
				if deleted {
					name += ", deleted there"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, nil)
					lives(w)
					before := ownedIn(w.region)
					there := p.leave(w)
					if deleted {
						w.delete(worker)
					}
					w.pass(20 * time.Minute)
					if !w.isThere(worker) {
						t.Fatalf("the object is gone, and MAAS has %q still", ownedIn(w.region))
					}
					if got := ownedIn(w.region); got != before {
						t.Errorf("in MAAS %q is ours, and was %q", got, before)
					}
					if got := ownedIn(there); there != w.region && got != "" {
						t.Errorf("%q was claimed in the other MAAS", got)
					}
					if shows, message := w.condition(worker, "MachineAllocated"); shows != p.shows {
						t.Errorf("it shows %s: %s", shows, message)
					}
					if shows, message := w.condition(worker, "Deleting"); deleted && shows != "Deleting=True ReleaseBlocked" {
						t.Errorf("it shows %s: %s", shows, message)
					}
					p.back(w)
					if deleted {
						w.until(func() bool { return !w.isThere(worker) })
						w.pass(time.Minute)
						if got := ownedIn(w.region); got != "" {
							t.Errorf("%q is left over", got)
						}
						return
					}
					w.until(func() bool { return w.get(worker).Status.Initialization.Provisioned != nil })
					if got := ownedIn(w.region); got != before {
						t.Errorf("in MAAS %q is ours, and was %q", got, before)
					}
				})
			}
		}
	}
}

// TestAMAASMayGetAnotherName: the machine is found there, and that is written down.
func TestAMAASMayGetAnotherName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.runs(worker)
	w.renamed()
	w.pass(5 * time.Minute)
	if shows, message := w.condition(worker, "Ready"); shows != "Ready=True Ready" {
		t.Fatalf("it shows %s: %s", shows, message)
	}
	if got := w.get(worker).Annotations[infrav1.HostAnnotation]; got != "maas.internal" {
		t.Errorf("its MAAS is %q", got)
	}
	w.must(w.region.OperatorRelease("aaaaa1"))
	w.pass(15 * time.Minute)
	if shows, _ := w.condition(worker, "MachineAllocated"); shows != "MachineAllocated=False MachineNotOurs" {
		t.Errorf("it shows %s", shows)
	}
}

// TestAnOlderObjectLearnsWhereItsMachineIs: one that was made before that was written down.
func TestAnOlderObjectLearnsWhereItsMachineIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.runs(worker)
	edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) {
		delete(m.Annotations, infrav1.HostAnnotation)
		delete(m.Annotations, infrav1.UserAnnotation)
	})
	w.pass(2 * time.Minute)
	now := w.get(worker).Annotations
	if now[infrav1.HostAnnotation] != "maas.example.com" || now[infrav1.UserAnnotation] != ourUser {
		t.Errorf("it did not: %v", now)
	}
}
