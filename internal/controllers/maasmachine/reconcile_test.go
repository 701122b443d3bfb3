package maasmachine

import (
	"context"
	"errors"
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
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestMachineIsClaimedDeployedAndReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.region.Snapshot().WithoutHistory()
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.reconcile("w1")

	got := w.get("w1")
	inMAAS := w.inMAAS(got.Spec.SystemID)
	if got.Spec.ProviderID != "maas:///default/"+got.Spec.SystemID {
		t.Errorf("provider ID %q", got.Spec.ProviderID)
	}
	if inMAAS.Image != "custom/u-2404" || inMAAS.AgentName != got.Annotations[infrav1.ClaimAnnotation] ||
		inMAAS.Annotations[infrav1.MachineAnnotationClaim] != inMAAS.AgentName || inMAAS.Annotations[infrav1.MachineAnnotationMachine] != "default.w1" ||
		inMAAS.Annotations[infrav1.MachineAnnotationCluster] != "default.c1" {
		t.Errorf("in MAAS: %+v", inMAAS)
	}
	if got.Status.FailureDomain != "default" || got.Status.MachineState != "Deployed" || got.Status.PowerState != "on" || got.Status.Hostname != inMAAS.Hostname {
		t.Errorf("status: %+v", got.Status)
	}
	if len(got.Status.Addresses) != 3 || got.Status.Addresses[0].Address != inMAAS.Addresses[0] {
		t.Errorf("addresses: %+v", got.Status.Addresses)
	}
	if _, blocked := got.Annotations[clusterctlv1.BlockMoveAnnotation]; blocked {
		t.Error("the object still blocks a move")
	}
	w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
	w.expect("w1", infrav1.MachineNodeLinkedCondition, metav1.ConditionFalse, infrav1.WaitingForNodeReason)
	wantEvents(t, w, "MachineAllocated", "DeployStarted", "Deployed")

	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	wantEvents(t, w, "ReleaseStarted", "Released")
	after := w.region.Snapshot().WithoutHistory()
	for i := range after.Machines {
		if a, b := after.Machines[i], before.Machines[i]; a.Status != b.Status || a.Owner != b.Owner || len(a.Annotations) != 0 || len(a.Addresses) != 0 || a.PowerState != b.PowerState {
			t.Errorf("left behind: %+v", a)
		}
	}
	if n := w.calls("release"); n != 1 {
		t.Errorf("%d releases, want 1", n)
	}
}

func wantEvents(t *testing.T, w *world, reasons ...string) {
	t.Helper()
	told := strings.Join(w.told(), "\n")
	for _, reason := range reasons {
		if !strings.Contains(told, " "+reason+" ") {
			t.Errorf("no event %s in:\n%s", reason, told)
		}
	}
}

func TestKilledBetweenAnyTwoStepsOneMachineIsClaimed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.steps = 1
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	w.pass("cp1", 2*time.Minute)
	if owned := w.owned(); len(owned) != 1 || w.calls("allocate") != 1 || w.calls("deploy") != 1 {
		t.Errorf("owned %v after %d allocates, %d deploys", owned, w.calls("allocate"), w.calls("deploy"))
	}
	w.delete("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if owned := w.owned(); len(owned) != 0 || w.calls("release") != 1 {
		t.Errorf("owned %v after %d releases", owned, w.calls("release"))
	}
}

// dropAnswers loses the answers of the first n requests of an operation, after they took effect.
func dropAnswers(op string, n int) func(simulator.Request) simulator.Fault {
	return func(r simulator.Request) simulator.Fault {
		if r.Op == op && r.Method == "POST" && n > 0 {
			n--
			return simulator.Fault{DropAnswer: true}
		}
		return simulator.Fault{}
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"allocate", "deploy", "release", "set_workload_annotations"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.region.SetIntercept(dropAnswers(op, 1))
			w.add("w1", false)
			w.until("w1", w.provisioned("w1"))
			if owned := w.owned(); len(owned) != 1 {
				t.Errorf("owned %v", owned)
			}
			w.delete("w1")
			w.until("w1", w.goneFrom("w1"))
			if owned := w.owned(); len(owned) != 0 {
				t.Errorf("owned after the release: %v", owned)
			}
			if n := w.calls(op); op != "set_workload_annotations" && n != 1 {
				t.Errorf("%s was asked for %d times, once was enough", op, n)
			}
		})
	}
}

