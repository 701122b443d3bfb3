package maasmachine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestAMaasMachineDeletedWithoutItsMachineIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.deleteOnly("w1")
	w.pass("w1", 10*time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.HeldReason)
	if w.calls("release") != 0 {
		t.Error("it was released")
	}
	wantEvents(t, w, "Held")
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Annotations[infrav1.ConfirmDeleteAnnotation] = "" })
	w.until("w1", w.goneFrom("w1"))
	if len(w.owned()) != 0 {
		t.Errorf("owned: %v", w.owned())
	}
}

func TestHopelessHardwareIsAbandoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	id := w.get("w1").Spec.SystemID
	if err := w.region.SetStatus(id, simulator.StatusRescueMode); err != nil {
		t.Fatal(err)
	}
	w.delete("w1")
	w.pass("w1", 10*time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseBlockedReason)
	w.edit("w1", func(m *infrav1.MaasMachine) {
		m.Annotations[infrav1.AbandonAnnotation] = "the BMC\nis dead" + strings.Repeat(", and so is the next", 100)
	})
	w.until("w1", w.goneFrom("w1"))
	got := w.inMAAS(id)
	reason := got.Annotations[infrav1.MachineAnnotationAbandoned]
	if !strings.HasPrefix(reason, "the BMC is dead, and so") || got.Owner != ourUser {
		t.Errorf("in MAAS: %+v", got)
	}
	told := w.told()
	if !slices.ContainsFunc(told, func(e string) bool {
		return strings.Contains(e, "Abandoned") && strings.HasSuffix(e, reason) && len(e) < 1024 // more, and the API server refuses it
	}) {
		t.Errorf("the reason is in no event: %q", told)
	}
}

func TestObjectsOfTheEarlierProviderAreHeldNotReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := errors.Join(w.region.SetOwner("aaaaa1", ourUser), w.region.SetStatus("aaaaa1", simulator.StatusDeployed)); err != nil {
		t.Fatal(err)
	}
	w.add("w1", false, func(m *infrav1.MaasMachine) {
		m.Spec.SystemID, m.Spec.ProviderID = "aaaaa1", "maas:///default/aaaaa1"
		m.Finalizers = []string{infrav1.MachineFinalizer, infrav1.EvacuationFinalizer}
	})
	stored := w.get("w1")
	stored.Status.Conditions = []metav1.Condition{{Type: "LXDReady", Status: "True"}, {Type: infrav1.MachineDeployedCondition, Status: "True"}}
	if err := w.client.Status().Update(context.Background(), stored); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.MachineNotOursReason)
	for _, c := range w.get("w1").Status.Conditions {
		if c.Type == "LXDReady" || c.Reason == "" {
			t.Errorf("still there: %+v", c)
		}
	}
	w.delete("w1")
	w.pass("w1", 5*time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseBlockedReason)
	if all := w.writes(0); len(all) > 0 {
		t.Errorf("touched: %v", all)
	}
	if err := w.region.OperatorRelease("aaaaa1"); err != nil {
		t.Fatal(err)
	}
	w.until("w1", w.goneFrom("w1"))
}

func TestDNSRefusalsHoldTheReleaseUntilItWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if strings.Contains(r.Path, "/dnsresources/") && r.Method == "PUT" {
			return simulator.Fault{Status: 503, Body: "no", ContentType: "text/plain"}
		}
		return simulator.Fault{}
	})
	w.delete("cp1")
	w.pass("cp1", 5*time.Minute)
	w.expect("cp1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.LeavingDNSReason)
	if w.calls("release") != 0 {
		t.Error("released while its address was in the record")
	}
	w.region.SetIntercept(nil)
	w.until("cp1", w.goneFrom("cp1"))
}

func TestARemovedRecordDoesNotHoldTheRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	record, _ := endpoint.RecordOf(w.maasCluster())
	if _, err := endpoint.NewPublisher(w.maas).Remove(context.Background(), record); err != nil {
		t.Fatal(err)
	}
	w.delete("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if w.record() != nil {
		t.Errorf("the record came back: %v", w.record())
	}
}

// TestOneWrongAnswerEndsNothing: a verdict that cannot be taken back needs two looks.
func TestOneWrongAnswerEndsNothing(t *testing.T) {
	t.Parallel()
	once := func(matches func(simulator.Request) bool, fault simulator.Fault) func(simulator.Request) simulator.Fault {
		spent := false
		return func(r simulator.Request) simulator.Fault {
			if spent || !matches(r) {
				return simulator.Fault{}
			}
			spent = true
			return fault
		}
	}
	ofMachine := func(r simulator.Request) bool {
		return r.Method == "GET" && strings.Contains(r.Path, "/machines/aaaaa")
	}
	for name, test := range map[string]struct {
		stored bool
		wrong  func(simulator.Request) simulator.Fault
	}{
		"the machine is not found": {true, once(ofMachine, simulator.Fault{Status: 404, Body: "No Machine matches the given query.", ContentType: "text/plain"})},
		"the machine is forbidden": {true, once(ofMachine, simulator.Fault{Status: 403, ContentType: "text/plain"})},
		"nothing carries the claim": {false, once(func(r simulator.Request) bool { return r.Query.Get("agent_name") != "" },
			simulator.Fault{Status: 200, Body: "[]", ContentType: "application/json"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if test.stored {
				w.add("w1", false)
				w.until("w1", w.provisioned("w1"))
			} else {
				w.steps = 1
				w.region.SetIntercept(dropAnswers("allocate", 1))
				w.add("w1", false)
				w.until("w1", func() bool { return w.calls("allocate") == 1 })
				w.edit("w1", func(m *infrav1.MaasMachine) { delete(m.Annotations, infrav1.ClaimAttemptAnnotation) })
				w.steps = 0
			}
			w.delete("w1")
			w.region.SetIntercept(test.wrong)
			w.until("w1", w.goneFrom("w1"))
			if owned := w.owned(); len(owned) != 0 || w.calls("release") != 1 {
				t.Errorf("owned %v after %d releases", owned, w.calls("release"))
			}
		})
	}
}
