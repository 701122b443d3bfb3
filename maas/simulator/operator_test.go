package simulator_test

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestOperatorActsShowToClients(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{
		Users:    []simulator.User{{Name: "admin", APIKey: simulator.DefaultAPIKey, Admin: true}, {Name: "other", APIKey: "a:b:c"}},
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Durations: simulator.Durations{Install: time.Hour},
	})
	tests := []struct {
		name string
		act  func() error
		want func(*maas.Machine) bool
	}{
		{"owner", func() error { return region.SetOwner("abc123", "other") }, func(m *maas.Machine) bool { return m.Owner == "other" }},
		{"status", func() error { return region.SetStatus("abc123", simulator.StatusFailedTesting) }, func(m *maas.Machine) bool { return m.Status == maas.StatusFailedTesting }},
		{"power", func() error { return region.SetPower("abc123", "error") }, func(m *maas.Machine) bool { return m.PowerState == "error" }},
		{"lock", func() error { return region.Lock("abc123", true) }, func(m *maas.Machine) bool { return m.Locked }},
		{"rename", func() error { return region.Rename("abc123", "m-9") }, func(m *maas.Machine) bool { return m.FQDN == "m-9.maas" }},
		{"annotations", func() error { return region.SetAnnotations("abc123", map[string]string{"k": "v"}) }, func(m *maas.Machine) bool { return m.Annotations["k"] == "v" }},
		{"deployed, then release", func() error {
			return errors.Join(region.SetStatus("abc123", simulator.StatusDeployed), region.OperatorRelease("abc123"))
		}, func(m *maas.Machine) bool {
			return m.Status == maas.StatusReady && m.Owner == "" && !m.Locked && len(m.Annotations) == 0
		}},
	}
	for _, tt := range tests {
		if err := tt.act(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		m, err := client.Machine(t.Context(), "abc123")
		if err != nil || !tt.want(m) {
			t.Errorf("%s: %+v, %v", tt.name, m, err)
		}
	}
	if err := region.OperatorDelete("abc123"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Machine(t.Context(), "abc123"); !errors.Is(err, maas.ErrNotFound) {
		t.Errorf("after the delete: %v", err)
	}
	if err := region.Lock("abc123", true); err == nil {
		t.Error("an act on a machine that is gone gives no error")
	}
}

func TestFailDeploymentKeepsOwnerAndTellsWhy(t *testing.T) {
	t.Parallel()
	region, _, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}}, Durations: simulator.Durations{Install: time.Hour},
	})
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	if err := region.FailDeployment(m.SystemID, "curtin failed"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Hour)
	m, err = client.Machine(t.Context(), m.SystemID)
	if err != nil || m.Status != maas.StatusFailedDeployment || m.Owner != "admin" || m.ErrorDescription != "curtin failed" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestDeployFailsAtItsDeadline(t *testing.T) {
	t.Parallel()
	_, _, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}}, Durations: simulator.Durations{Install: 2 * time.Hour, DeployTimeout: time.Hour},
	})
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(3 * time.Hour)
	if m, err = client.Machine(t.Context(), m.SystemID); err != nil || m.Status != maas.StatusFailedDeployment {
		t.Errorf("%v, %v", m, err)
	}
}

func TestDroppedAnswerIsCommitted(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}},
		Intercept: func(r simulator.Request) simulator.Fault {
			return simulator.Fault{DropAnswer: r.Op == "allocate"}
		},
	})
	if _, err := client.Allocate(t.Context(), maas.AllocateParams{AgentName: "claim"}); !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Errorf("the client sees %v, want an unknown outcome", err)
	}
	found, err := client.Machines(t.Context(), maas.MachineFilter{AgentName: "claim"})
	if err != nil || len(found) != 1 {
		t.Errorf("by its agent name: %v, %v", found, err)
	}
	for _, r := range region.Requests() {
		if r.Op == "allocate" && r.Status != 0 {
			t.Errorf("a dropped answer is logged with status %d", r.Status)
		}
	}
}

func TestInterceptMayChangeTheRegion(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}})
	region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" && r.User == "admin" {
			if err := region.SetOwner("abc123", "somebody"); err != nil {
				t.Error(err)
			}
			if err := region.SetStatus("abc123", simulator.StatusAllocated); err != nil {
				t.Error(err)
			}
		}
		return simulator.Fault{}
	})
	if _, err := client.Allocate(t.Context(), maas.AllocateParams{SystemID: "abc123"}); !errors.Is(err, maas.ErrConflict) {
		t.Errorf("allocating what was just taken: %v, want a conflict", err)
	}
}

func TestInstallationShowsItsProgress(t *testing.T) {
	t.Parallel()
	_, _, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Durations: simulator.Durations{Install: 4 * time.Minute, Boot: time.Minute},
	})
	if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Deploying", "Loading ephemeral", "Configuring OS", "Configuring OS", "Rebooting", "Deployed"} {
		m, err := client.Machine(t.Context(), "abc123")
		if err != nil || m.StatusMessage != want {
			t.Errorf("after %s: %v, %v, want %q", clock.Now().Format("04:05"), m.StatusMessage, err, want)
		}
		clock.Advance(time.Minute)
	}
}

func TestRefusedRequestChangesNothing(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}})
	before := region.Snapshot()
	region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" {
			return simulator.Fault{Status: http.StatusServiceUnavailable, Body: "away"}
		}
		return simulator.Fault{}
	})
	if _, err := client.Allocate(t.Context(), maas.AllocateParams{}); err == nil {
		t.Error("a refused allocate succeeded")
	}
	region.SetIntercept(nil)
	// Deploying a Ready machine acquires it first; the bad series undoes that.
	if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{DistroSeries: "nope"}); !errors.Is(err, maas.ErrInvalid) {
		t.Errorf("deploy of a bad series: %v", err)
	}
	// The second address cannot be read, after the first was reserved.
	if _, err := client.CreateDNSResource(t.Context(), maas.DNSResourceParams{Name: "a", Domain: "maas", IPAddresses: []string{"10.20.0.9", "x"}}); err == nil {
		t.Error("a bad address was accepted")
	}
	if after := region.Snapshot(); !reflect.DeepEqual(before, after) {
		t.Errorf("the region changed:\n%+v\n%+v", before, after)
	}
}

func TestAccessLogHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}})
	if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{UserData: []byte("join secret"), Comment: "for c1"}); err != nil {
		t.Fatal(err)
	}
	log := region.Requests()
	last := log[len(log)-1]
	if last.Op != "deploy" || last.User != "admin" || last.Status != http.StatusOK || last.Form.Get("comment") != "for c1" {
		t.Errorf("logged %+v", last)
	}
	if got := last.Form.Get("user_data"); got != "<redacted>" {
		t.Errorf("the log holds user data: %q", got)
	}
}
