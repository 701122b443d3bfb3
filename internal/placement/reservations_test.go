package placement_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
)

func object(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: strconv.Itoa(i)}
}

func TestAReservationKeepsOthersAway(t *testing.T) {
	t.Parallel()
	var r placement.Reservations
	taken := r.TakenFrom(object(2))
	if taken("m1") {
		t.Error("nothing is reserved yet")
	}
	for range 2 {
		if !r.Reserve(object(1), "m1") {
			t.Error("an object may reserve a free machine, and say so twice")
		}
	}
	if r.Reserve(object(2), "m1") || !taken("m1") {
		t.Error("another object got a machine that is reserved")
	}
	if r.TakenFrom(object(1))("m1") {
		t.Error("an object's own machine is not taken from it")
	}
	r.Release(object(1))
	r.Release(object(1))
	if taken("m1") || !r.Reserve(object(2), "m1") {
		t.Error("a released machine is not free")
	}
}

func TestAnObjectHasOneReservation(t *testing.T) {
	t.Parallel()
	var r placement.Reservations
	r.Reserve(object(1), "m1")
	r.Reserve(object(2), "m2")
	if r.Reserve(object(1), "m2") || !r.TakenFrom(object(2))("m1") {
		t.Error("a refused reservation must leave the one before it")
	}
	if !r.Reserve(object(1), "m3") || !r.Reserve(object(3), "m1") {
		t.Error("a new reservation must replace the one before it")
	}
}

func TestReservationsOfManyAtOnceAreExclusive(t *testing.T) {
	t.Parallel()
	var r placement.Reservations
	var got atomic.Int32
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			o := object(i)
			if !r.TakenFrom(o)("m1") && r.Reserve(o, "m1") {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 {
		t.Errorf("%d objects reserved one machine", got.Load())
	}
}
