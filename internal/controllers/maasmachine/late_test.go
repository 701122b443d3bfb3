package maasmachine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// allocateLate lets a request for another machine have its effect now, which MAAS did not answer when it was made.
func (w *world) allocateLate(name string) {
	w.Helper()
	id := "aaaaa1"
	if w.get(name).Spec.SystemID == id {
		id = "aaaaa2"
	}
	err := errors.Join(w.region.SetOwner(id, ourUser), w.region.SetAgentName(id, w.get(name).Annotations[infrav1.ClaimAnnotation]),
		w.region.SetStatus(id, simulator.StatusAllocated))
	if err != nil {
		w.Fatal(err)
	}
}

func TestAMachineAllocatedLateIsLetGoOfOnceTheOtherIsInstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.share()
	w.add("w1", false)
	for w.get("w1").Status.MachineState != "Deploying" {
		w.watch("w1", time.Second)
	}
	w.allocateLate("w1")
	w.watch("w1", 10*time.Minute)
	if owned := w.owned(); !w.provisioned("w1")() || len(owned) != 1 || owned[0] != w.get("w1").Spec.SystemID {
		t.Errorf("owned %v: %s", owned, w.story("w1"))
	}
}

func TestAMachineAllocatedLateIsNotLeftBehindWithOneThatIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.KeepFailed = true })
	w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
	kept := w.get("w1").Spec.SystemID
	if err := w.region.FailDeployment(kept, "boom"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", time.Minute)
	w.allocateLate("w1")
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	w.clock.Advance(time.Minute) // a release is over
	if owned := w.owned(); len(owned) != 1 || owned[0] != kept {
		t.Errorf("owned %v, want %s", owned, kept)
	}
}

// TestAMachineTakenWhileItsAddressLeftIsNotReleased: a record may take MAAS as long as it wants.
func TestAMachineTakenWhileItsAddressLeftIsNotReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", func() bool { return w.provisioned("cp1")() && len(w.record()) > 0 })
	id, taken := w.get("cp1").Spec.SystemID, false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Method == "PUT" && strings.Contains(r.Path, "/dnsresources/") && !taken {
			taken = true
			if err := errors.Join(w.region.OperatorRelease(id), w.region.SetOwner(id, ourUser), w.takeAsUs(id, nil), w.region.SetStatus(id, simulator.StatusDeployed)); err != nil {
				t.Error(err)
			}
		}
		return simulator.Fault{}
	})
	w.delete("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if n := w.calls("release"); n != 0 || !taken {
		t.Errorf("taken: %t; released %d times", taken, n)
	}
}

// TestAMachineDeployedLateIsNotLost: MAAS acquires a free machine that it is to deploy, also when it takes up the request after the
// release.
func TestAMachineDeployedLateIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "deploy" {
			return simulator.Fault{Status: 504, Body: "<html>", ContentType: "text/html"}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.until("w1", func() bool { return w.calls("deploy") == 1 })
	id, token := w.get("w1").Spec.SystemID, w.get("w1").Annotations[infrav1.ClaimAnnotation]
	w.delete("w1")
	w.pass("w1", time.Minute)
	if len(w.owned()) != 0 {
		t.Fatalf("owned %v", w.owned())
	}
	w.region.SetIntercept(nil)
	if _, err := w.maas.Deploy(t.Context(), id, maas.DeployParams{DistroSeries: "custom/u-2404", AgentName: token}); err != nil {
		t.Fatal(err)
	}
	w.until("w1", w.goneFrom("w1"))
	w.clock.Advance(time.Minute) // a release is over
	if len(w.owned()) != 0 {
		t.Errorf("owned %v", w.owned())
	}
}

// TestAnOldCopyIsNotDeployed: a cache may show a machine that was deployed once as one that never was.
func TestAnOldCopyIsNotDeployed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.steps = 1
	w.add("w1", false)
	w.until("w1", func() bool {
		return len(w.owned()) == 1 && w.inMAAS(w.owned()[0]).Annotations[infrav1.MachineAnnotationClaim] != ""
	})
	old := w.get("w1")
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.ProviderID = infrav1.NewProviderID("default", m.Spec.SystemID) })
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
	r.maxSteps = 0
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(old)}); err != nil {
		t.Fatal(err)
	}
	if n := w.calls("deploy"); n != 0 {
		t.Errorf("deployed %d times", n)
	}
}
