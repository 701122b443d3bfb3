package endpoint

import (
	"fmt"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// TestObservationNeverEmptiesARecord tries every record of up to three rows with everything that may be known of the cluster's machines.
func TestObservationNeverEmptiesARecord(t *testing.T) {
	t.Parallel()
	record := Record{Name: "c1", Domain: "maas", Token: "t0ken"}
	mark := []maas.DNSRecord{{Type: "TXT", Data: record.mark()}}
	kinds := []maas.DNSAddress{
		{IP: "10.0.0.1", SystemIDs: []string{"aaaaa1"}}, // of a machine of ours
		{IP: "10.0.0.2"}, // its object has this address
		{IP: "10.0.0.3"}, // nobody accounts for it
		{IP: "10.0.0.4", SystemIDs: []string{"zzzzz9"}}, // of a machine of somebody else
		{}, // released, and without an address
	}
	var knowledge []Members
	for _, ids := range [][]string{nil, {"aaaaa1"}, {"aaaaa2"}} {
		for _, addresses := range [][]string{nil, {"10.0.0.2"}, {"10.0.0.1", "10.0.0.2"}} {
			for _, complete := range []bool{false, true} {
				knowledge = append(knowledge, Members{SystemIDs: ids, Addresses: addresses, Complete: complete})
			}
		}
	}
	tried := 0
	for choice := range 1 << len(kinds) {
		var rows []maas.DNSAddress
		for i, row := range kinds {
			if choice&(1<<i) != 0 {
				rows = append(rows, row)
			}
		}
		found := []maas.DNSResource{{ID: 1, Addresses: rows, Records: mark}}
		for _, known := range knowledge {
			tried++
			judgeSet(t, fmt.Sprintf("rows %+v, known %+v", rows, known), rows, known, decide(record, found, change{members: &known}).set)
		}
	}
	if tried < 500 {
		t.Fatalf("only %d were tried", tried)
	}
}

// judgeSet: an address goes only if MAAS says that somebody else has it, or if another one stays that is accounted for.
func judgeSet(t *testing.T, what string, rows []maas.DNSAddress, known Members, set []string) {
	t.Helper()
	stays := map[string]bool{}
	for _, address := range set {
		stays[address] = true
	}
	kept := false
	for _, row := range rows {
		kept = kept || row.IP != "" && stays[row.IP] && known.standing(row) == member
	}
	for _, row := range rows {
		switch of := known.standing(row); {
		case row.IP == "":
		case of == stranger && stays[row.IP]:
			t.Errorf("%s: a stranger's address stays: %v", what, set)
		case of == member && !stays[row.IP], of == stray && !stays[row.IP] && !kept:
			t.Errorf("%s: %s is taken out: %v", what, row.IP, set)
		}
	}
	if len(set) > len(rows) {
		t.Errorf("%s: something was added: %v", what, set)
	}
}
