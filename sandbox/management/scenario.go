package management

import (
	"fmt"
	"sync"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// strikeLimit bounds how many strikes are kept: those of a fault that strikes every read are many.
const strikeLimit = 1000

// trouble is what goes wrong in the sandbox's MAAS.
type trouble struct {
	clock   *simulator.JumpingClock
	running *scenario.Running

	mu      sync.Mutex
	strikes []scenario.Strike
	total   int
}

// Strikes are what a scenario did.
type Strikes struct {
	// Total is how many there were.
	Total int `json:"total"`
	// Latest are the newest, oldest first.
	Latest []scenario.Strike `json:"latest"`
}

// watch makes it possible to play a scenario against a region. Nothing goes wrong until one is played.
func (t *trouble) watch(region *simulator.Region) (err error) {
	t.running, err = scenario.Start(region, t.clock, scenario.Scenario{}, scenario.OnStrike(t.struck))
	return err
}

func (t *trouble) struck(s scenario.Strike) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.strikes) >= strikeLimit {
		t.strikes = append([]scenario.Strike(nil), t.strikes[strikeLimit/2:]...)
	}
	t.strikes = append(t.strikes, s)
	t.total++
}

func (t *trouble) all() Strikes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Strikes{Total: t.total, Latest: append([]scenario.Strike{}, t.strikes...)}
}

// play begins the scenario of the settings, now that everything runs that it is to strike.
func (d *Daemon) play() error {
	s := d.settings.Scenario
	if s == nil {
		return nil
	}
	if err := d.trouble.running.Replace(*s); err != nil {
		return fmt.Errorf("playing the scenario: %w", err)
	}
	d.reporter.note("from now on things go wrong in MAAS: %s", describe(*s))
	return nil
}

func describe(s scenario.Scenario) string {
	if s.Description != "" {
		return s.Description
	}
	return fmt.Sprintf("a scenario of %d faults", len(s.Faults))
}
