// Package management is the inside of a running sandbox: the management cluster with Cluster API and CAPMAAS, the MAAS region,
// and the machines, all under one daemon that starts them, watches them and answers questions.
package management

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// Settings are what a sandbox is started with.
type Settings struct {
	// Layout is known to whoever finds them.
	Layout host.Layout `json:"-"`
	// Machines is how many the region has.
	Machines int `json:"machines"`
	// Ports of the host's loopback that lead inside.
	Ports host.Ports `json:"ports"`
	// Image is brought into MAAS at the start.
	Image Image `json:"image"`
	// Scenario is what goes wrong in MAAS once everything runs; nil for nothing.
	Scenario *scenario.Scenario `json:"scenario,omitempty"`
}

func settingsPath(l host.Layout) string { return l.Run("settings.json") }

// Save writes the settings to where the daemon reads them.
func (s Settings) Save() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the settings: %w", err)
	}
	if err := os.WriteFile(settingsPath(s.Layout), text, 0o600); err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	return nil
}

// LoadSettings reads the settings of the sandbox that runs, or is being started.
func LoadSettings(l host.Layout) (Settings, error) {
	text, err := os.ReadFile(settingsPath(l))
	if err != nil {
		return Settings{}, fmt.Errorf("reading the settings: %w", err)
	}
	s := Settings{Layout: l}
	if err := json.Unmarshal(text, &s); err != nil {
		return Settings{}, fmt.Errorf("reading the settings: %w", err)
	}
	return s, nil
}
