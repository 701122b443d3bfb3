package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// requirement is one constraint: a test, how it reads, and what to do where no machine meets it.
type requirement struct {
	fits func(maas.Machine) bool
	verb verb
	what string // after the verb
	// amiss reads after "all of these" and says what is wrong with those that it rejects; empty where "none of these" says it.
	amiss amiss
	// byState says that the states of the rejected tell something.
	byState bool
	// quiet says that it is not worth a word where it rejects nothing.
	quiet bool
	todo  string
}

// amiss is singular and plural.
type amiss struct{ one, many string }

// verb is singular and plural, and the negation of the singular.
type verb struct{ one, many, not string }

var (
	is  = verb{"is", "are", "is not"}
	has = verb{"has", "have", "does not have"}
)

// requirementsOf lists the constraints, then what every claim needs.
func requirementsOf(want Constraints, prefer Preferences) []requirement {
	all := append(kindRequirements(want),
		requirement{fits: func(m maas.Machine) bool { return m.Status == maas.StatusReady }, verb: is, what: "Ready", byState: true,
			todo: "add machines to MAAS, wait until some are released, or ask for less"},
		requirement{fits: func(m maas.Machine) bool { return !m.Locked }, verb: is, what: "unlocked", amiss: amiss{"is locked", "are locked"},
			todo: "unlock one in MAAS"},
	)
	if prefer.Avoided != nil {
		all = append(all, requirement{fits: func(m maas.Machine) bool { return prefer.levelOf(m) != avoidance.Entirely },
			verb: is, what: "not avoided", amiss: amiss{"is avoided after a failed deployment", "are avoided after failed deployments"},
			todo: "look at them in MAAS; CAPMAAS tries them again in a while if nothing else fits, or at once without their tag capmaas-avoid-until-…"})
	}
	if prefer.Taken != nil {
		all = append(all, requirement{fits: func(m maas.Machine) bool { return !prefer.Taken(m.SystemID) },
			verb: is, what: "left", amiss: amiss{"was taken by others first", "were taken by others first"}, todo: "CAPMAAS tries again by itself"})
	}
	if judged := judgedByMAAS(want); judged != "" && want.Satisfying != nil {
		// MAAS listed Ready machines only: of others it is not known.
		all = append(all, requirement{fits: func(m maas.Machine) bool { return want.Satisfying[m.SystemID] }, verb: has, what: judged,
			todo: "add such machines, or ask for less in a new MaasMachineTemplate"})
	}
	return all
}

// kindRequirements lists the constraints that say what kind of machine it must be, whoever has it now, in the order in which people
// narrow a search down.
func kindRequirements(want Constraints) []requirement {
	var all []requirement
	add := func(wanted bool, r requirement) {
		if wanted {
			all = append(all, r)
		}
	}
	add(want.Pool != "", requirement{fits: func(m maas.Machine) bool { return m.Pool.Name == want.Pool },
		verb: is, what: fmt.Sprintf("in pool %q", want.Pool), todo: "put machines into it, or correct spec.resourcePool in a new MaasMachineTemplate; ZonesAndPoolsFound of the MaasCluster says whether the pool exists"})
	add(want.Zone != "", requirement{fits: func(m maas.Machine) bool { return m.Zone.Name == want.Zone },
		verb: is, what: fmt.Sprintf("in zone %q", want.Zone), todo: "put machines into it in MAAS, or change failureDomain in the MachineDeployment or failureDomains in the MaasCluster"})
	for _, tag := range want.Tags {
		add(true, requirement{fits: func(m maas.Machine) bool { return slices.Contains(m.Tags, tag) },
			verb: has, what: fmt.Sprintf("tag %q", tag), todo: "give the tag to a machine, or drop it in a new MaasMachineTemplate"})
	}
	for _, tag := range want.NotTags {
		add(true, requirement{fits: func(m maas.Machine) bool { return !slices.Contains(m.Tags, tag) },
			verb: is, what: fmt.Sprintf("without tag %q", tag), amiss: amiss{fmt.Sprintf("has tag %q, which spec.notTags excludes", tag), fmt.Sprintf("have tag %q, which spec.notTags excludes", tag)},
			todo: "remove the tag from one, or drop it in a new MaasMachineTemplate"})
	}
	add(want.Architecture != "", requirement{fits: func(m maas.Machine) bool { return sameArchitecture(m.Architecture, want.Architecture) },
		verb: is, what: fmt.Sprintf("of architecture %q", want.Architecture), todo: "add such machines, or correct spec.architecture in a new MaasMachineTemplate"})
	add(len(want.ImageFor) > 0, requirement{fits: func(m maas.Machine) bool { return slices.Contains(want.ImageFor, family(m.Architecture)) },
		verb: is, what: fmt.Sprintf("of an architecture for which MAAS has image %s (%s)", want.Image, strings.Join(want.ImageFor, ", ")), quiet: true,
		todo: "upload or import it for the machines' architecture too, or correct spec.image in a new MaasMachineTemplate"})
	const larger = "add larger machines, or ask for less in a new MaasMachineTemplate"
	add(want.MinCPU > 0, requirement{fits: func(m maas.Machine) bool { return m.CPUCount >= want.MinCPU },
		verb: has, what: fmt.Sprintf("%d cores or more (spec.minCPU)", want.MinCPU), todo: larger})
	add(want.MinMemoryMiB > 0, requirement{fits: func(m maas.Machine) bool { return m.MemoryMiB >= want.MinMemoryMiB },
		verb: has, what: fmt.Sprintf("%d MiB of memory or more (spec.minMemory)", want.MinMemoryMiB), todo: larger})
	add(want.MinDiskGB > 0, requirement{fits: func(m maas.Machine) bool { return BootDiskBytes(m) >= int64(want.MinDiskGB)*1_000_000_000 },
		verb: has, what: fmt.Sprintf("a boot disk of %d GB or more (spec.minDiskSize)", want.MinDiskGB), todo: larger})
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
	return family(have) == want
}

// family is an architecture without its kernel: amd64 of amd64/generic.
func family(architecture string) string {
	name, _, _ := strings.Cut(architecture, "/")
	return name
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
