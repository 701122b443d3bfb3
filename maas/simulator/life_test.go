package simulator_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// start serves a region with a virtual clock and returns a client of its admin.
func start(t *testing.T, cfg simulator.Config) (*simulator.Region, *simulator.Server, *maas.Client, *simulator.VirtualClock) {
	t.Helper()
	clock := simulator.NewVirtualClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	cfg.Clock = clock
	region, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return region, server, client, clock
}

func TestClientDrivesAMachineThroughItsLife(t *testing.T) {
	t.Parallel()
	region, _, client, clock := start(t, simulator.Config{
		Machines:  []simulator.Machine{{Hostname: "m-1"}, {Hostname: "m-2", Cores: 16}},
		Durations: simulator.Durations{Install: 5 * time.Minute, Boot: 30 * time.Second, PowerOff: 10 * time.Second},
	})
	ctx := context.Background()
	before := region.Snapshot().WithoutHistory()

	m, err := client.Allocate(ctx, maas.AllocateParams{AgentName: "claim-1"})
	if err != nil {
		t.Fatal(err)
	}
	if m.Hostname != "m-1" || m.Status != maas.StatusAllocated {
		t.Fatalf("allocated %s in state %s, want the cheapest, m-1, Allocated", m.Hostname, m.Status)
	}
	if _, err := client.SetWorkloadAnnotations(ctx, m.SystemID, map[string]string{"cluster": "c1"}); err != nil {
		t.Fatal(err)
	}
	if m, err = client.Deploy(ctx, m.SystemID, maas.DeployParams{UserData: []byte("#cloud-config\n"), DistroSeries: "jammy"}); err != nil {
		t.Fatal(err)
	}
	if m.Status != maas.StatusDeploying || len(m.IPAddresses) != 0 {
		t.Fatalf("deploy answered %s with addresses %v, want Deploying without any", m.Status, m.IPAddresses)
	}
	if m, err = client.Machine(ctx, m.SystemID); err != nil {
		t.Fatal(err)
	}
	if len(m.IPAddresses) != 1 || m.PowerState != maas.PowerOn {
		t.Fatalf("after the deploy: addresses %v, power %s", m.IPAddresses, m.PowerState)
	}
	clock.Advance(5*time.Minute + 29*time.Second)
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusDeploying {
		t.Fatalf("a second too early: %v, %v", m, err)
	}
	clock.Advance(time.Second)
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusDeployed || m.Annotations["cluster"] != "c1" {
		t.Fatalf("after install and boot: %v, %v", m, err)
	}
	if _, err := client.Release(ctx, m.SystemID, maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusReleasing || m.Owner == "" {
		t.Fatalf("while releasing: %v, %v", m, err)
	}
	clock.Advance(10 * time.Second)
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusReady || m.Owner != "" {
		t.Fatalf("after the release: %v, %v", m, err)
	}
	if after := region.Snapshot().WithoutHistory(); !reflect.DeepEqual(before, after) {
		t.Errorf("the region differs from before:\n%+v\n%+v", before, after)
	}
}
