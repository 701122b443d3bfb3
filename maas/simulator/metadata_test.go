package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// fakeBooter keeps what it was asked.
type fakeBooter struct {
	mu     sync.Mutex
	booted []simulator.BootMachine
	halted []string
	fail   error
}

func (b *fakeBooter) Boot(_ context.Context, m simulator.BootMachine) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.booted = append(b.booted, m)
	return b.fail
}

func (b *fakeBooter) Halt(_ context.Context, systemID string, wipe bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.halted = append(b.halted, fmt.Sprint(systemID, " ", wipe))
	return nil
}

// cloudInit reads a path of the metadata service as cloud-init's MAAS data
// source does, with the header that oauthlib makes.
func cloudInit(t *testing.T, m simulator.BootMachine, now time.Time, nonce, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.MetadataURL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", fmt.Sprintf(`OAuth oauth_nonce="%s", oauth_timestamp="%d", oauth_version="1.0", `+
		`oauth_signature_method="PLAINTEXT", oauth_consumer_key="%s", oauth_token="%s", oauth_signature="%%26%s"`,
		nonce, now.Unix(), m.ConsumerKey, m.TokenKey, m.TokenSecret))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestMachineIsDeployedWhenItFetchesItsUserData(t *testing.T) {
	t.Parallel()
	booter := &fakeBooter{}
	_, server, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}}, Boot: booter, Durations: simulator.Durations{Install: time.Minute},
	})
	ctx := context.Background()
	m, err := client.Allocate(ctx, maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	const userData = "#cloud-config\nhostname: \xff\n"
	if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{UserData: []byte(userData)}); err != nil {
		t.Fatal(err)
	}
	if len(booter.booted) != 0 {
		t.Fatal("booted before the installation ended")
	}
	clock.Advance(time.Minute)
	if len(booter.booted) != 1 {
		t.Fatalf("booted %d times, want once", len(booter.booted))
	}
	b := booter.booted[0]
	if b.Interface.Address != "10.20.0.3/21" || b.Interface.Gateway != "10.20.0.1" || b.MetadataURL != server.URL+"/metadata/" || b.SearchDomains[0] != "maas" {
		t.Errorf("boots with %+v", b)
	}
	for path, want := range map[string]string{
		"2012-03-01/meta-data/instance-id":    m.SystemID,
		"2012-03-01/meta-data/local-hostname": "m-1.maas",
		"2012-03-01/meta-data/public-keys":    "",
		"2012-03-01/meta-data/vendor-data":    "cloud-init: |\n  #cloud-config\n  {}\n",
	} {
		if status, got := cloudInit(t, b, clock.Now(), path, path); status != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusDeploying {
		t.Fatalf("before user data was fetched: %v, %v", m, err)
	}
	if status, got := cloudInit(t, b, clock.Now(), "u", "2012-03-01/user-data"); status != http.StatusOK || got != userData {
		t.Errorf("user data: %d %q", status, got)
	}
	if m, err = client.Machine(ctx, m.SystemID); err != nil || m.Status != maas.StatusDeployed {
		t.Fatalf("after user data was fetched: %v, %v", m, err)
	}
	if _, err := client.Release(ctx, m.SystemID, maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	if want := m.SystemID + " true"; len(booter.halted) != 1 || booter.halted[0] != want {
		t.Errorf("halted %v, want %q", booter.halted, want)
	}
	if status, _ := cloudInit(t, b, clock.Now(), "v", "2012-03-01/user-data"); status != http.StatusUnauthorized {
		t.Errorf("the key of a released machine gets %d, want 401", status)
	}
}

func TestDeployFailsWhenTheMachineDoesNotBoot(t *testing.T) {
	t.Parallel()
	region, _, client, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}}, Boot: &fakeBooter{fail: errors.New("no kernel")},
		Durations: simulator.Durations{Install: time.Minute},
	})
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	if m, err = client.Machine(t.Context(), m.SystemID); err != nil || m.Status != maas.StatusFailedDeployment {
		t.Fatalf("%v, %v", m, err)
	}
	if !strings.Contains(m.ErrorDescription, "no kernel") || m.Owner == "" || len(m.IPAddresses) == 0 {
		t.Errorf("a failed deploy keeps owner and address and tells why: %+v", m)
	}
	events := region.Snapshot().Events
	if last := events[len(events)-1]; last.Type != "Marking node failed" {
		t.Errorf("last event is %+v", last)
	}
}

func TestMetadataServiceWantsTheMachinesKey(t *testing.T) {
	t.Parallel()
	_, server, _, _ := start(t, simulator.Config{})
	resp, err := http.Get(server.URL + "/metadata/2012-03-01/user-data")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d, want 401", resp.StatusCode)
	}
}
