package simulator

import (
	"encoding/json"
	"fmt"
	"time"
)

// Durations of what hardware does. In JSON they are strings such as "90s".
type Durations struct {
	// Install is from power-on to the reboot into the installed system.
	Install time.Duration
	// Boot is from that reboot to the request for user data, when timers play
	// the machine.
	Boot time.Duration
	// PowerOn and PowerOff are from the command until the new state shows.
	PowerOn  time.Duration
	PowerOff time.Duration
	// Erase is how long disks are wiped.
	Erase time.Duration
	// Commission and Test are how long these run.
	Commission time.Duration
	Test       time.Duration
	// Compose is how long a VM host takes to make a machine, which whoever asked
	// waits for. MAAS gives up after 120 s.
	Compose time.Duration
	// DeployTimeout fails a deploy whose machine never asks for user data. Zero
	// means never. MAAS's own is 30 to 60 minutes. It has no spread.
	DeployTimeout time.Duration
	// Spread makes each of them differ from time to time: 95 of 100 take at most
	// so many times what is said above, and half of them less than that. It is
	// drawn from the region's seed. 0 or 1 is no spread; a number in JSON.
	Spread float64
}

func (d *Durations) fields() map[string]*time.Duration {
	return map[string]*time.Duration{
		"install": &d.Install, "boot": &d.Boot, "powerOn": &d.PowerOn, "powerOff": &d.PowerOff,
		"erase": &d.Erase, "commission": &d.Commission, "test": &d.Test, "compose": &d.Compose, "deployTimeout": &d.DeployTimeout,
	}
}

// UnmarshalJSON reads durations such as {"install": "90s", "spread": 1.5}.
func (d *Durations) UnmarshalJSON(b []byte) error { return readDurations(b, d.fields(), &d.Spread) }

// MarshalJSON writes the durations that are not zero.
func (d Durations) MarshalJSON() ([]byte, error) { return writeDurations(d.fields(), d.Spread) }

// spreadField is the only field of durations and latencies that is a number.
const spreadField = "spread"

func readDurations(b []byte, fields map[string]*time.Duration, spread *float64) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("durations must be an object such as {\"read\": \"90ms\"}: %w", err)
	}
	for name, raw := range in {
		if name == spreadField {
			if err := json.Unmarshal(raw, spread); err != nil {
				return fmt.Errorf("spread is %s, want a number such as 1.5", raw)
			}
			continue
		}
		field, ok := fields[name]
		if !ok {
			return fmt.Errorf("unknown duration %q", name)
		}
		var text string
		err := json.Unmarshal(raw, &text)
		value, problem := time.ParseDuration(text)
		if err != nil || problem != nil || value < 0 {
			return fmt.Errorf("duration %s is %s, want a value such as \"90s\"", name, raw)
		}
		*field = value
	}
	return nil
}

func writeDurations(fields map[string]*time.Duration, spread float64) ([]byte, error) {
	out := map[string]any{}
	for name, value := range fields {
		if *value != 0 {
			out[name] = value.String()
		}
	}
	if spread != 0 {
		out[spreadField] = spread
	}
	return json.Marshal(out)
}
