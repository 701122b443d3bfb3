package maasmachine

import (
	"errors"
	"strings"
	"testing"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
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
