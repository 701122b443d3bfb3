package maascluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/event"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func TestWhatOfAMachineWakesItsCluster(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	condition := func(kind, status, reason string) func(*infrav1.MaasMachine) {
		return func(m *infrav1.MaasMachine) {
			m.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason}}
		}
	}
	for name, test := range map[string]struct {
		change func(*infrav1.MaasMachine)
		want   bool // for a machine of the control plane; of workers, only their deletion does
	}{
		"nothing":               {func(*infrav1.MaasMachine) {}, false},
		"its power":             {condition(infrav1.MachinePoweredOnCondition, "True", "PoweredOn"), false},
		"a claim":               {func(m *infrav1.MaasMachine) { m.Spec.SystemID = "abc123" }, true},
		"its deletion":          {func(m *infrav1.MaasMachine) { m.DeletionTimestamp = &now }, true},
		"its loss":              {condition(infrav1.MachineAllocatedCondition, "False", infrav1.MachineNotFoundReason), true},
		"that it joined":        {condition(infrav1.MachineDNSAttachedCondition, "True", infrav1.DNSAttachedReason), true},
		"that it waits to join": {condition(infrav1.MachineDNSAttachedCondition, "False", infrav1.DNSAttachPendingReason), false},
		"an address":            {func(m *infrav1.MaasMachine) { m.Status.Addresses = []clusterv1.MachineAddress{{Address: "10.0.0.1"}} }, true},
	} {
		for _, labels := range []map[string]string{{clusterv1.MachineControlPlaneLabel: ""}, nil} {
			before, after := &infrav1.MaasMachine{}, &infrav1.MaasMachine{}
			before.Labels, after.Labels = labels, labels
			test.change(after)
			want := test.want && (labels != nil || !after.DeletionTimestamp.IsZero())
			if got := machineMoved().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != want {
				t.Errorf("%s (%v): %v, want %v", name, labels, got, want)
			}
		}
	}
}
