package maascluster

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestAManagerThatEndsSaysNothingOfMAAS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.settle()
	w.expect(allFine)
	before := w.object()
	w.clock.Advance(time.Hour) // all is looked at anew
	ctx, end := context.WithCancel(t.Context())
	w.region.SetIntercept(func(simulator.Request) simulator.Fault {
		end()
		return simulator.Fault{DropAnswer: true}
	})
	if _, err := w.reconciler.Reconcile(ctx, w.request); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Fatal("MAAS was not asked")
	}
	if after := w.object(); !equality.Semantic.DeepEqual(before.Status, after.Status) {
		t.Errorf("the status changed: %+v", after.Status.Conditions)
	}
}
