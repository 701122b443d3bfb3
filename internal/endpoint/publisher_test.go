package endpoint_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

var record = endpoint.Record{Name: "c1-abc123", Domain: "maas", Token: "t0ken", Owner: "default/c1"}

// world is a region with one publisher for it.
type world struct {
	*testing.T
	region    *simulator.Region
	client    *maas.Client
	publisher *endpoint.Publisher
}

func newWorld(t *testing.T, config simulator.Config) *world {
	t.Helper()
	region, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, region, client, endpoint.NewPublisher(client)}
}

// deployed deploys a machine and returns its system ID and address.
func (w *world) deployed(hostname string) (systemID, address string) {
	w.Helper()
	machine, err := w.client.Allocate(w.Context(), maas.AllocateParams{})
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.client.Deploy(w.Context(), machine.SystemID, maas.DeployParams{}); err != nil {
		w.Fatal(err)
	}
	if machine, err = w.client.Machine(w.Context(), machine.SystemID); err != nil {
		w.Fatal(err)
	}
	if len(machine.IPAddresses) != 1 {
		w.Fatalf("machine %s has addresses %v", hostname, machine.IPAddresses)
	}
	return machine.SystemID, machine.IPAddresses[0]
}

// holds checks what the region has under the record's name.
func (w *world) holds(want ...simulator.DNSResourceSnapshot) {
	w.Helper()
	got := w.region.Snapshot().WithoutHistory().DNSResources
	if fmt.Sprint(describe(got)) != fmt.Sprint(describe(want)) {
		w.Errorf("the region holds %v, want %v", describe(got), describe(want))
	}
}

func describe(resources []simulator.DNSResourceSnapshot) (out []string) {
	for _, r := range resources {
		ttl := "-"
		if r.AddressTTL != nil {
			ttl = fmt.Sprint(*r.AddressTTL)
		}
		var marks []string
		for _, record := range r.Records {
			marks = append(marks, record.Type+" "+record.Data)
		}
		slices.Sort(r.Addresses)
		out = append(out, fmt.Sprintf("%s ttl=%s %v %v", r.FQDN, ttl, r.Addresses, marks))
	}
	slices.Sort(out)
	return out
}

func published(addresses ...string) simulator.DNSResourceSnapshot {
	ttl := endpoint.AddressTTL
	return simulator.DNSResourceSnapshot{
		FQDN: record.FQDN(), AddressTTL: &ttl, Addresses: addresses,
		Records: []simulator.DNSRecordSnapshot{{Type: "TXT", Data: "capmaas=t0ken,cluster=default/c1"}},
	}
}

func (w *world) ensure(members endpoint.Members) endpoint.State {
	w.Helper()
	state, err := w.publisher.Ensure(w.Context(), record, members)
	if err != nil {
		w.Fatal(err)
	}
	return state
}

func (w *world) join(address string) endpoint.State {
	w.Helper()
	state, err := w.publisher.Join(w.Context(), record, address)
	if err != nil {
		w.Fatal(err)
	}
	return state
}

func TestLifeOfARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1"}, {Hostname: "m-2"}}})
	before := fmt.Sprint(w.region.Snapshot().WithoutHistory())
	if state := w.ensure(endpoint.Members{Complete: true}); !state.Exists || !state.Created || len(state.Addresses) != 0 {
		t.Errorf("made: %+v", state)
	}
	w.holds(published())
	id1, ip1 := w.deployed("m-1")
	id2, ip2 := w.deployed("m-2")
	if state := w.join(ip1); !state.Has(ip1) || !slices.Equal(state.Added, []string{ip1}) {
		t.Errorf("joined: %+v", state)
	}
	w.join(ip2)
	w.holds(published(ip1, ip2))
	writes := w.writes()
	w.ensure(endpoint.Members{SystemIDs: []string{id1, id2}, Addresses: []string{ip1, ip2}, Complete: true})
	w.join(ip1)
	if w.writes() != writes {
		t.Error("a record that is as it should be was written")
	}
	if state, err := w.publisher.Leave(t.Context(), record, id1); err != nil || state.Has(ip1) || !slices.Equal(state.Removed, []string{ip1}) {
		t.Errorf("left: %+v, %v", state, err)
	}
	if _, err := w.publisher.Leave(t.Context(), record, "", ip2); err != nil {
		t.Error(err)
	}
	w.holds(published())
	for _, id := range []string{id1, id2} {
		if _, err := w.client.Release(t.Context(), id, maas.ReleaseParams{}); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := w.publisher.Remove(t.Context(), record); err != nil || !removed {
		t.Errorf("removed %v, %v", removed, err)
	}
	if removed, err := w.publisher.Remove(t.Context(), record); err != nil || removed {
		t.Errorf("removed again %v, %v", removed, err)
	}
	if after := fmt.Sprint(w.region.Snapshot().WithoutHistory()); after != before {
		t.Errorf("the region is not as before:\n%s\n%s", before, after)
	}
}

