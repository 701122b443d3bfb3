package maasmachine

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
)

// TestAMachineThatARemediationSwitchedOffIsLeftOff, and is switched on as any other once there is no MaasRemediation any more.
func TestAMachineThatARemediationSwitchedOffIsLeftOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	id := w.get("w1").Spec.SystemID
	object := &infrav1.MaasRemediation{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w1", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "w1", UID: "uid"},
	}}}
	if err := w.client.Create(context.Background(), object); err != nil {
		t.Fatal(err)
	}
	w.edit("w1", func(m *infrav1.MaasMachine) { remediation.Progress{Cycles: []time.Time{w.clock.Now()}}.Store(m) })
	if err := w.region.SetPower(id, "off"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 20*time.Minute)
	if n := w.calls("power_on"); n > 0 {
		t.Errorf("switched on %d times", n)
	}
	w.expect("w1", infrav1.MachinePoweredOnCondition, metav1.ConditionUnknown, infrav1.PoweredOffReason)
	if said := conditions.GetMessage(w.get("w1"), infrav1.MachinePoweredOnCondition); !strings.Contains(said, "switched off by MaasRemediation w1") {
		t.Errorf("it says %q", said)
	}
	if err := w.client.Delete(context.Background(), object); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 10*time.Minute)
	if n := w.calls("power_on"); n != 1 {
		t.Errorf("switched on %d times after the MaasRemediation was gone", n)
	}
}

// What a remediation did before is no reason to leave a machine off that lost its power afterwards.
func TestAMachineThatARemediationSwitchedOnAgainIsKeptOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	now := w.clock.Now()
	w.edit("w1", func(m *infrav1.MaasMachine) { remediation.Progress{Cycles: []time.Time{now}, On: &now}.Store(m) })
	if err := w.region.SetPower(w.get("w1").Spec.SystemID, "off"); err != nil {
		t.Fatal(err)
	}
	w.pass("w1", 10*time.Minute)
	if n := w.calls("power_on"); n != 1 {
		t.Errorf("switched on %d times", n)
	}
}
