package simulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestOperatorMovesAMachine(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t, maas37)
	l.midDeploy()
	for _, err := range []error{l.region.SetZone("abc123", "z2"), l.region.SetPool("abc123", "p1"), l.region.SetTags("abc123", "ssd", "gpu", "ssd")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	seen, err := l.client.Machine(t.Context(), "abc123")
	if err != nil || seen.Zone.Name != "z2" || seen.Pool.Name != "p1" || !slices.Equal(seen.Tags, []string{"gpu", "ssd"}) || seen.Status != maas.StatusDeploying {
		t.Errorf("the client sees %+v, %v", seen, err)
	}
	l.clock.Advance(time.Hour)
	if m := l.machine(); m.Status != simulator.StatusDeployed || m.Zone != "z2" || m.Pool != "p1" || !slices.Equal(m.Tags, []string{"gpu", "ssd"}) {
		t.Errorf("the region holds %+v", m)
	}
	if err := l.region.SetTags("abc123"); err != nil || len(l.machine().Tags) != 0 {
		t.Errorf("without tags: %v, %v", l.machine().Tags, err)
	}
}

func TestOperatorsAreToldWhatIsNotThere(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t, maas37)
	before := l.region.Snapshot()
	for want, err := range map[string]error{
		`no machine "zzz999"`:              l.region.OperatorTake("zzz999", "other"),
		`no machine "zzz998"`:              l.region.OperatorMarkBroken("zzz998", ""),
		`no machine "zzz997"`:              l.region.SetZone("zzz997", "z1"),
		`machine abc123: no user "nobody"`: l.region.OperatorTake("abc123", "nobody"),
		`machine abc123: no user "no-one"`: l.region.OperatorDeploy("abc123", "no-one", ""),
		`machine abc123: no zone "z9"`:     l.region.SetZone("abc123", "z9"),
		`machine abc123: no pool "p9"`:     l.region.SetPool("abc123", "p9"),
		`machine abc123: no tag "t9"`:      l.region.SetTags("abc123", "ssd", "t9"),
		`no subnet "10.9.9.0/24"`:          l.region.ExhaustAddresses("10.9.9.0/24", true),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if after := l.region.Snapshot(); len(after.Events) != len(before.Events) || after.Machines[0].Zone != "z1" {
		t.Errorf("the region changed: %+v", after)
	}
}

func TestAddressesThatAreUsedUp(t *testing.T) {
	t.Parallel()
	for _, version := range []string{maas34, maas35, maas37} {
		for _, subnet := range []string{"", "10.20.0.0/21"} {
			t.Run(version+" "+subnet, func(t *testing.T) {
				t.Parallel()
				l := newSharedLab(t, version)
				if _, err := l.region.AddMachine(simulator.Machine{Hostname: "m-2", SystemID: "def456"}); err != nil {
					t.Fatal(err)
				}
				l.must(l.client.Deploy(t.Context(), "def456", maas.DeployParams{}))
				if err := l.region.ExhaustAddresses(subnet, true); err != nil {
					t.Fatal(err)
				}
				_, err := l.client.Deploy(t.Context(), "abc123", maas.DeployParams{})
				if maas.KindOf(err) != told || !strings.Contains(err.Error(), "No more IPs available in subnet: 10.20.0.0/21.") {
					t.Errorf("the client gets %v", err)
				}
				if l.state() != simulator.StatusAllocated {
					t.Errorf("the client sees %s", l.state())
				}
				all := l.region.Snapshot().Machines
				if all[0].Owner != "capi" || all[0].Image != anImage || len(all[0].Addresses) != 0 || len(all[1].Addresses) != 1 {
					t.Errorf("the region holds %+v", all)
				}
				if err := l.region.ExhaustAddresses(subnet, false); err != nil {
					t.Fatal(err)
				}
				l.must(l.client.Deploy(t.Context(), "abc123", maas.DeployParams{}))
				l.clock.Advance(time.Hour)
				if m := l.machine(); m.Status != simulator.StatusDeployed || len(m.Addresses) != 1 {
					t.Errorf("the region holds %+v", m)
				}
			})
		}
	}
}

func TestEventsThatAreLost(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t, maas37)
	l.midDeploy()
	events := func() int { return len(l.region.Snapshot().Events) }
	before := events()
	l.region.LoseEvents(true)
	l.clock.Advance(time.Hour)
	page, err := l.client.Events(t.Context(), maas.EventFilter{Limit: 1000})
	if err != nil || len(page.Events) == 0 || events() != before {
		t.Errorf("%d events were written, and the client reads %d, %v", events()-before, len(page.Events), err)
	}
	seen, err := l.client.Machine(t.Context(), "abc123")
	if err != nil || seen.Status != maas.StatusDeployed || seen.StatusMessage != "Loading ephemeral" && seen.StatusMessage != "Configuring OS" {
		t.Errorf("the client sees %s (%s), %v", seen.Status, seen.StatusMessage, err)
	}
	l.region.LoseEvents(false)
	l.must(l.client.Release(t.Context(), "abc123", maas.ReleaseParams{}))
	if m := l.machine(); events() == before || m.StatusMessage != "Releasing" {
		t.Errorf("afterwards %d events were written, and the last is %q", events()-before, m.StatusMessage)
	}
}
