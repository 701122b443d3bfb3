package maasmachine

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

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
	if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(m, "machines has 64 cores or more (spec.minCPU): add larger machines") {
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

// neverAllocates answers allocations as a gateway does whose patience ended, and lets none take effect.
func neverAllocates(r simulator.Request) simulator.Fault {
	if r.Op == "allocate" {
		return simulator.Fault{Status: 504, Body: "<html>", ContentType: "text/html"}
	}
	return simulator.Fault{}
}

// TestADeletionWaitsForTheLatestClaim: the request that is still on its way is the last one, not the first.
func TestADeletionWaitsForTheLatestClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(neverAllocates)
	w.add("w1", false)
	w.pass("w1", 10*time.Minute)
	asked := w.calls("allocate")
	w.reconcile("w1")
	if w.calls("allocate") != asked+1 {
		t.Fatal("it was not asked for again")
	}
	pending := w.get("w1")
	id, _, _ := strings.Cut(pending.Annotations[infrav1.ClaimAttemptAnnotation], " ")
	w.delete("w1")
	w.pass("w1", time.Minute)
	err := errors.Join(w.region.SetOwner(id, ourUser), w.region.SetAgentName(id, pending.Annotations[infrav1.ClaimAnnotation]),
		w.region.SetStatus(id, simulator.StatusAllocated))
	if err != nil {
		t.Fatal(err)
	}
	w.region.SetIntercept(nil)
	w.until("w1", w.goneFrom("w1"))
	if owned := w.owned(); len(owned) != 0 || w.calls("release") != 1 {
		t.Errorf("owned %v after %d releases", owned, w.calls("release"))
	}
}

// TestAnOldAttemptIsNotRepeatedForAnObjectThatIsGone: a cache may show it still.
func TestAnOldAttemptIsNotRepeatedForAnObjectThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(neverAllocates)
	w.add("w1", false)
	w.until("w1", func() bool { return w.calls("allocate") == 1 })
	old, owner := w.get("w1"), &clusterv1.Machine{}
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(old), owner); err != nil {
		t.Fatal(err)
	}
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	w.region.SetIntercept(nil)
	r := w.reconciler()
	r.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			switch o := o.(type) {
			case *infrav1.MaasMachine:
				old.DeepCopyInto(o)
				return nil
			case *clusterv1.Machine:
				owner.DeepCopyInto(o)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(old)}); err == nil {
		t.Error("nothing was said of the object that is gone")
	}
	if owned := w.owned(); len(owned) != 0 {
		t.Errorf("claimed for nobody: %v", owned)
	}
}