func TestDeletedAfterALostAllocateTheMachineIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.steps = 1
	w.region.SetIntercept(dropAnswers("allocate", 1))
	w.add("w1", false)
	w.until("w1", func() bool { return w.calls("allocate") == 1 })
	if w.get("w1").Spec.SystemID != "" {
		t.Fatal("the answer was not lost")
	}
	if _, blocked := w.get("w1").Annotations[clusterctlv1.BlockMoveAnnotation]; !blocked {
		t.Error("the object does not block a move while the outcome is unknown")
	}
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if owned := w.owned(); len(owned) != 0 || w.calls("release") != 1 {
		t.Errorf("owned %v after %d releases", owned, w.calls("release"))
	}
}

func TestAnAllocateThatNeverArrivedIsAskedForAgainOnTheSameMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refusals := 3
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" && refusals > 0 {
			refusals--
			return simulator.Fault{Status: 504, Body: "<html>gateway timeout</html>", ContentType: "text/html"}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	asked := map[string]bool{}
	for _, r := range w.region.Requests() {
		if r.Op == "allocate" {
			asked[r.Form.Get("system_id")] = true
		}
	}
	if len(asked) != 1 || len(w.owned()) != 1 {
		t.Errorf("asked for %v, own %v", asked, w.owned())
	}
}

func TestTakenCandidatesArePassedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" && r.Form.Get("system_id") != "aaaaa3" {
			return simulator.Fault{Status: 409, Body: "No machine with system ID x available.", ContentType: "text/plain; charset=utf-8"}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.reconcile("w1")
	w.reconcile("w1")
	w.reconcile("w1")
	if got := w.get("w1").Spec.SystemID; got != "aaaaa3" {
		t.Errorf("claimed %q", got)
	}
}

func TestARefusedClaimIsShownInMAASsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" {
			return simulator.Fault{Status: 400, Body: "agent_name: it is not to our taste", ContentType: "text/plain; charset=utf-8"}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.until("w1", func() bool { return w.calls("allocate") > 0 })
	w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.ClaimRefusedReason)
	if told := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(told, "it is not to our taste") {
		t.Errorf("Ready says %q", told)
	}
	if asked := w.calls("allocate"); asked != 1 {
		t.Errorf("%d machines were asked for in one go", asked)
	}
	wantEvents(t, w, "ClaimRefused")
}

func TestFirstControlPlaneMachineJoinsDNSBeforeItIsDeployed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", func() bool { return len(w.record()) == 1 })
	cp1 := w.inMAAS(w.get("cp1").Spec.SystemID)
	if cp1.Status != simulator.StatusDeploying || w.record()[0] != cp1.Addresses[0] {
		t.Errorf("joined in state %s, record %v", cp1.StatusName, w.record())
	}
	w.until("cp1", w.provisioned("cp1"))
	w.expect("cp1", infrav1.MachineDNSAttachedCondition, metav1.ConditionTrue, infrav1.DNSAttachedReason)

	// A second one joins when its API server serves.
	w.editCluster(func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = ptr(true) })
	w.add("cp2", true)
	w.until("cp2", w.provisioned("cp2"))
	w.pass("cp2", 2*time.Minute)
	if len(w.record()) != 1 {
		t.Errorf("joined before it served: %v", w.record())
	}
	w.expect("cp2", infrav1.MachineDNSAttachedCondition, metav1.ConditionFalse, infrav1.DNSAttachPendingReason)
	w.expect("cp2", infrav1.MachineReadyCondition, metav1.ConditionTrue, "Ready")
	w.probed = func(string) bool { return true }
	w.until("cp2", func() bool { return len(w.record()) == 2 })

	// The first leaves when its Machine goes, before anybody deletes the MaasMachine.
	w.deleteOwner("cp1")
	w.until("cp1", func() bool { return len(w.record()) == 1 })
	if w.inMAAS(cp1.SystemID).Status != simulator.StatusDeployed {
		t.Error("released before it was deleted")
	}
	w.expect("cp1", infrav1.MachineDNSAttachedCondition, metav1.ConditionFalse, infrav1.DNSForgettingReason)
	w.until("cp1", func() bool { return !w.isHooked("cp1") })
	w.reconcile("cp1")
	w.expect("cp1", infrav1.MachineDNSAttachedCondition, metav1.ConditionFalse, infrav1.DNSDetachedReason)
	w.deleteOnly("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if got := w.record(); len(got) != 1 || got[0] == cp1.Addresses[0] {
		t.Errorf("record %v", got)
	}
}

func TestDeletionNeedsNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", w.provisioned("cp1"))
	for _, o := range []client.Object{w.maasCluster(), w.cluster(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cp1-bootstrap"}},
		&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cp1"}}} {
		if err := w.client.Delete(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.deleteOnly("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if owned := w.owned(); len(owned) != 0 {
		t.Errorf("owned %v", owned)
	}
}

func TestBootstrapDataIsReadWhileItIsNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	stored, reads := w.client, 0
	var broken error
	w.client = interceptor.NewClient(stored.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*corev1.Secret); is {
				if reads++; broken != nil {
					return broken
				}
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	w.until("w1", w.provisioned("w1"))
	if reads == 0 {
		t.Error("deployed without any")
	}
	reads, broken = 0, errors.New("no secrets today")
	w.pass("w1", 5*time.Minute)
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if reads != 0 {
		t.Errorf("read %d times after the deployment", reads)
	}
}

func TestBootstrapDataThatGoesAwayIsNoRefusalOfMAAS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	claimed := false
	w.client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := c.Get(ctx, key, o, opts...); err != nil {
				return err
			}
			// It goes between the look at the objects and the deployment of what was claimed meanwhile.
			if secret, is := o.(*corev1.Secret); is && w.calls("allocate") > 0 {
				claimed, secret.Data = true, nil
			}
			return nil
		},
	})
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "w1"}}
	var failed error
	for range 10 {
		if _, failed = w.reconciler().Reconcile(context.Background(), request); failed != nil {
			break
		}
	}
	if !claimed || failed == nil {
		t.Fatalf("claimed: %v, error: %v", claimed, failed)
	}
	if c := conditions.Get(w.get("w1"), infrav1.MachineDeployedCondition); c.Reason == infrav1.DeployRefusedReason || w.calls("deploy") != 0 {
		t.Errorf("MAAS is blamed: %+v", c)
	}
	w.reconcile("w1")
	w.expect("w1", infrav1.MachineDeployedCondition, metav1.ConditionFalse, infrav1.WaitingForBootstrapDataReason)
}

func TestNodeIsLinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	m := w.get("w1")
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "any-name", CreationTimestamp: metav1.NewTime(w.clock.Now())},
		Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: m.Status.Addresses[0].Address}}},
	}
	if err := w.workload.Create(context.Background(), node); err != nil {
		t.Fatal(err)
	}
	w.reconcile("w1")
	if err := w.workload.Get(context.Background(), client.ObjectKeyFromObject(node), node); err != nil {
		t.Fatal(err)
	}
	if node.Spec.ProviderID != m.Spec.ProviderID {
		t.Errorf("provider ID %q, want %q", node.Spec.ProviderID, m.Spec.ProviderID)
	}
	w.expect("w1", infrav1.MachineNodeLinkedCondition, metav1.ConditionTrue, infrav1.NodeProviderIDSetReason)
	wantEvents(t, w, "NodeLinked")
}
