package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// requirement is one constraint: a test, and how it reads after "is", "are", "has" or "have".
type requirement struct {
	fits func(maas.Machine) bool
	verb verb
	what string
	// byState says that the states of the rejected tell something.
	byState bool
	// taken says that the rejected would fit, but another claim was quicker.
	taken bool
}

// verb is singular and plural.
type verb struct{ one, many string }

var (
	is  = verb{"is", "are"}
	has = verb{"has", "have"}
)

// requirementsOf lists the constraints, then what every claim needs.
func requirementsOf(want Constraints, prefer Preferences) []requirement {
	all := append(kindRequirements(want),
		requirement{fits: func(m maas.Machine) bool { return m.Status == maas.StatusReady }, verb: is, what: "Ready", byState: true},
		requirement{fits: func(m maas.Machine) bool { return !m.Locked }, verb: is, what: "unlocked"},
	)
	if want.Satisfying != nil {
		// MAAS listed Ready machines only: of others it is not known.
		all = append(all, requirement{
			fits: func(m maas.Machine) bool { return want.Satisfying[m.SystemID] }, verb: has, what: judgedByMAAS(want),
		})
	}
	if prefer.Taken != nil {
		all = append(all, requirement{fits: func(m maas.Machine) bool { return !prefer.Taken(m.SystemID) }, taken: true})
	}
	return all
}

// kindRequirements lists the constraints that say what kind of machine it must be, whoever has it now, in the order in which people
// narrow a search down.
func kindRequirements(want Constraints) []requirement {
	var all []requirement
	add := func(wanted bool, v verb, what string, fits func(maas.Machine) bool) {
		if wanted {
			all = append(all, requirement{fits: fits, verb: v, what: what})
		}
	}
	add(want.Pool != "", is, fmt.Sprintf("in pool %q", want.Pool), func(m maas.Machine) bool { return m.Pool.Name == want.Pool })
	add(want.Zone != "", is, fmt.Sprintf("in zone %q", want.Zone), func(m maas.Machine) bool { return m.Zone.Name == want.Zone })
	for _, tag := range want.Tags {
		add(true, has, fmt.Sprintf("tag %q", tag), func(m maas.Machine) bool { return slices.Contains(m.Tags, tag) })
	}
	for _, tag := range want.NotTags {
		add(true, is, fmt.Sprintf("without tag %q", tag), func(m maas.Machine) bool { return !slices.Contains(m.Tags, tag) })
	}
	add(want.Architecture != "", is, "of architecture "+want.Architecture, func(m maas.Machine) bool {
		return sameArchitecture(m.Architecture, want.Architecture)
	})
	add(want.MinCPU > 0, has, fmt.Sprintf("%d cores", want.MinCPU), func(m maas.Machine) bool { return m.CPUCount >= want.MinCPU })
	add(want.MinMemoryMiB > 0, has, fmt.Sprintf("%d MiB of memory", want.MinMemoryMiB), func(m maas.Machine) bool {
		return m.MemoryMiB >= want.MinMemoryMiB
	})
	add(want.MinDiskGB > 0, has, fmt.Sprintf("a boot disk of %d GB", want.MinDiskGB), func(m maas.Machine) bool {
		return BootDiskBytes(m) >= int64(want.MinDiskGB)*1_000_000_000
	})
	return all
}

// judgedByMAAS names the constraints that we do not understand, in the words in which they were given.
func judgedByMAAS(want Constraints) string {
	var parts []string
	add := func(kind, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", kind, value))
		}
	}
	add("storage", want.Storage)
	add("interfaces", want.Interfaces)
	for _, subnet := range want.Subnets {
		add("subnet", subnet)
	}
	return strings.Join(parts, " and ")
}

// sameArchitecture compares amd64/generic with amd64/generic or amd64.
func sameArchitecture(have, want string) bool {
	if strings.Contains(want, "/") {
		return have == want
	}
	name, _, _ := strings.Cut(have, "/")
	return name == want
}

// BootDiskBytes is the size of the disk that the machine boots from; where MAAS does not say which, that of the largest. 0 is unknown.
func BootDiskBytes(m maas.Machine) int64 {
	if m.BootDisk != nil {
		return m.BootDisk.SizeBytes
	}
	var largest int64
	for _, d := range m.BlockDevices {
		largest = max(largest, d.SizeBytes)
	}
	return largest
}