// writes counts requests that change DNS.
func (w *world) writes() (count int) {
	for _, request := range w.region.Requests() {
		if request.Method != http.MethodGet && len(request.Path) > 20 && request.Path[:18] == "/MAAS/api/2.0/dnsr" {
			count++
		}
	}
	return count
}

func TestParallelJoinsLoseNoAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	var wait sync.WaitGroup
	var want []string
	for i := range 12 {
		address := fmt.Sprintf("10.20.1.%d", 10+i)
		want = append(want, address)
		wait.Go(func() {
			if _, err := w.publisher.Join(t.Context(), record, address); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	w.holds(published(want...))
}

func TestARecordWithoutOurMarkIsNeverTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	params := maas.DNSResourceParams{Name: record.Name, Domain: "maas", IPAddresses: []string{"10.20.1.7"}}
	if _, err := w.client.CreateDNSResource(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	writes := w.writes()
	var notOurs *endpoint.NotOursError
	if _, err := w.publisher.Ensure(t.Context(), record, endpoint.Members{Complete: true}); !errors.As(err, &notOurs) {
		t.Errorf("ensure: %v", err)
	}
	if _, err := w.publisher.Join(t.Context(), record, "10.20.1.8"); !errors.As(err, &notOurs) {
		t.Errorf("join: %v", err)
	}
	if state, err := w.publisher.Leave(t.Context(), record, "", "10.20.1.7"); err != nil || state.Exists {
		t.Errorf("leave: %+v, %v", state, err)
	}
	if removed, err := w.publisher.Remove(t.Context(), record); err != nil || removed {
		t.Errorf("remove: %v, %v", removed, err)
	}
	if w.writes() != writes {
		t.Error("the record of somebody else was written")
	}
}

func TestACrashAfterTheMarkLeavesNothingThatIsNotOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	// The write of the set after the mark never arrives.
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Method == http.MethodPut {
			return simulator.Fault{Status: http.StatusBadGateway}
		}
		return simulator.Fault{}
	})
	if _, err := w.publisher.Join(t.Context(), record, "10.20.1.7"); !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Errorf("join: %v", err)
	}
	w.region.SetIntercept(nil)
	w.join("10.20.1.7")
	w.holds(published("10.20.1.7"))
}

func TestALostAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	dropped := false
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Method == http.MethodPost && !dropped {
			dropped = true
			return simulator.Fault{DropAnswer: true}
		}
		return simulator.Fault{}
	})
	w.ensure(endpoint.Members{Complete: true})
	if !dropped {
		t.Fatal("no answer was dropped")
	}
	w.holds(published())
}

func TestARecordThatMAASDroppedIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1"}}})
	w.ensure(endpoint.Members{Complete: true})
	id, ip := w.deployed("m-1")
	w.join(ip)
	if err := w.region.OperatorDelete(id); err != nil {
		t.Fatal(err)
	}
	for _, resource := range w.region.Snapshot().DNSResources {
		// Whether MAAS drops a record that still has a TXT record is not known; then this is what it amounts to.
		if err := w.client.DeleteDNSResource(t.Context(), resource.ID); err != nil {
			t.Fatal(err)
		}
	}
	w.holds()
	if state := w.ensure(endpoint.Members{Complete: true}); !state.Created {
		t.Errorf("made again: %+v", state)
	}
	w.holds(published())
}

