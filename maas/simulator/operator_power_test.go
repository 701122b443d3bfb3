package simulator_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// plugs notes which machines the region starts and stops.
type plugs struct {
	calls  []string
	broken error
}

func (p *plugs) Boot(_ context.Context, m simulator.BootMachine) error {
	p.calls = append(p.calls, "boot "+m.Hostname)
	return nil
}

func (p *plugs) Halt(_ context.Context, systemID string, wipe bool) error {
	if wipe {
		systemID += " and wipe"
	}
	p.calls = append(p.calls, "halt "+systemID)
	return p.broken
}

func TestSomebodyPullsAPlug(t *testing.T) {
	t.Parallel()
	p := &plugs{}
	deployed := simulator.StatusDeployed
	region, _, _, _ := start(t, simulator.Config{
		Boot: p, Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123", Status: &deployed, PowerState: "on"}},
	})
	power := func() string {
		m, _ := region.Machine("abc123")
		return m.StatusName + " " + m.PowerState
	}
	for _, step := range []struct {
		on     bool
		broken error
		power  string
		calls  []string
	}{
		{false, errors.New("stuck"), "Deployed on", []string{"halt abc123"}},
		{false, nil, "Deployed off", []string{"halt abc123"}},
		{true, nil, "Deployed on", []string{"boot m-1"}},
		{true, nil, "Deployed on", nil}, // it is on already
	} {
		p.calls, p.broken = nil, step.broken
		if err := region.OperatorPower("abc123", step.on); err != nil {
			t.Fatal(err)
		}
		if power() != step.power || !slices.Equal(p.calls, step.calls) {
			t.Errorf("on %t, %v: %s, %v, want %s, %v", step.on, step.broken, power(), p.calls, step.power, step.calls)
		}
	}
	if err := region.OperatorPower("nobody", false); err == nil {
		t.Error("a machine that is not there has power")
	}
}
