package inventory

import (
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Constraints are those that MAAS checks, in its own syntax. They are comparable; NewConstraints makes them.
type Constraints struct {
	storage, interfaces string
	subnets             string // one on each line
}

// NewConstraints returns the constraints of an allocate with these parameters, which package maas describes.
func NewConstraints(storage, interfaces string, subnets []string) Constraints {
	return Constraints{storage, interfaces, strings.Join(subnets, "\n")}
}

// filter selects the free machines that satisfy the constraints.
func (c Constraints) filter() maas.MachineFilter {
	f := maas.MachineFilter{Statuses: []maas.Status{maas.StatusReady}, Storage: c.storage, Interfaces: c.interfaces}
	if c.subnets != "" {
		f.Subnets = strings.Split(c.subnets, "\n")
	}
	return f
}
