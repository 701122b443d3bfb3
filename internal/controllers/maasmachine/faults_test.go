package maasmachine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// writes lists what was asked of MAAS that is no reading, since a point in the log.
func (w *world) writes(since int) []string {
	var all []string
	for _, r := range w.region.Requests()[since:] {
		if r.Method != "GET" {
			all = append(all, r.Method+" "+r.Path+" "+r.Op)
		}
	}
	return all
}

func TestAMachineThatSomebodyElseTookIsNeverTouched(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *world, id string) error{
		"released by an operator": func(w *world, id string) error { return w.region.OperatorRelease(id) },
		"taken by another user": func(w *world, id string) error {
			return errors.Join(w.region.SetOwner(id, otherUser), w.takeAsUs(id, nil))
		},
		"deleted from MAAS": func(w *world, id string) error { return w.region.OperatorDelete(id) },
		"claimed by another program of ours": func(w *world, id string) error {
			return w.takeAsUs(id, map[string]string{infrav1.MachineAnnotationClaim: "theirs"})
		},
		"used by hand, under our user's name": func(w *world, id string) error { return w.takeAsUs(id, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("w1", false)
			w.until("w1", w.provisioned("w1"))
			id := w.get("w1").Spec.SystemID
			if err := take(w, id); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Minute) // a release is over
			start := len(w.region.Requests())
			w.pass("w1", 10*time.Minute)
			if c := conditions.Get(w.get("w1"), infrav1.MachineReadyCondition); c.Status != "False" || c.Reason != infrav1.MachineNotOursReason && c.Reason != infrav1.MachineNotFoundReason {
				t.Errorf("the condition does not say so: %s", w.story("w1"))
			}
			if len(w.get("w1").Status.Addresses) != 0 {
				t.Error("its addresses are shown as this machine's")
			}
			w.delete("w1")
			w.until("w1", w.goneFrom("w1"))
			if all := w.writes(start); len(all) > 0 {
				t.Errorf("touched: %v", all)
			}
		})
	}
}

// takeAsUs is another program with the same user: it has another agent name, and its own annotations.
func (w *world) takeAsUs(id string, annotations map[string]string) error {
	return errors.Join(w.region.SetAgentName(id, "another"), w.region.SetAnnotations(id, annotations))
}

// TestAKeyOfAnotherUserLosesNoMachine: nobody can take a machine from its owner without a release, which wipes annotations. To users
// who are no administrators MAAS does not even show it.
func TestAKeyOfAnotherUserLosesNoMachine(t *testing.T) {
	t.Parallel()
	const key = "another:users:key"
	for name, admin := range map[string]bool{"administrators": true, "plain users": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) {
				c.Users[0].Admin = admin
				c.Users = append(c.Users, simulator.User{Name: "second", APIKey: key, Admin: admin})
			})
			w.add("w1", false)
			w.until("w1", w.provisioned("w1"))
			rightful, start := w.maas, len(w.region.Requests())
			w.maas, _ = maas.New(maas.Config{Endpoint: rightful.Endpoint(), APIKey: key, Now: w.clock.Now})
			w.pass("w1", 5*time.Minute)
			// Not one of the reasons for which its address would be taken out of DNS.
			w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.MachineOfAnotherUserReason)
			w.delete("w1")
			w.pass("w1", 5*time.Minute)
			w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseBlockedReason)
			w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.MachineOfAnotherUserReason)
			if all := w.writes(start); len(all) > 0 {
				t.Errorf("touched: %v", all)
			}
			w.maas = rightful
			w.until("w1", w.goneFrom("w1"))
			if len(w.owned()) != 0 {
				t.Errorf("owned: %v", w.owned())
			}
		})
	}
}

// TestAMachineReleasedJustBeforeItsDeployIsNotLost: MAAS acquires a Ready machine that it is to deploy.
func TestAMachineReleasedJustBeforeItsDeployIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	released := false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "deploy" && !released {
			released = true
			if err := w.region.OperatorRelease(w.get("w1").Spec.SystemID); err != nil {
				t.Error(err)
			}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if owned := w.owned(); len(owned) != 0 {
		t.Errorf("owned: %v", owned)
	}
}

func TestAMachineThatLeftDeployedIsNotDeployedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	id := w.get("w1").Spec.SystemID
	for _, status := range []simulator.Status{simulator.StatusAllocated, simulator.StatusBroken, simulator.StatusRescueMode, simulator.StatusFailedDeployment} {
		if err := w.region.SetStatus(id, status); err != nil {
			t.Fatal(err)
		}
		w.pass("w1", 3*time.Minute)
		w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.MachineLeftDeployedReason)
	}
	if n := w.calls("deploy"); n != 1 {
		t.Errorf("deployed %d times", n)
	}
	if err := w.region.SetStatus(id, simulator.StatusDeployed); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
}

