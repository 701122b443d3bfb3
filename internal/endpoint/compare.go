package endpoint

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// change is what a caller wants of a record's addresses; the zero value wants them as they are.
type change struct {
	members *Members // removes who is not accounted for
	join    string   // an address to add
	leave   *departure
}

// departure is a machine that goes: its addresses go with it, even if they are the last.
type departure struct {
	systemID  string
	addresses []string
}

// decision is what it takes to get from what MAAS has to what is wanted.
type decision struct {
	found   bool  // a record of ours exists
	foreign bool  // so does one that is not ours
	id      int   // the record that stays
	write   bool  // its set has to be written
	surplus []int // the others of ours, which go once the set is written
	set     []string
	present []string // what the name resolved to before, of ours
}

// decide compares the records of one name with what is wanted. It does not look at any order.
func decide(record Record, found []maas.DNSResource, want change) decision {
	var d decision
	var ours []maas.DNSResource
	for _, resource := range found {
		if record.marks(resource) {
			ours = append(ours, resource)
		} else {
			d.foreign = true
		}
	}
	if len(ours) == 0 {
		return d
	}
	// MAAS allows several records of one name; the oldest stays.
	slices.SortFunc(ours, func(a, b maas.DNSResource) int { return cmp.Compare(a.ID, b.ID) })
	keep := ours[0]
	d.found, d.id = true, keep.ID
	var rows []maas.DNSAddress
	for i, resource := range ours {
		rows = append(rows, resource.Addresses...)
		if i > 0 {
			d.surplus = append(d.surplus, resource.ID)
		}
	}
	d.set = wanted(rows, want)
	d.present = addressesOf(rows)
	d.write = keep.HasEmptyRows() ||
		keep.AddressTTL == nil || *keep.AddressTTL != AddressTTL ||
		!slices.Equal(addressesOf(keep.Addresses), d.set)
	return d
}

// wanted returns the set that a record shall have, sorted. Rows without an address are never part of it.
func wanted(rows []maas.DNSAddress, want change) []string {
	kept := withoutDeparted(rows, want.leave)
	if want.members != nil {
		kept = withoutStrangers(kept, *want.members)
	}
	set := addressesOf(kept)
	if want.join != "" {
		set = append(set, canonical(want.join))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func withoutDeparted(rows []maas.DNSAddress, gone *departure) []maas.DNSAddress {
	if gone == nil {
		return rows
	}
	var kept []maas.DNSAddress
	for _, row := range rows {
		if !gone.has(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

func (g departure) has(row maas.DNSAddress) bool {
	if g.systemID != "" && slices.Contains(row.SystemIDs, g.systemID) {
		return true
	}
	return slices.ContainsFunc(g.addresses, func(address string) bool { return row.IP != "" && canonical(address) == canonical(row.IP) })
}

// withoutStrangers drops the addresses of machines that are not of the cluster. An address that merely nobody accounts for
// goes only if a member's remains: once the record is used, an empty one is worse than a doubtful one.
func withoutStrangers(rows []maas.DNSAddress, members Members) []maas.DNSAddress {
	var sure, doubtful []maas.DNSAddress
	for _, row := range rows {
		switch {
		case row.IP == "":
		case members.standing(row) == member:
			sure = append(sure, row)
		case members.standing(row) == stray:
			doubtful = append(doubtful, row)
		}
	}
	if len(sure) > 0 || members.Unused {
		return sure
	}
	return doubtful
}

// addressesOf returns the addresses of rows, sorted and each once.
func addressesOf(rows []maas.DNSAddress) []string {
	set := []string{}
	for _, row := range rows {
		if row.IP != "" {
			set = append(set, canonical(row.IP))
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// canonical writes an address as MAAS does.
func canonical(address string) string {
	if parsed, err := netip.ParseAddr(address); err == nil {
		return parsed.String()
	}
	return address
}
