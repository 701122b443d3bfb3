package simulator_test

import (
	"net/http"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestThenTellsHowARequestEnded(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}})
	var fault simulator.Fault
	var ran []simulator.Request
	region.AddIntercept(func(r simulator.Request) simulator.Fault {
		out := fault
		out.Then = func(r simulator.Request) {
			// It may use the region, which shows what the request did.
			if m, _ := region.Machine("abc123"); (m.Owner != "") != r.Committed {
				t.Errorf("committed is %t, and the owner %q", r.Committed, m.Owner)
			}
			ran = append(ran, r)
		}
		return out
	})
	fault = simulator.Fault{Status: http.StatusServiceUnavailable}
	_, refused := client.Allocate(t.Context(), maas.AllocateParams{})
	fault = simulator.Fault{DropAnswer: true}
	_, lost := client.Allocate(t.Context(), maas.AllocateParams{})
	if refused == nil || lost == nil || len(ran) != 2 || ran[0].Committed || ran[0].SystemID != "" || !ran[1].Committed || ran[1].SystemID != "abc123" {
		t.Errorf("refused: %v, lost: %v, told %+v", refused, lost, ran)
	}
	fault = simulator.Fault{Reset: true}
	if _, err := client.Machine(t.Context(), "abc123"); err == nil || len(ran) != 2 {
		t.Errorf("a request that never ran: %v, told %+v", err, ran)
	}
	requests := region.Requests()
	if got := requests[1].SystemID; got != "abc123" {
		t.Errorf("the log says that the allocate chose %q", got)
	}
}