func TestAFailedDeploymentIsShownAndReleasedWithItsMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, tries(1))
	w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
	id := w.get("w1").Spec.SystemID
	if err := w.region.FailDeployment(id, "curtin: no disk"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 5*time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.DeployFailedReason)
	if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(m, "curtin: no disk") || !strings.Contains(m, "delete Machine w1 in Kubernetes") {
		t.Errorf("message: %s", m)
	}
	if w.calls("deploy") != 1 || w.calls("release") != 0 {
		t.Errorf("%d deploys, %d releases", w.calls("deploy"), w.calls("release"))
	}
	wantEvents(t, w, "DeployFailed")
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if len(w.owned()) != 0 {
		t.Errorf("owned: %v", w.owned())
	}
}

func TestMAASAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	away := func(simulator.Request) simulator.Fault {
		return simulator.Fault{Status: 502, Body: "<html>", ContentType: "text/html"}
	}
	w.region.SetIntercept(away)
	w.pass("w1", 5*time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
	if len(w.get("w1").Status.Addresses) == 0 {
		t.Error("the addresses went, though nothing was learned")
	}
	w.delete("w1")
	w.pass("w1", 30*time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.MAASUnreachableReason)
	w.region.SetIntercept(nil)
	w.until("w1", w.goneFrom("w1"))
	if len(w.owned()) != 0 {
		t.Errorf("owned: %v", w.owned())
	}
}

func TestAManagerThatEndsSaysNothingOfMAAS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", func() bool { return conditions.Has(w.get("w1"), clusterv1.PausedCondition) })
	before := w.get("w1").Status
	ctx, end := context.WithCancel(t.Context())
	w.region.SetIntercept(func(simulator.Request) simulator.Fault {
		end()
		return simulator.Fault{DropAnswer: true}
	})
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "w1"}}
	if _, err := w.reconciler().Reconcile(ctx, request); err != nil {
		t.Error(err)
	}
	if ctx.Err() == nil {
		t.Fatal("MAAS was not asked")
	}
	if after := w.get("w1").Status; !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("the status changed: %s", w.story("w1"))
	}
}

func TestPowerIsSwitchedOnOnceItWasOffForLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	id := w.get("w1").Spec.SystemID
	if err := w.region.SetPower(id, "off"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 4*time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionUnknown, infrav1.PoweredOffReason)
	if n := w.calls("power_on"); n != 0 {
		t.Fatalf("switched on %d times within the grace time", n)
	}
	w.pass("w1", 4*time.Minute)
	if n := w.calls("power_on"); n != 1 {
		t.Errorf("switched on %d times", n)
	}
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
	wantEvents(t, w, "PoweredOn")
}

func TestAPausedObjectIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	w.pass("w1", 2*time.Minute)
	if len(w.region.Requests()) != 0 {
		t.Errorf("asked MAAS: %v", w.region.Requests())
	}
	w.expect("w1", clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
	w.edit("w1", func(m *infrav1.MaasMachine) { delete(m.Annotations, clusterv1.PausedAnnotation) })
	w.until("w1", w.provisioned("w1"))
}

func TestStatusIsRebuiltAfterAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	w.pass("cp1", time.Minute)
	before := w.get("cp1").DeepCopy()
	m := w.get("cp1")
	m.Status = infrav1.MaasMachineStatus{}
	if err := w.client.Status().Update(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	start := len(w.region.Requests())
	w.pass("cp1", time.Minute)
	after := w.get("cp1")
	if !*after.Status.Initialization.Provisioned || after.Status.FailureDomain != before.Status.FailureDomain || len(after.Status.Addresses) != len(before.Status.Addresses) {
		t.Errorf("before %+v\nafter %+v", before.Status, after.Status)
	}
	w.expect("cp1", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
	if all := w.writes(start); len(all) > 0 {
		t.Errorf("touched: %v", all)
	}
}

func TestUserDataReachesTheMachineAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Image, m.Spec.DeployInMemory = "ubuntu/jammy", true })
	w.until("w1", w.provisioned("w1"))
	for _, r := range w.region.Requests() {
		if r.Op == "deploy" && (r.Form.Get("distro_series") != "ubuntu/jammy" || r.Form.Get("ephemeral_deploy") != "true") {
			t.Errorf("deployed with %v", r.Form)
		}
	}
	for _, e := range w.told() {
		if strings.Contains(e, userData) {
			t.Errorf("user data in an event: %s", e)
		}
	}
}

func TestAtRestNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	w.pass("cp1", time.Minute)
	version, start := w.get("cp1").ResourceVersion, len(w.region.Requests())
	w.pass("cp1", 10*time.Minute)
	if got := w.get("cp1").ResourceVersion; got != version {
		t.Errorf("the object was written: version %s became %s", version, got)
	}
	if all := w.writes(start); len(all) > 0 {
		t.Errorf("MAAS was written to: %v", all)
	}
}
