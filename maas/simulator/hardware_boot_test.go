package simulator_test

import (
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestTroubleAtBootKeepsTheBooterOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trouble simulator.Trouble
		asked   int
		status  simulator.Status
	}{
		"none":  {simulator.Trouble{}, 1, simulator.StatusDeploying}, // it waits for the request for user data
		"late":  {simulator.Trouble{Delay: time.Minute}, 1, simulator.StatusDeploying},
		"stuck": {simulator.Trouble{Stuck: true}, 0, simulator.StatusDeploying},
		"fails": {simulator.Trouble{Fail: "no boot device"}, 0, simulator.StatusFailedDeployment},
	} {
		booter := &fakeBooter{}
		region, _, client, clock := start(t, simulator.Config{
			Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Boot: booter,
			Hardware: func(e simulator.HardwareEvent) simulator.Trouble {
				if e.Moment == simulator.MomentBoot {
					return tt.trouble
				}
				return simulator.Trouble{}
			},
		})
		if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(10 * time.Minute)
		if m := region.Snapshot().Machines[0]; len(booter.booted) != tt.asked || m.Status != tt.status {
			t.Errorf("%s: the Booter was asked %d times, and the machine is %s", name, len(booter.booted), m.StatusName)
		}
		// A machine that comes back on is in the same trouble.
		if tt.asked == 0 {
			for _, err := range []error{region.SetStatus("abc123", simulator.StatusDeployed), region.SetPower("abc123", "off")} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := client.PowerOn(t.Context(), "abc123", ""); err != nil {
				t.Fatal(err)
			}
			clock.Advance(10 * time.Minute)
			if m := region.Snapshot().Machines[0]; len(booter.booted) != 0 || m.Status != simulator.StatusDeployed || m.PowerState != "on" {
				t.Errorf("%s: switched on again, the Booter was asked %d times, and the machine is %s, %s", name, len(booter.booted), m.StatusName, m.PowerState)
			}
		}
	}
}

func TestPowerOffOfAnEarlierLifeDoesNotReachTheNextOne(t *testing.T) {
	t.Parallel()
	booter := &fakeBooter{}
	region, _, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Boot: booter,
		Durations: simulator.Durations{PowerOff: 10 * time.Second},
	})
	if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Release(t.Context(), "abc123", maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(5 * time.Second)
	if err := region.OperatorDeploy("abc123", "admin", ""); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	// The act itself stops what ran.
	if m := region.Snapshot().Machines[0]; len(booter.booted) != 2 || len(booter.halted) != 1 || m.Status != simulator.StatusDeploying || m.PowerState != "on" {
		t.Errorf("booted %d times, halted %q; the machine is %s, %s", len(booter.booted), booter.halted, m.StatusName, m.PowerState)
	}
}

func TestHardwareIsAskedInOrderUntilSomethingIsWrong(t *testing.T) {
	t.Parallel()
	var asked []string
	says := func(name string, trouble simulator.Trouble) func(simulator.HardwareEvent) simulator.Trouble {
		return func(e simulator.HardwareEvent) simulator.Trouble {
			if e.Moment != simulator.MomentInstall {
				return simulator.Trouble{}
			}
			asked = append(asked, name+" "+e.SystemID+" "+e.Hostname+" "+e.Zone+" "+e.Pool+" "+e.Tags[0])
			return trouble
		}
	}
	const of = " abc123 m-1 z1 default ssd"
	region, _, client, clock := start(t, simulator.Config{
		Zones:    []simulator.Zone{{Name: "z1"}},
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123", Zone: "z1", Tags: []string{"ssd"}}},
		Hardware: says("config", simulator.Trouble{}),
	})
	removeFirst := region.AddHardware(says("first", simulator.Trouble{Fail: "first"}))
	region.AddHardware(says("second", simulator.Trouble{Fail: "second"}))
	for _, want := range []struct {
		asked []string
		why   string
	}{{[]string{"config" + of, "first" + of}, "first"}, {[]string{"config" + of, "second" + of}, "second"}} {
		asked = nil
		if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
		if m := region.Snapshot().Machines[0]; m.Error != want.why || len(asked) != 2 || asked[0] != want.asked[0] || asked[1] != want.asked[1] {
			t.Errorf("asked %q, failed with %q; want %q, %q", asked, m.Error, want.asked, want.why)
		}
		if _, err := client.Release(t.Context(), "abc123", maas.ReleaseParams{}); err != nil {
			t.Fatal(err)
		}
		removeFirst()
		removeFirst()
	}
}
