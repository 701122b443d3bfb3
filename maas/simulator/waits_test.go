package simulator

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// regionWith serves a region with a clock, and returns a client of its admin
// whose time is now.
func regionWith(t *testing.T, cfg Config, now func() time.Time) (*Region, *maas.Client) {
	t.Helper()
	region, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(region.Close)
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	client, err := maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: DefaultAPIKey, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return region, client
}

func TestAVirtualClockMovesWithRequestsWhenToldTo(t *testing.T) {
	t.Parallel()
	clock := NewVirtualClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	clock.MoveWithRequests(true)
	region, client := regionWith(t, Config{
		Clock: clock, Machines: []Machine{{Hostname: "a"}, {Hostname: "b"}},
		Durations: Durations{Install: 5 * time.Minute, Boot: time.Minute},
		Latency:   Latency{Allocate: time.Minute, Deploy: 2 * time.Minute, Read: 3 * time.Minute, PerMachine: 30 * time.Second},
	}, clock.Now)
	start := clock.Now()
	after := func(what string, want time.Duration) {
		t.Helper()
		if passed := clock.Now().Sub(start); passed != want {
			t.Errorf("after %s %s have passed, want %s", what, passed, want)
		}
	}
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	after("an allocate", time.Minute)
	if _, err = client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	after("a deploy", 3*time.Minute)
	for _, want := range []struct {
		status maas.Status
		passed time.Duration
	}{{maas.StatusDeploying, 6 * time.Minute}, {maas.StatusDeploying, 9 * time.Minute}, {maas.StatusDeployed, 12 * time.Minute}} {
		// A read shows what was true at its beginning: the deploy ends with the second.
		if m, err = client.Machine(t.Context(), m.SystemID); err != nil || m.Status != want.status {
			t.Errorf("the machine is %v (%v), want %s", m, err, want.status)
		}
		after("a read", want.passed)
	}
	if _, err := client.Machines(t.Context(), maas.MachineFilter{}); err != nil {
		t.Fatal(err)
	}
	after("a list of two", 16*time.Minute)
	log := region.Requests()
	if took := log[len(log)-1].Duration; took != 4*time.Minute {
		t.Errorf("the access log says that the list took %s of the clock's time, want 4m", took)
	}
}

func TestWhatARequestWaitsForIsBroughtAboutByTheClock(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Minute
	jumping := NewJumpingClock()
	still, moving := NewVirtualClock(time.Unix(1000, 0)), NewVirtualClock(time.Unix(1000, 0))
	moving.MoveWithRequests(true)
	for name, tt := range map[string]struct {
		clock  Clock
		after  time.Duration
		passed time.Duration // on a virtual clock
		want   bool
	}{
		"a virtual clock that stands still": {still, time.Minute, 0, false},
		"one that moves with requests":      {moving, time.Minute, time.Minute, true},
		"what is too late":                  {moving, time.Hour, most, false},
		"real time":                         {realClock{}, time.Millisecond, 0, true},
		"real time that jumps":              {jumping, time.Millisecond, 0, true},
	} {
		region, err := New(Config{Clock: tt.clock})
		if err != nil {
			t.Fatal(err)
		}
		began := tt.clock.Now()
		done := make(chan struct{})
		cancel := tt.clock.AfterFunc(tt.after, func() { close(done) })
		if got := region.waitFor(t.Context(), done, most); got != tt.want {
			t.Errorf("%s: it came about: %t", name, got)
		}
		cancel()
		if c, virtual := tt.clock.(*VirtualClock); virtual && c.Now().Sub(began) != tt.passed {
			t.Errorf("%s: %s passed, want %s", name, c.Now().Sub(began), tt.passed)
		}
	}
}

func TestClientsWithARealClockAreNotRefusedAfterAJump(t *testing.T) {
	t.Parallel()
	clock := NewJumpingClock()
	region, client := regionWith(t, Config{Clock: clock, Machines: []Machine{{Hostname: "a"}}, Durations: Durations{DeployTimeout: 30 * time.Minute, Install: time.Hour}}, time.Now)
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(31 * time.Minute)
	if m, err = client.Machine(t.Context(), m.SystemID); err != nil || m.Status != maas.StatusFailedDeployment {
		t.Errorf("half an hour later: %v, %v", m, err)
	}
	if _, err := client.Release(t.Context(), m.SystemID, maas.ReleaseParams{}); err != nil {
		t.Error(err)
	}
	region.Close()
}

func TestDelaysAndReleasesMoveAClockThatMovesWithRequests(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]time.Duration{"3.4.10": 10 * time.Second, "3.7.3": 30 * time.Second} {
		clock := NewVirtualClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
		clock.MoveWithRequests(true)
		region, client := regionWith(t, Config{
			Version: version, Clock: clock, Machines: []Machine{{Hostname: "a"}}, Durations: Durations{PowerOff: 20 * time.Second},
		}, clock.Now)
		m, err := client.Allocate(t.Context(), maas.AllocateParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
		region.SetIntercept(func(r Request) Fault {
			if r.Op == "release" {
				return Fault{Delay: 10 * time.Second}
			}
			return Fault{}
		})
		began := clock.Now()
		if _, err := client.Release(t.Context(), m.SystemID, maas.ReleaseParams{}); err != nil {
			t.Fatal(err)
		}
		// MAAS 3.5 and newer answer a release when the power is off.
		if took := clock.Now().Sub(began); took != want {
			t.Errorf("MAAS %s: a release that is held up for 10 s, and whose power goes off in 20 s, takes %s, want %s", version, took, want)
		}
		log := region.Requests()
		if took := log[len(log)-1].Duration; took != want {
			t.Errorf("MAAS %s: the access log says %s, want %s", version, took, want)
		}
	}
}
