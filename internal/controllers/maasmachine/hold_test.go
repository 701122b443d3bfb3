package maasmachine

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func byMove(o *observation) { o.object.Annotations[clusterctlv1.DeleteForMoveAnnotation] = "" }

// TestHold says whose deletion is held: that of a MaasMachine whose Machine stays.
func TestHold(t *testing.T) {
	t.Parallel()
	const held, goes = "wait: Deleting HeldUntilConfirmed", "release aaaaa1"
	stays := func(o *observation) { o.owner.DeletionTimestamp = nil }
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"its Machine stays":                                                  {seen(giveBack, maas.StatusDeployed, stays), held},
		"its Machine stays, and the Cluster is gone":                         {seen(giveBack, maas.StatusDeployed, stays, func(o *observation) { o.cluster = nil }), held},
		"its Machine stays, and MAAS is away":                                {seen(giveBack, maas.StatusDeployed, stays, maasAway), held},
		"its Machine stays, and it never was claimed":                        {nothingYet(deleted, stays), held},
		"confirmed, with an empty value":                                     {seen(giveBack, maas.StatusDeployed, stays, func(o *observation) { o.object.Annotations[infrav1.ConfirmDeleteAnnotation] = "" }), goes},
		"its Machine goes: Cluster API, a namespace, or foreground deletion": {seen(giveBack, maas.StatusDeployed), goes},
		"its Machine is gone: nobody is left that it could be for":           {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner = nil }), goes},
		"a MachineSet owns it, and no Machine yet": {nothingYet(deleted, func(o *observation) {
			o.owner = nil
			o.object.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachineSet", Name: "ms", UID: "u"}}
		}), "let go: nothing was claimed"},
		"its Cluster goes, and its Machine will": {seen(giveBack, maas.StatusDeployed, stays, func(o *observation) {
			now := metav1.NewTime(noon)
			o.cluster.DeletionTimestamp = &now
		}), goes},
		"clusterctl move deletes it: the machine is another's business": {seen(giveBack, maas.StatusDeployed, byMove), "let go: moved"},
		"clusterctl move deletes it, and nothing else is left": {seen(giveBack, maas.StatusDeployed, byMove, func(o *observation) {
			o.owner, o.cluster, o.infra = nil, nil, nil
		}), "let go: moved"},
		"clusterctl move deletes it, and MAAS is away": {seen(giveBack, maas.StatusDeployed, byMove, maasAway), "let go: moved"},
		"clusterctl move did not delete it":            {seen(keeping, maas.StatusDeployed, byMove), "all is well"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestANamespaceMayGoInAnyOrder: its MaasMachine is deleted before its Machine.
func TestANamespaceMayGoInAnyOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.deleteOnly("w1")
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.HeldReason)
	w.deleteOwner("w1")
	w.until("w1", w.goneFrom("w1"))
	if len(w.owned()) > 0 {
		t.Errorf("owned: %v", w.owned())
	}
}

// TestAHeldMachineRunsOn: nothing happens to it, and what happens to it is still told.
func TestAHeldMachineRunsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", func() bool { return len(w.record()) == 1 })
	w.deleteOnly("cp1")
	start := len(w.region.Requests())
	w.pass("cp1", time.Hour)
	if all := w.writes(start); len(all) > 0 || len(w.record()) != 1 {
		t.Errorf("touched: %v; in DNS: %v", all, w.record())
	}
	id := w.get("cp1").Spec.SystemID
	if m := w.inMAAS(id); m.Status != simulator.StatusDeployed || m.PowerState != "on" {
		t.Errorf("the machine is %s, power %s", m.Status, m.PowerState)
	}
	if state := w.get("cp1").Status.MachineState; state != "Deployed" {
		t.Errorf("its state is told as %q", state)
	}
}

// TestAMoveThatWasCutShortReleasesNothing: the object lives on in another management cluster.
func TestAMoveThatWasCutShortReleasesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	pause := func(is bool) {
		c := &clusterv1.Cluster{}
		if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "c1"}, c); err != nil {
			t.Fatal(err)
		}
		c.Spec.Paused = &is
		if err := w.client.Update(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	w.reconcile("w1")
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Annotations[clusterctlv1.DeleteForMoveAnnotation] = "" })
	w.delete("w1")
	start := len(w.region.Requests())
	w.pass("w1", time.Minute)
	if !w.exists("w1") {
		t.Fatal("a paused object is not let go of")
	}
	pause(false)
	w.until("w1", w.goneFrom("w1"))
	if all := w.writes(start); len(all) > 0 || len(w.owned()) != 1 {
		t.Errorf("touched: %v; owned %v", all, w.owned())
	}
	wantEvents(t, w, "MovedAway")
}

// TestAbandoningMarksAllThatTheClaimGot, and leaves DNS before.
func TestAbandoningMarksAllThatTheClaimGot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("cp1", true)
	w.until("cp1", func() bool { return len(w.record()) == 1 })
	id := w.get("cp1").Spec.SystemID
	if err := w.region.SetStatus(id, simulator.StatusRescueMode); err != nil {
		t.Fatal(err)
	}
	w.edit("cp1", func(m *infrav1.MaasMachine) { m.Annotations[infrav1.AbandonAnnotation] = "the BMC is dead" })
	w.pass("cp1", 5*time.Minute)
	if got := w.inMAAS(id).Annotations[infrav1.MachineAnnotationAbandoned]; got != "" || !w.exists("cp1") {
		t.Errorf("abandoned before it was deleted: %q", got)
	}
	w.delete("cp1")
	w.until("cp1", w.goneFrom("cp1"))
	if got := w.inMAAS(id).Annotations[infrav1.MachineAnnotationAbandoned]; got != "the BMC is dead" || len(w.record()) != 0 || w.calls("release") != 0 {
		t.Errorf("the machine says %q, in DNS: %v, %d releases", got, w.record(), w.calls("release"))
	}
	wantEvents(t, w, "Abandoned")
}
