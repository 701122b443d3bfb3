package maasmachine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
)

// share lets the reconcilers of a world have one inventory, which is kept up as long as time passes with watch, and one publisher.
func (w *world) share() {
	w.inventory, w.publisher = inventory.New(w.maas, w.clock.Now), endpoint.NewPublisher(w.maas)
	w.publisher.Now = w.clock.Now
}

// watch lets time pass in which the shared view is kept, and reconciles as often as the reconciler asks for it.
func (w *world) watch(name string, d time.Duration) {
	w.Helper()
	var due time.Time
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); w.clock.Advance(time.Second) {
		w.inventory.Step(context.Background())
		if !w.clock.Now().Before(due) {
			due = w.clock.Now().Add(w.reconcile(name).RequeueAfter)
		}
	}
}

// looks counts the requests for one machine since the n-th request.
func (w *world) looks(since int, systemID string) (n int) {
	for _, r := range w.region.Requests()[since:] {
		if r.Method == "GET" && strings.HasSuffix(r.Path, "/machines/"+systemID+"/") {
			n++
		}
	}
	return n
}

// restingMachine is deployed, has its Node, and is shown by the shared view.
func restingMachine(t *testing.T, controlPlane bool) (w *world, systemID string) {
	t.Helper()
	w = newWorld(t)
	w.share()
	w.add("m", controlPlane)
	w.watch("m", 10*time.Minute)
	if !w.provisioned("m")() {
		t.Fatalf("not provisioned: %s", w.story("m"))
	}
	return w, w.get("m").Spec.SystemID
}

func TestAMachineAtRestCostsNoRequestOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, controlPlane := range map[string]bool{"a worker": false, "a control plane's": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := restingMachine(t, controlPlane)
			start := len(w.region.Requests())
			w.watch("m", time.Hour)
			own := map[string]int{}
			for _, r := range w.region.Requests()[start:] {
				switch {
				case r.Op == "query", r.Op == "whoami", strings.HasSuffix(r.Path, "/machines/"):
					// The event log, who we are, and batches: these are the same for any number of machines.
				default:
					own[r.Method+" "+r.Path]++
				}
			}
			// The record is the MaasCluster's to look after, whose reconciler is not here.
			if n := own["GET /MAAS/api/2.0/dnsresources/"]; n > 7 {
				t.Errorf("the record was read %d times in an hour", n)
			}
			delete(own, "GET /MAAS/api/2.0/dnsresources/")
			if len(own) > 0 {
				t.Errorf("in an hour MAAS was asked: %v", own)
			}
			w.expect("m", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
		})
	}
}

func TestWhatAnOperatorDoesIsSeenWithinSeconds(t *testing.T) {
	t.Parallel()
	w, id := restingMachine(t, false)
	if err := w.region.OperatorRelease(id); err != nil {
		t.Fatal(err)
	}
	// The view hears of it from the event log, and drops what it knew.
	w.clock.Advance(6 * time.Second)
	w.inventory.Step(context.Background())
	start := len(w.region.Requests())
	w.reconcile("m")
	w.expect("m", infrav1.MachineDeployedCondition, metav1.ConditionFalse, infrav1.MachineLeftDeployedReason)
	if n := w.looks(start, id); n != 1 {
		t.Errorf("the machine was read %d times", n)
	}
}

func TestNothingIsDoneOnTheWordOfTheSharedView(t *testing.T) {
	t.Parallel()
	w, id := restingMachine(t, false)
	// The view sees the machine off for long enough to be switched on.
	if err := w.region.SetPower(id, "off"); err != nil {
		t.Fatal(err)
	}
	w.watch("m", 14*time.Minute)
	w.told()
	if w.calls("power_on") != 1 {
		t.Fatalf("not switched on: %s", w.story("m"))
	}
	// Somebody takes it in a way that no event tells of, and it is off again.
	if err := w.region.SetPower(id, "off"); err != nil {
		t.Fatal(err)
	}
	w.watch("m", 4*time.Minute)
	if err := w.region.SetOwner(id, otherUser); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.region.SetAnnotations(id, nil), w.region.SetAgentName(id, "")); err != nil {
		t.Fatal(err)
	}
	w.watch("m", 20*time.Minute)
	w.expect("m", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.MachineNotOursReason)
	if n := w.calls("power_on"); n != 1 {
		t.Errorf("a machine of somebody else was switched on (%d calls)", n)
	}
}
