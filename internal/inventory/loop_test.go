package inventory_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// direct hands requests to a region without a network, so that all time is the bubble's.
type direct struct {
	region *simulator.Region
	hangs  atomic.Bool // requests are not answered until their context ends
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.hangs.Load() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if r.Body == nil { // as a server never has it
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	d.region.Handler().ServeHTTP(answer, r)
	return answer.Result(), nil
}

// inBubble runs an inventory as the manager does, in a bubble whose time passes while all sleep. A bubble fails if anything in it
// still runs at its end.
func inBubble(t *testing.T, test func(t *testing.T, region *simulator.Region, d *direct, v *inventory.Inventory, queue priorityqueue.PriorityQueue[reconcile.Request])) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		region, err := simulator.New(simulator.Config{
			Users:     []simulator.User{{Name: "capi", APIKey: ourKey, Admin: true}},
			Machines:  []simulator.Machine{{Hostname: "m1", SystemID: "aaaaa1"}, {Hostname: "m2", SystemID: "aaaaa2"}},
			Durations: simulator.Durations{PowerOff: time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer region.Close()
		d := &direct{region: region}
		client, err := maas.New(maas.Config{Endpoint: "http://region.test/MAAS", APIKey: ourKey, Transport: d})
		if err != nil {
			t.Fatal(err)
		}
		v := inventory.New(client, nil)
		queue := priorityqueue.New[reconcile.Request](t.Name())
		defer queue.ShutDown()
		if err := v.Source().Start(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- v.Start(ctx) }()
		test(t, region, d, v, queue)
		began := time.Now()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Start: %v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Start ended %s after its context", took)
		}
		if _, ok := v.Look("aaaaa1"); ok {
			t.Error("what has stopped still shows machines")
		}
		asked := len(region.Requests())
		time.Sleep(time.Hour)
		if more := len(region.Requests()) - asked; more > 0 {
			t.Errorf("what has stopped made %d requests", more)
		}
	})
}

func TestStartFollowsUntilItsContextEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, region *simulator.Region, _ *direct, v *inventory.Inventory, queue priorityqueue.PriorityQueue[reconcile.Request]) {
		v.Follow(object("a"), "aaaaa1", inventory.Moving)
		time.Sleep(time.Minute)
		if _, ok := v.Look("aaaaa1"); !ok {
			t.Error("a machine that is followed is not shown")
		}
		if err := region.SetStatus("aaaaa1", simulator.StatusDeployed); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		request, _, _ := queue.GetWithPriority()
		queue.Done(request)
		if took := time.Since(began); request.Name != "a" || took > 2*time.Second {
			t.Errorf("%s was raised after %s", request.Name, took)
		}
		time.Sleep(time.Hour)
		if n := len(region.Requests()); n < 61*30 || n > 61*36 {
			t.Errorf("%d requests in an hour", n)
		}
	})
}

func TestStartStopsWhileMAASHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *simulator.Region, d *direct, v *inventory.Inventory, _ priorityqueue.PriorityQueue[reconcile.Request]) {
		v.Follow(object("a"), "aaaaa1", inventory.Moving)
		time.Sleep(time.Minute)
		d.hangs.Store(true)
		time.Sleep(20 * time.Second)
	})
}

// A batch that takes long does not keep back what the log tells.
func TestSlowBatchDoesNotDelayEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, region *simulator.Region, _ *direct, v *inventory.Inventory, queue priorityqueue.PriorityQueue[reconcile.Request]) {
		v.Follow(object("a"), "aaaaa1", inventory.Moving)
		v.Follow(object("b"), "aaaaa2", inventory.Moving)
		region.SetLatency(simulator.Latency{PerMachine: 10 * time.Second})
		time.Sleep(17 * time.Second) // a batch is on its way
		if err := region.SetStatus("aaaaa2", simulator.StatusDeployed); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		request, _, _ := queue.GetWithPriority()
		queue.Done(request)
		if took := time.Since(began); request.Name != "b" || took > 2*time.Second {
			t.Errorf("%s was raised after %s", request.Name, took)
		}
	})
}
