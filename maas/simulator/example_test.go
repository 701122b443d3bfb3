package simulator_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// A test deploys a machine and lets virtual time pass until it is Deployed.
func Example() {
	clock := simulator.NewVirtualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	region, err := simulator.New(simulator.Config{
		Clock:     clock,
		Machines:  []simulator.Machine{{Hostname: "node-1"}},
		Durations: simulator.Durations{Install: 5 * time.Minute},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer region.Close()
	server := httptest.NewServer(region.Handler())
	defer server.Close()

	client, err := maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: simulator.DefaultAPIKey, Now: clock.Now})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	m, err := client.Allocate(ctx, maas.AllocateParams{AgentName: "claim-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{UserData: []byte("#cloud-config\n")}); err != nil {
		fmt.Println(err)
		return
	}
	clock.Advance(5 * time.Minute)
	if m, err = client.Machine(ctx, m.SystemID); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.FQDN, m.Status, m.IPAddresses)
	// Output: node-1.maas Deployed [10.20.0.3]
}
