package endpoint

import (
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Members says which addresses in a record are accounted for: those of the cluster's control-plane machines.
type Members struct {
	// SystemIDs are the machines' names in MAAS, as far as they are claimed and still ours.
	SystemIDs []string
	// Addresses are the addresses that the machines are known to have.
	Addresses []string
	// Complete says that Addresses holds those of every machine. Where it does not (statuses do not survive `clusterctl
	// move`), an address that nobody accounts for may be one of ours, and stays.
	Complete bool
	// Unused says that the control plane never answered yet, so nothing is reached by the record. An address that nobody
	// accounts for then goes even as the last: the first machine joins an empty record alone.
	Unused bool
}

// standing is what an address in the record is to the cluster.
type standing int

const (
	member   standing = iota
	stray             // nobody accounts for it
	stranger          // MAAS says that a machine which is not of this cluster has it
)

func (m Members) standing(row maas.DNSAddress) standing {
	if len(row.SystemIDs) > 0 {
		for _, id := range row.SystemIDs {
			if slices.Contains(m.SystemIDs, id) {
				return member
			}
		}
		// Even if a machine of ours had this address once: MAAS gave it away since.
		return stranger
	}
	if slices.Contains(m.Addresses, row.IP) || !m.Complete {
		return member
	}
	return stray
}
