package simulator_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestParallelAllocatesNeverShareAMachine(t *testing.T) {
	t.Parallel()
	const machines, callers = 4, 12
	cfg := simulator.Config{}
	for _, name := range []string{"a", "b", "c", "d"} {
		cfg.Machines = append(cfg.Machines, simulator.Machine{Hostname: name})
	}
	_, _, client, _ := start(t, cfg)
	var wg sync.WaitGroup
	results := make(chan string, callers)
	for range callers {
		wg.Go(func() {
			m, err := client.Allocate(t.Context(), maas.AllocateParams{})
			switch {
			case err == nil:
				results <- m.SystemID
			case errors.Is(err, maas.ErrConflict):
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(results)
	seen := map[string]bool{}
	for id := range results {
		if seen[id] {
			t.Errorf("machine %s was given out twice", id)
		}
		seen[id] = true
	}
	if len(seen) != machines {
		t.Errorf("%d machines were given out, want %d", len(seen), machines)
	}
}

func TestRealClockDrivesMachinesBesideRequests(t *testing.T) {
	t.Parallel()
	booter := &fakeBooter{}
	region, err := simulator.New(simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}}, Boot: booter, Durations: simulator.Durations{Install: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for booted := 0; booted == 0; time.Sleep(time.Millisecond) {
		booter.mu.Lock()
		booted = len(booter.booted)
		booter.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatal("the machine never booted")
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
