package maasmachine

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
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
		"given to another user":   func(w *world, id string) error { return w.region.SetOwner(id, otherUser) },
		"deleted from MAAS":       func(w *world, id string) error { return w.region.OperatorDelete(id) },
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
	w.add("w1", false)
	w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
	id := w.get("w1").Spec.SystemID
	if err := w.region.FailDeployment(id, "curtin: no disk"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 5*time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.DeployFailedReason)
	if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(m, "curtin: no disk") || !strings.Contains(m, "delete the Machine") {
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

func TestAClaimMadeTwiceEndsWithOneMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.steps = 1
	w.add("w1", false)
	w.until("w1", func() bool { return w.get("w1").Spec.SystemID != "" })
	// An allocation of this claim that took effect much later.
	kept := w.get("w1").Spec.SystemID
	late := "aaaaa2"
	if late == kept {
		late = "aaaaa3"
	}
	err := errors.Join(w.region.SetOwner(late, ourUser), w.region.SetAgentName(late, w.get("w1").Annotations[infrav1.ClaimAnnotation]), w.region.SetStatus(late, simulator.StatusAllocated))
	if err != nil {
		t.Fatal(err)
	}
	w.until("w1", w.provisioned("w1"))
	w.clock.Advance(time.Minute)
	if owned := w.owned(); len(owned) != 1 || owned[0] != kept {
		t.Errorf("owned %v, want %s", owned, kept)
	}
}

func TestNothingFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.MinCPU = 64 })
	w.pass("w1", 5*time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.NoMachineAvailableReason)
	if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); m != "no machine available: none has 64 cores" {
		t.Errorf("message: %s", m)
	}
	if _, blocked := w.get("w1").Annotations[clusterctlv1.BlockMoveAnnotation]; blocked || w.calls("allocate") != 0 {
		t.Error("something was tried, or a move is blocked")
	}
	wantEvents(t, w, "NoMachineAvailable")
	if _, err := w.region.AddMachine(simulator.Machine{Hostname: "big", Cores: 64}); err != nil {
		t.Fatal(err)
	}
	w.until("w1", w.provisioned("w1"))
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
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Annotations[infrav1.AbandonAnnotation] = "the BMC is dead" })
	w.until("w1", w.goneFrom("w1"))
	if got := w.inMAAS(id); got.Annotations[infrav1.MachineAnnotationAbandoned] != "the BMC is dead" || got.Owner != ourUser {
		t.Errorf("in MAAS: %+v", got)
	}
	wantEvents(t, w, "Abandoned")
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

func TestACopiedClaimDoesNotShareAMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.add("w2", false, func(m *infrav1.MaasMachine) {
		m.Annotations = map[string]string{infrav1.ClaimAnnotation: w.get("w1").Annotations[infrav1.ClaimAnnotation]}
	})
	w.pass("w2", time.Minute)
	w.expect("w2", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.InvalidClaimReason)
	w.add("w3", false, func(m *infrav1.MaasMachine) {
		m.Annotations = map[string]string{infrav1.ClaimAnnotation: w.get("w1").Annotations[infrav1.ClaimAnnotation]}
		m.Spec.SystemID = w.get("w1").Spec.SystemID
	})
	for _, name := range []string{"w2", "w3"} {
		w.reconcile(name)
		w.delete(name)
		w.until(name, w.goneFrom(name))
	}
	if len(w.owned()) != 1 || w.calls("release") != 0 {
		t.Errorf("owned %v after %d releases", w.owned(), w.calls("release"))
	}
}

// TestADecisionFromAnOldCopyDoesNotPass: caches lag, and may show an object as it was before its claim.
func TestADecisionFromAnOldCopyDoesNotPass(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]func(*infrav1.MaasMachine){
		"from before the claim": func(old *infrav1.MaasMachine) {
			delete(old.Annotations, infrav1.ClaimAnnotation)
			old.Spec.SystemID = ""
		},
		"from before the system ID was stored": func(old *infrav1.MaasMachine) { old.Spec.SystemID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("w1", false)
			w.until("w1", w.provisioned("w1"))
			stored := w.get("w1")
			old := stored.DeepCopy()
			age(old)
			old.Spec.ProviderID, old.ResourceVersion = "", "1"
			r := w.reconciler()
			r.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if m, is := o.(*infrav1.MaasMachine); is {
						old.DeepCopyInto(m)
						return nil
					}
					return c.Get(ctx, key, o, opts...)
				},
			})
			start := len(w.region.Requests())
			if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(old)}); err != nil {
				t.Fatal(err)
			}
			if all := w.writes(start); len(all) > 0 {
				t.Errorf("acted on an old copy: %v", all)
			}
			if now := w.get("w1"); !reflect.DeepEqual(now.Annotations, stored.Annotations) || !reflect.DeepEqual(now.Spec, stored.Spec) {
				t.Errorf("wrote over what is stored: %+v", now)
			}
		})
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

func TestIgnitionIsRefusedBeforeAnythingIsClaimed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	secret := &corev1.Secret{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "w1-bootstrap"}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["format"] = []byte("ignition")
	if err := w.client.Update(context.Background(), secret); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.UnsupportedBootstrapFormatReason)
	if len(w.region.Requests()) != 0 {
		t.Error("MAAS was asked for something")
	}
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

// TestKilledBetweenMAASAndKubernetes: MAAS did it, and nobody could write that down.
func TestKilledBetweenMAASAndKubernetes(t *testing.T) {
	t.Parallel()
	for _, deleteAfter := range []bool{false, true} {
		w := newWorld(t)
		w.add("w1", false)
		for range 2 { // the finalizer, and Paused
			w.reconcile("w1")
		}
		r := w.reconciler()
		r.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if m, is := o.(*infrav1.MaasMachine); is && m.Spec.SystemID != "" {
					return errors.New("the API server is away")
				}
				return c.Patch(ctx, o, p, opts...)
			},
		})
		if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "w1"}}); err == nil {
			t.Fatal("the write did not fail")
		}
		if len(w.owned()) != 1 || w.get("w1").Spec.SystemID != "" {
			t.Fatalf("owned %v, stored %q", w.owned(), w.get("w1").Spec.SystemID)
		}
		if deleteAfter {
			w.delete("w1")
			w.until("w1", w.goneFrom("w1"))
			if len(w.owned()) != 0 {
				t.Errorf("owned after the deletion: %v", w.owned())
			}
			continue
		}
		w.until("w1", w.provisioned("w1"))
		if len(w.owned()) != 1 || w.calls("allocate") != 1 {
			t.Errorf("owned %v after %d allocates", w.owned(), w.calls("allocate"))
		}
		wantEvents(t, w, "MachineAdopted")
	}
}
