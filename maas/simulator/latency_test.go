package simulator

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// slowRegion serves three machines with a latency, and returns a client of its admin.
func slowRegion(t *testing.T, latency Latency) (*Region, *maas.Client) {
	t.Helper()
	region, err := New(Config{Latency: latency, Machines: []Machine{{Hostname: "a"}, {Hostname: "b"}, {Hostname: "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(region.Close)
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	client, err := maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	return region, client
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what + " did not come true")
		}
	}
}

func TestTheAccessLogTellsTimeAndSize(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	region, client := slowRegion(t, Latency{Allocate: 50 * ms, Deploy: 60 * ms, Release: 40 * ms, Write: 30 * ms, Read: 20 * ms, PerMachine: 10 * ms})
	ctx := t.Context()
	m, err := client.Allocate(ctx, maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []func() error{
		func() error {
			_, err := client.SetWorkloadAnnotations(ctx, m.SystemID, map[string]string{"k": "v"})
			return err
		},
		func() error { _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{}); return err },
		func() error { _, err := client.Release(ctx, m.SystemID, maas.ReleaseParams{}); return err },
		func() error { _, err := client.Machine(ctx, m.SystemID); return err },
		func() error { _, err := client.Machines(ctx, maas.MachineFilter{}); return err },
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Machine(ctx, "nope00"); err == nil {
		t.Fatal("found a machine that is not there")
	}
	want := []struct {
		least time.Duration
		bytes func(int) bool
	}{
		{50 * ms, large}, {30 * ms, large}, {60 * ms, large}, {40 * ms, large},
		{20 * ms, large},
		{50 * ms, func(n int) bool { return n > 3*2000 }},
		{20 * ms, func(n int) bool { return n == len("No Machine matches the given query.") }},
	}
	log := region.Requests()
	if len(log) != len(want) {
		t.Fatalf("%d requests are logged, want %d", len(log), len(want))
	}
	for i, entry := range log {
		if entry.Duration < want[i].least || entry.Duration > time.Minute || !want[i].bytes(entry.Bytes) {
			t.Errorf("%s %s op=%s: took %s for %d bytes, want at least %s", entry.Method, entry.Path, entry.Op, entry.Duration, entry.Bytes, want[i].least)
		}
	}
}

func large(n int) bool { return n > 2000 }

func TestASlowWriteHoldsNobodyUpAndOutlivesItsClient(t *testing.T) {
	t.Parallel()
	region, client := slowRegion(t, Latency{Allocate: time.Hour})
	ctx, goAway := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	arrived := make(chan struct{}, 1)
	region.SetIntercept(func(r Request) Fault {
		if r.Op == "allocate" {
			arrived <- struct{}{}
		}
		return Fault{}
	})
	go func() {
		_, err := client.Allocate(ctx, maas.AllocateParams{AgentName: "claim"})
		ended <- err
	}()
	<-arrived
	free, err := client.Machines(t.Context(), maas.MachineFilter{Statuses: []maas.Status{maas.StatusReady}})
	if err != nil || len(free) != 3 {
		t.Errorf("while an allocate takes its time %d machines are free (%v), want all 3", len(free), err)
	}
	goAway()
	if err := <-ended; err == nil {
		t.Error("a client that went away got an answer")
	}
	eventually(t, "the allocate of a client that went away", func() bool {
		found, err := client.Machines(t.Context(), maas.MachineFilter{AgentName: "claim"})
		return err == nil && len(found) == 1
	})
}

func TestASlowReadIsOldWhenItArrives(t *testing.T) {
	t.Parallel()
	region, client := slowRegion(t, Latency{Read: 300 * time.Millisecond})
	listed := make(chan []maas.Machine, 1)
	go func() {
		machines, err := client.Machines(t.Context(), maas.MachineFilter{})
		if err != nil {
			t.Error(err)
		}
		listed <- machines
	}()
	eventually(t, "the look", func() bool {
		region.mu.Lock()
		defer region.mu.Unlock()
		return len(region.state.nonces) == 1 // it is spent with the request's transaction
	})
	if err := region.SetStatus(region.Snapshot().Machines[0].SystemID, StatusBroken); err != nil {
		t.Fatal(err)
	}
	for _, m := range <-listed {
		if m.Status != maas.StatusReady {
			t.Errorf("the list shows %s, which came after it", m.Status)
		}
	}
}

func TestLatencyIsReadAndWrittenAsJSON(t *testing.T) {
	t.Parallel()
	const text = `{"allocate":"1s","deploy":"3s","perMachine":"20ms","read":"100ms","release":"2s","write":"300ms"}`
	var latency Latency
	if err := json.Unmarshal([]byte(text), &latency); err != nil {
		t.Fatal(err)
	}
	if latency.Deploy != 3*time.Second || latency.PerMachine != 20*time.Millisecond {
		t.Errorf("read %+v", latency)
	}
	if out, err := json.Marshal(latency); err != nil || string(out) != text {
		t.Errorf("wrote %s (%v), want %s", out, err, text)
	}
	if err := json.Unmarshal([]byte(`{"alocate": "1s"}`), &latency); err == nil {
		t.Error("a misspelled field was accepted")
	}
}
