package scenario

import (
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// hardware is asked at each moment of a machine's life, with the region locked.
func (r *Running) hardware(event simulator.HardwareEvent) simulator.Trouble {
	now := r.clock.Now()
	machine := simulator.MachineSnapshot{
		SystemID: event.SystemID, Hostname: event.Hostname, Zone: event.Zone, Pool: event.Pool, Tags: event.Tags,
	}
	for _, a := range r.all(OnHardware) {
		if a.word.moment != event.Moment || !a.machines.matches(machine) || !r.takes(a, now) {
			continue
		}
		trouble, effect := a.trouble()
		r.tell(a, Strike{Operation: string(event.Moment), SystemID: event.SystemID, Hostname: event.Hostname, Effect: effect})
		return trouble
	}
	return simulator.Trouble{}
}

// trouble is what a fault of hardware makes of its moment, also in words.
func (a *armed) trouble() (simulator.Trouble, string) {
	if a.word.stuck {
		return simulator.Trouble{Stuck: true}, "never ends"
	}
	reason := a.fault.Reason
	if reason == "" {
		reason = a.word.reason
	}
	effect := "fails: " + reason
	if a.fault.Delay > 0 {
		effect = "fails after " + a.fault.Delay.String() + ": " + reason
	}
	return simulator.Trouble{Fail: reason, Delay: time.Duration(a.fault.Delay)}, effect
}
