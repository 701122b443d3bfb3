package endpoint_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// ours is the record as MAAS has it.
func (w *world) ours() maas.DNSResource {
	w.Helper()
	found, err := w.client.DNSResources(w.Context(), maas.DNSResourceFilter{Name: record.Name, Domain: record.Domain})
	if err != nil || len(found) != 1 {
		w.Fatal(found, err)
	}
	return found[0]
}

// set makes an operator's change.
func (w *world) set(params maas.DNSResourceParams) {
	w.Helper()
	if _, err := w.client.UpdateDNSResource(w.Context(), w.ours().ID, params); err != nil {
		w.Fatal(err)
	}
}

func (w *world) drop() {
	w.Helper()
	if err := w.client.DeleteDNSResource(w.Context(), w.ours().ID); err != nil {
		w.Fatal(err)
	}
}

// TestWhatAnOperatorChangesIsPutRight has two machines in the record, and an operator who changes it. The MaasCluster's reconciler looks, and
// the machines that are called join again.
func TestWhatAnOperatorChangesIsPutRight(t *testing.T) {
	t.Parallel()
	const another = 3600
	for name, test := range map[string]struct {
		change func(*world)
		called bool // the machines are, for they have to join again
	}{
		"an address of nobody is added": {func(w *world) { w.set(maas.DNSResourceParams{IPAddresses: []string{first, second, foreign}}) }, false},
		"one is replaced":               {func(w *world) { w.set(maas.DNSResourceParams{IPAddresses: []string{first, foreign}}) }, true},
		"one is taken out":              {func(w *world) { w.set(maas.DNSResourceParams{IPAddresses: []string{second}}) }, true},
		"all are taken out":             {func(w *world) { w.set(maas.DNSResourceParams{}) }, true},
		"only others are in":            {func(w *world) { w.set(maas.DNSResourceParams{IPAddresses: []string{foreign}}) }, true},
		"the TTL is changed": {func(w *world) {
			w.set(maas.DNSResourceParams{IPAddresses: []string{first, second}, AddressTTL: another})
		}, false},
		"the TTL and an address are": {func(w *world) { w.set(maas.DNSResourceParams{IPAddresses: []string{second}, AddressTTL: another}) }, true},
		"the record is deleted":      {(*world).drop, true},
		"the record is renamed": {func(w *world) {
			w.set(maas.DNSResourceParams{Name: "renamed", IPAddresses: []string{first, second}})
			w.removeRenamed()
		}, true},
		"nothing is, and nothing is done":  {func(*world) {}, false},
		"a second record of ours is there": {(*world).duplicate, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, simulator.Config{})
			called := 0
			w.publisher.Changed = func(endpoint.Record) { called++ }
			w.settle(first, second)
			test.change(w)
			w.ensure(endpoint.Members{SystemIDs: []string{"aaaaa1", "aaaaa2"}, Addresses: []string{first, second}, Complete: true})
			if (called > 0) != test.called {
				t.Errorf("the machines were called %d times", called)
			}
			w.settle(first, second)
		})
	}
}

// removeRenamed takes away what a rename left, which is nobody's concern here.
func (w *world) removeRenamed() {
	w.Helper()
	found, err := w.client.DNSResources(w.Context(), maas.DNSResourceFilter{Name: "renamed", Domain: record.Domain})
	if err != nil || len(found) != 1 {
		w.Fatal(found, err)
	}
	if err := w.client.DeleteDNSResource(w.Context(), found[0].ID); err != nil {
		w.Fatal(err)
	}
}

// duplicate makes another record of the name with our mark, as MAAS allows by a rename.
func (w *world) duplicate() {
	w.Helper()
	made, err := w.client.CreateDNSRecord(w.Context(), maas.DNSRecordParams{Name: "other", Domain: record.Domain, Type: "TXT", Data: "capmaas=t0ken,cluster=default/c1"})
	if err != nil {
		w.Fatal(err)
	}
	found, err := w.client.DNSResources(w.Context(), maas.DNSResourceFilter{FQDN: made.FQDN})
	if err != nil || len(found) != 1 {
		w.Fatal(found, err)
	}
	if _, err := w.client.UpdateDNSResource(w.Context(), found[0].ID, maas.DNSResourceParams{Name: record.Name, Domain: record.Domain, IPAddresses: []string{second}}); err != nil {
		w.Fatal(err)
	}
}

// TestARecordThatLostItsMarkIsLeftAlone: it may be somebody else's by now. Its addresses stay, so the control plane is reached as before.
func TestARecordThatLostItsMarkIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.settle(first, second)
	marks, err := w.client.DNSRecords(t.Context(), maas.DNSRecordFilter{Name: record.Name, Domain: record.Domain})
	if err != nil || len(marks) != 1 {
		t.Fatal(marks, err)
	}
	if err := w.client.DeleteDNSRecord(t.Context(), marks[0].ID); err != nil {
		t.Fatal(err)
	}
	writes := w.writes()
	var notOurs *endpoint.NotOursError
	for name, do := range map[string]act{"repair": repairs(first), "join": joins(third)} {
		if err := do(t.Context(), w.publisher); !errors.As(err, &notOurs) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := leaves(first)(t.Context(), w.publisher); err != nil {
		t.Errorf("leave: %v", err)
	}
	if w.writes() != writes {
		t.Error("a record without our mark was written")
	}
	// Whoever puts the mark back gives the record back.
	if _, err := w.client.CreateDNSRecord(t.Context(), maas.DNSRecordParams{Name: record.Name, Domain: record.Domain, Type: "TXT", Data: marks[0].Data}); err != nil {
		t.Fatal(err)
	}
	w.settle(first, second, third)
}

// TestAStaleAnswerIsMadeUpFor: what MAAS answers may be from before the last write. A whole set is made from it then, or none.
func TestAStaleAnswerIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		since act // what the stale answer does not show
		act   act
		after []string
	}{
		"one joined":           {joins(second), joins(third), []string{first, second, third}},
		"one joined, a repair": {joins(second), repairs(first, second), []string{first, second}},
		"one left":             {leaves(first), joins(second), []string{second}},
		"the one that leaves":  {joins(second), leaves(second), []string{first}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, simulator.Config{})
			w.join(first)
			view := w.region.View()
			if err := test.since(t.Context(), w.publisher); err != nil {
				t.Fatal(err)
			}
			stale := true
			w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if stale && r.Method == "GET" {
					return simulator.Fault{From: view}
				}
				return simulator.Fault{}
			})
			_ = test.act(t.Context(), w.publisher) // what it could not know is made up for
			stale = false
			if err := test.act(t.Context(), w.publisher); err != nil {
				t.Fatal(err)
			}
			for _, address := range []string{first, second} {
				if state, err := w.publisher.Read(t.Context(), record); err != nil {
					t.Fatal(err)
				} else if state.Has(address) && !slices.Contains(test.after, address) {
					w.leave(address)
				}
			}
			w.settle(test.after...)
		})
	}
}

func (w *world) leave(address string) {
	w.Helper()
	if _, err := w.publisher.Leave(w.Context(), record, "", address); err != nil {
		w.Fatal(err)
	}
}
