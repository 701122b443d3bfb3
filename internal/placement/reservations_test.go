package placement_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
)

func TestAReservationKeepsOthersAway(t *testing.T) {
	t.Parallel()
	var r placement.Reservations
	taken := r.TakenFrom("claim-2")
	if taken("m1") {
		t.Error("nothing is reserved yet")
	}
	for range 2 {
		if !r.Reserve("claim-1", "m1") {
			t.Error("a claim may reserve a free machine, and say so twice")
		}
	}
	if r.Reserve("claim-2", "m1") || !taken("m1") {
		t.Error("another claim got a machine that is reserved")
	}
	if r.TakenFrom("claim-1")("m1") {
		t.Error("a claim's own machine is not taken from it")
	}
	r.Release("claim-1")
	r.Release("claim-1")
	if taken("m1") || !r.Reserve("claim-2", "m1") {
		t.Error("a released machine is not free")
	}
}

func TestAClaimHasOneReservation(t *testing.T) {
	t.Parallel()
	var r placement.Reservations
	r.Reserve("claim-1", "m1")
	r.Reserve("claim-2", "m2")
	if r.Reserve("claim-1", "m2") || !r.TakenFrom("claim-2")("m1") {
		t.Error("a refused reservation must leave the one before it")
	}
	if !r.Reserve("claim-1", "m3") || !r.Reserve("claim-3", "m1") {
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
			claim := "claim-" + strconv.Itoa(i)
			if !r.TakenFrom(claim)("m1") && r.Reserve(claim, "m1") {
				got.Add(1)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 {
		t.Errorf("%d claims reserved one machine", got.Load())
	}
}