func TestAnAddressDoesNotComeBackWithTheNextTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1"}}})
	w.ensure(endpoint.Members{Complete: true})
	id, ip := w.deployed("m-1")
	w.join(ip)
	// An operator releases the machine behind our back, and the row stays without an address.
	if err := w.region.OperatorRelease(id); err != nil {
		t.Fatal(err)
	}
	w.holds(published(""))
	w.ensure(endpoint.Members{SystemIDs: []string{id}, Complete: true})
	w.holds(published())
	w.deployed("m-1")
	w.holds(published())
}

func TestTheNextTenantsAddressIsTakenOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1"}}})
	w.ensure(endpoint.Members{Complete: true})
	id, ip := w.deployed("m-1")
	w.join(ip)
	if err := w.region.OperatorRelease(id); err != nil {
		t.Fatal(err)
	}
	_, next := w.deployed("m-1")
	w.holds(published(next))
	if state := w.ensure(endpoint.Members{Complete: true}); !slices.Equal(state.Removed, []string{next}) {
		t.Errorf("repaired: %+v", state)
	}
	w.holds(published())
}

func TestDuplicatesAreMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.join("10.20.1.7")
	// A rename makes a second record of the name, as MAAS allows.
	other, err := w.client.CreateDNSRecord(t.Context(), maas.DNSRecordParams{
		Name: "other", Domain: "maas", Type: "TXT", Data: "capmaas=t0ken,cluster=default/c1",
	})
	if err != nil {
		t.Fatal(err)
	}
	resources, err := w.client.DNSResources(t.Context(), maas.DNSResourceFilter{FQDN: other.FQDN})
	if err != nil || len(resources) != 1 {
		t.Fatal(resources, err)
	}
	_, err = w.client.UpdateDNSResource(t.Context(), resources[0].ID, maas.DNSResourceParams{
		Name: record.Name, Domain: "maas", IPAddresses: []string{"10.20.1.8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.region.Snapshot().DNSResources) != 2 {
		t.Fatal("there is no duplicate to merge")
	}
	w.ensure(endpoint.Members{})
	w.holds(published("10.20.1.7", "10.20.1.8"))
}

func TestDomainsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Domains: []simulator.Domain{{Name: "maas"}, {Name: "dark.example", Unserved: true}}})
	missing, dark := record, record
	missing.Domain, dark.Domain = "nowhere", "dark.example"
	var noDomain *endpoint.DomainNotFoundError
	if _, err := w.publisher.Ensure(t.Context(), missing, endpoint.Members{}); !errors.As(err, &noDomain) {
		t.Errorf("ensure: %v", err)
	}
	if _, err := w.publisher.Join(t.Context(), missing, "10.20.1.7"); !errors.As(err, &noDomain) {
		t.Errorf("join: %v", err)
	}
	if _, err := w.publisher.Leave(t.Context(), missing, "", "10.20.1.7"); err != nil {
		t.Errorf("leave: %v", err)
	}
	if _, err := w.publisher.Remove(t.Context(), missing); err != nil {
		t.Errorf("remove: %v", err)
	}
	var notServed *endpoint.DomainNotAuthoritativeError
	if _, err := w.publisher.Ensure(t.Context(), dark, endpoint.Members{}); !errors.As(err, &notServed) {
		t.Errorf("ensure: %v", err)
	}
	w.holds()
}

func TestAMAASThatIsAwayChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.join("10.20.1.7")
	w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: http.StatusServiceUnavailable} })
	if _, err := w.publisher.Ensure(t.Context(), record, endpoint.Members{Complete: true}); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("ensure: %v", err)
	}
	if _, err := w.publisher.Leave(t.Context(), record, "", "10.20.1.7"); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("leave: %v", err)
	}
	if _, err := w.publisher.Remove(t.Context(), record); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("remove: %v", err)
	}
	w.region.SetIntercept(nil)
	w.holds(published("10.20.1.7"))
}
