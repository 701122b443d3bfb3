// Package placement decides which machine fits best, and says why each other one does not. It is pure: values in, values out.
package placement

import (
	"cmp"
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Constraints say what a machine must be like. Zero fields do not constrain.
type Constraints struct {
	Zone, Pool    string
	Tags, NotTags []string // all of the former, none of the latter
	Architecture  string   // amd64, or MAAS's longer form amd64/generic
	MinCPU        int
	MinMemoryMiB  int
	MinDiskGB     int // of 10^9 bytes: the disk that the machine boots from
}

// Choose returns the candidates that can be claimed now and fit, the best first, and what each constraint leaves of them.
// Candidates may be all machines of a region: those that are not free are counted in the explanation.
func Choose(candidates []maas.Machine, want Constraints) ([]maas.Machine, Explanation) {
	left := slices.Clone(candidates)
	why := Explanation{total: len(left)}
	for _, r := range requirementsOf(want) {
		rejected := []maas.Machine{}
		left = slices.DeleteFunc(left, func(m maas.Machine) bool {
			if r.fits(m) {
				return false
			}
			rejected = append(rejected, m)
			return true
		})
		why.add(r, len(left), rejected)
	}
	slices.SortStableFunc(left, func(a, b maas.Machine) int {
		return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(a.SystemID, b.SystemID))
	})
	return left, why
}

// cost is MAAS's own measure of what a machine is worth: the cheapest that fits wastes least. Disks break ties.
func cost(m maas.Machine) float64 {
	return float64(m.CPUCount) + float64(m.MemoryMiB)/1024 + m.StorageMB/1e9
}
