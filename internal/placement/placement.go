// Package placement decides which machine fits best, and says why each other one does not. It is pure: values in, values out.
package placement

import (
	"cmp"
	"slices"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Constraints say what a machine must be like. Zero fields do not constrain.
type Constraints struct {
	Zone, Pool    string
	Tags, NotTags []string // all of the former, none of the latter
	Architecture  string   // amd64, or MAAS's longer form amd64/generic
	// ImageFor are the architectures, such as amd64, that MAAS has Image for; nil means that any will do.
	Image    string
	ImageFor []string

	MinCPU       int
	MinMemoryMiB int
	MinDiskGB    int // of 10^9 bytes: the disk that the machine boots from

	// Storage, Interfaces and Subnets are in MAAS's own syntax, and MAAS alone judges them. Here they are only words for Satisfying.
	Storage, Interfaces string
	Subnets             []string // a machine must be on all of them
	// Satisfying holds the system IDs of the Ready machines that MAAS listed for Storage, Interfaces and Subnets; nil means that MAAS
	// was not asked, and then they do not constrain.
	Satisfying map[string]bool
}

// ConstraintsOf returns what a spec asks of a machine. Whoever knows the owner Machine puts in its zone, which goes first.
func ConstraintsOf(spec infrav1.MaasMachineSpec) Constraints {
	return Constraints{
		Zone: spec.FailureDomain, Pool: spec.ResourcePool, Tags: spec.Tags, NotTags: spec.NotTags, Architecture: spec.Architecture,
		MinCPU: int(spec.MinCPU), MinMemoryMiB: int(spec.MinMemory), MinDiskGB: int(spec.MinDiskSize),
		Storage: spec.Storage, Interfaces: spec.Interfaces, Subnets: spec.Subnets,
	}
}

// Preferences say which of the machines that fit are better. Zero fields do not matter.
type Preferences struct {
	// PeersByZone says how many machines of the same control plane each zone has. A machine in a zone with fewer is better, whatever it costs.
	PeersByZone map[string]int
	// Taken says which machines another claim of this process asks MAAS for at this moment. They are never chosen.
	Taken func(systemID string) bool
	// Avoided says which machines failed a short while ago. They come last, whatever their zone, or are not chosen at all.
	Avoided func(maas.Machine) avoidance.Level
}

// Choose returns the candidates that can be claimed now and fit, the best first, and what each constraint leaves of them.
// Candidates may be all machines of a region: those that are not free are counted in the explanation.
func Choose(candidates []maas.Machine, want Constraints, prefer Preferences) ([]maas.Machine, Explanation) {
	left, why := sift(candidates, requirementsOf(want, prefer))
	slices.SortStableFunc(left, prefer.compare)
	return left, why
}

// Suitable returns the machines that are of the kind that is wanted, whoever has them now, in their order, and what each constraint
// leaves of them. What MAAS alone judges does not count.
func Suitable(machines []maas.Machine, want Constraints) ([]maas.Machine, Explanation) {
	return sift(machines, kindRequirements(want))
}

// sift keeps what meets all requirements.
func sift(machines []maas.Machine, requirements []requirement) ([]maas.Machine, Explanation) {
	left := slices.Clone(machines)
	why := Explanation{total: len(left)}
	for _, r := range requirements {
		rejected := []maas.Machine{}
		left = slices.DeleteFunc(left, func(m maas.Machine) bool {
			if r.fits(m) {
				return false
			}
			rejected = append(rejected, m)
			return true
		})
		if !r.quiet || len(rejected) > 0 {
			why.add(r, len(left), rejected)
		}
	}
	return left, why
}

// compare ranks the better machine first, always in the same way.
func (p Preferences) compare(a, b maas.Machine) int {
	return cmp.Or(
		cmp.Compare(p.levelOf(a), p.levelOf(b)),
		cmp.Compare(p.PeersByZone[a.Zone.Name], p.PeersByZone[b.Zone.Name]),
		cmp.Compare(cost(a), cost(b)),
		cmp.Compare(a.SystemID, b.SystemID),
	)
}

func (p Preferences) levelOf(m maas.Machine) avoidance.Level {
	if p.Avoided == nil {
		return avoidance.No
	}
	return p.Avoided(m)
}

// cost is MAAS's own measure of what a machine is worth: the cheapest that fits wastes least. Disks break ties.
func cost(m maas.Machine) float64 {
	return float64(m.CPUCount) + float64(m.MemoryMiB)/1024 + m.StorageMB/1e9
}
