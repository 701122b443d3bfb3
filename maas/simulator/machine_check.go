package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// The most that a machine may have. Each core is a number in its JSON.
const (
	mostCores     = 4096
	mostMemoryMiB = 1 << 30 // 1 PiB
	mostDiskGB    = 1 << 30
)

// check says what no hardware has, or MAAS would not take.
func (m Machine) check() error {
	switch {
	case !isLabel(m.Hostname):
		return fmt.Errorf("hostname is no label of a domain name: letters, digits and hyphens, 63 at most")
	case strings.ContainsFunc(m.SystemID, func(r rune) bool { return !isAlphanumeric(r) }):
		return fmt.Errorf("systemID %q has other characters than letters and digits", m.SystemID)
	case m.Cores < 0 || m.Cores > mostCores:
		return fmt.Errorf("cores is %d, want 1 to %d", m.Cores, mostCores)
	case m.MemoryMiB < 0 || m.MemoryMiB > mostMemoryMiB:
		return fmt.Errorf("memoryMiB is %d, want 1 to %d", m.MemoryMiB, mostMemoryMiB)
	case m.DiskGB > mostDiskGB:
		return fmt.Errorf("diskGB is %d, want %d at most", m.DiskGB, mostDiskGB)
	case m.PowerState != "" && !slices.Contains(powerStates(), m.PowerState):
		return fmt.Errorf("powerState %q is none of %s", m.PowerState, strings.Join(powerStates(), ", "))
	}
	for _, name := range m.Tags {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isAlphanumeric(r) && r != '-' && r != '_' }) {
			return fmt.Errorf("tag %q has other characters than letters, digits, - and _", name)
		}
	}
	return nil
}

// powerStates are those that MAAS knows.
func powerStates() []string { return []string{"off", "on", "unknown", "error"} }

// isLabel says whether a text may stand between the dots of a domain name.
func isLabel(text string) bool {
	return text != "" && hostLabelProblem(text) == "" && !strings.ContainsFunc(text, func(r rune) bool { return !isAlphanumeric(r) && r != '-' })
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
