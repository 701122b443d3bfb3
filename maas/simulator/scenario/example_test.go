package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// A client whose allocate is not answered looks for its machine before it asks
// for another one.
func Example() {
	ctx := context.Background()
	clock := simulator.NewVirtualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	region, err := simulator.New(simulator.Config{
		Clock:     clock,
		Machines:  []simulator.Machine{{Hostname: "node-1"}, {Hostname: "node-2"}},
		Durations: simulator.Durations{Install: 5 * time.Minute},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := region.Start(ctx, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	s, err := scenario.Parse([]byte(`
faults:
- {do: drop-answer, on: machines allocate, count: 1}
- {do: fail-deployment, reason: "curtin: Failed to write to /dev/sda", count: 1}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	running, err := scenario.Start(region, clock, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer running.Stop()

	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey, Now: clock.Now})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := client.Allocate(ctx, maas.AllocateParams{AgentName: "claim-1"})
	if errors.Is(err, maas.ErrOutcomeUnknown) {
		found, _ := client.Machines(ctx, maas.MachineFilter{AgentName: "claim-1"})
		if len(found) == 1 {
			m = &found[0]
		}
	}
	if m == nil {
		fmt.Println("no machine:", err)
		return
	}
	fmt.Println(m.Hostname, m.Status)

	if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{}); err != nil {
		fmt.Println(err)
		return
	}
	clock.Advance(5 * time.Minute)
	if m, err = client.Machine(ctx, m.SystemID); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Status, "-", m.ErrorDescription)
	for _, f := range running.Faults() {
		fmt.Println(f.Fault.Name, "struck", f.Struck)
	}
	// Output:
	// node-1 Allocated
	// Failed deployment - curtin: Failed to write to /dev/sda
	// drop-answer struck 1
	// fail-deployment struck 1
}
