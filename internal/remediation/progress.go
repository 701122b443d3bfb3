// Package remediation keeps what was done to heal a machine. It stands in an annotation of the MaasMachine and not of the MaasRemediation: that
// one goes whenever the Machine looks healthy, and a machine that fails again an hour later was not healed.
package remediation

import (
	"encoding/json"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// Progress is what was done.
type Progress struct {
	// Cycles are when power cycles began, the last at the end.
	Cycles []time.Time `json:"cycles,omitempty"`
	// On is when the machine was off in the last of them, and was to be switched on again; nil while it has to be off.
	On *time.Time `json:"on,omitempty"`
	// GaveUp says that nothing more is tried; nil while something is.
	GaveUp *GaveUp `json:"gaveUp,omitempty"`
}

// GaveUp is the end of a remediation in vain.
type GaveUp struct {
	At time.Time `json:"at"`
	// Because is why.
	Because Cause `json:"because"`
	// Off says that the machine is to be switched off, and to stay so.
	Off bool `json:"off,omitempty"`
}

// Cause is why a machine is not power-cycled, or not any more.
type Cause string

// The causes.
const (
	NotRecovered   Cause = "NotRecovered"   // power cycles did not help
	PowerStaysOn   Cause = "PowerStaysOn"   // it could not be switched off
	NoPowerControl Cause = "NoPowerControl" // MAAS cannot switch it
	InMemory       Cause = "InMemory"       // it was deployed to memory
	Lost           Cause = "Lost"           // it is gone from MAAS, or not ours
	NotDeployed    Cause = "NotDeployed"    // it never was, or is not any more
	Asked          Cause = "Asked"          // a person asked for another machine
)

// maxCycles bounds what is kept; no strategy allows as many.
const maxCycles = 20

// Of reads the progress from a MaasMachine. What somebody made unreadable is none.
func Of(machine *infrav1.MaasMachine) Progress {
	p := Progress{}
	if err := json.Unmarshal([]byte(machine.Annotations[infrav1.RemediationAnnotation]), &p); err != nil {
		return Progress{}
	}
	return p
}

// Store writes the progress to a MaasMachine.
func (p Progress) Store(machine *infrav1.MaasMachine) {
	p.Cycles = p.Cycles[max(0, len(p.Cycles)-maxCycles):]
	text, err := json.Marshal(p)
	if err != nil {
		return // of times and texts there is none that has no form
	}
	if machine.Annotations == nil {
		machine.Annotations = map[string]string{}
	}
	machine.Annotations[infrav1.RemediationAnnotation] = string(text)
}

// Last is when the last power cycle began; the zero time if there was none.
func (p Progress) Last() time.Time {
	if len(p.Cycles) == 0 {
		return time.Time{}
	}
	return p.Cycles[len(p.Cycles)-1]
}

// SwitchingOff says that a power cycle began, and that the machine was not seen off yet.
func (p Progress) SwitchingOff() bool { return p.GaveUp == nil && len(p.Cycles) > 0 && p.On == nil }

// KeepsOff says that the machine has to be off, so that nobody else switches it on.
func (p Progress) KeepsOff() bool { return p.SwitchingOff() || p.GaveUp != nil && p.GaveUp.Off }

// Since counts the power cycles that began after a time.
func (p Progress) Since(t time.Time) int {
	n := 0
	for _, began := range p.Cycles {
		if began.After(t) {
			n++
		}
	}
	return n
}

// IsUnderWay says that a power cycle began no longer ago than d, or that its machine was switched on no longer ago than d.
func (p Progress) IsUnderWay(now time.Time, d time.Duration) bool {
	switch {
	case p.GaveUp != nil || len(p.Cycles) == 0:
		return false
	case p.On == nil:
		return now.Sub(p.Last()) < d
	}
	return now.Sub(*p.On) < d
}

// MachineOf names the Machine that a MaasRemediation is for; "" if it says none. UIDs change in a move, names do not.
func MachineOf(object *infrav1.MaasRemediation) string {
	for _, ref := range object.OwnerReferences {
		if ref.Kind == "Machine" {
			return ref.Name
		}
	}
	return ""
}
