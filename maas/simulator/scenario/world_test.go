package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// world is a region in which a scenario is played, with a client of MAAS's and
// one of the control.
type world struct {
	t       *testing.T
	region  *simulator.Region
	clock   *simulator.VirtualClock
	running *Running
	client  *maas.Client
	server  *simulator.Server
	control *httptest.Server
	lines   []string // what OnStrike was told
}

// midnight is when every world begins.
func midnight() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }

func config() simulator.Config {
	return simulator.Config{
		Users: []simulator.User{{Name: "capi", APIKey: "a:b:c", Admin: true}, {Name: "operator", APIKey: "d:e:f", Admin: true}},
		Zones: []simulator.Zone{{Name: "rack-a"}, {Name: "rack-b"}},
		Pools: []simulator.Pool{{Name: "workers"}},
		Machines: []simulator.Machine{
			{Hostname: "node-1", SystemID: "aaaaaa", Zone: "rack-a", Tags: []string{"gpu"}, Cores: 1},
			{Hostname: "node-2", SystemID: "bbbbbb", Zone: "rack-b", Pool: "workers", Cores: 2},
			{Hostname: "node-3", SystemID: "cccccc", Zone: "rack-b", Cores: 3},
		},
		Durations: simulator.Durations{Install: time.Minute, Boot: 10 * time.Second, PowerOff: time.Second, Erase: time.Minute},
	}
}

// play starts a region and the scenario with these faults.
func play(t *testing.T, faults string, change ...func(*simulator.Config)) *world {
	t.Helper()
	s, err := Parse([]byte("seed: 1\nfaults:\n" + faults))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: simulator.NewVirtualClock(midnight())}
	cfg := config()
	for _, f := range change {
		f(&cfg)
	}
	cfg.Clock = w.clock
	if w.region, err = simulator.New(cfg); err != nil {
		t.Fatal(err)
	}
	if w.server, err = w.region.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if w.running, err = Start(w.region, w.clock, s, OnStrike(func(s Strike) { w.lines = append(w.lines, s.String()) })); err != nil {
		t.Fatal(err)
	}
	w.control = httptest.NewServer(Control(w.region, w.running))
	t.Cleanup(func() {
		w.control.Close()
		w.running.Stop()
		if err := w.server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	w.client = w.as("a:b:c")
	return w
}

func (w *world) as(key string) *maas.Client {
	client, err := maas.New(maas.Config{Endpoint: w.server.URL, APIKey: key, Now: w.clock.Now, Timeout: 20 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// seen is what a client sees of a call, in short: "ok" or the kind of the error,
// with the HTTP status and what MAAS said.
func seen(err error) string {
	if err == nil {
		return "ok"
	}
	var e *maas.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := string(e.Kind)
	if e.StatusCode != 0 {
		text += fmt.Sprintf(" %d", e.StatusCode)
	}
	if e.Said {
		text += ": " + e.Message
	}
	return text
}

func (w *world) allocate(name string) string {
	_, err := w.client.Allocate(w.t.Context(), maas.AllocateParams{SystemID: name})
	return seen(err)
}

func (w *world) deploy(id string) string {
	_, err := w.client.Deploy(w.t.Context(), id, maas.DeployParams{UserData: []byte("#cloud-config\n")})
	return seen(err)
}

func (w *world) release(id string, params maas.ReleaseParams) string {
	_, err := w.client.Release(w.t.Context(), id, params)
	return seen(err)
}

// deployed makes a machine Deployed.
func (w *world) deployed(id string) {
	w.t.Helper()
	if a, d := w.allocate(id), w.deploy(id); a != "ok" || d != "ok" {
		w.t.Fatalf("allocate: %s, deploy: %s", a, d)
	}
	w.clock.Advance(2 * time.Minute)
	if m := w.machine(id); m.Status != simulator.StatusDeployed {
		w.t.Fatalf("%s is %s", id, m.StatusName)
	}
}

// read is what a client reads of a machine, in short.
func (w *world) read(id string) string {
	m, err := w.client.Machine(w.t.Context(), id)
	if err != nil {
		return seen(err)
	}
	return short3(m.Status.String(), m.Owner, string(m.PowerState))
}

// holds is what the region holds of a machine, in short.
func (w *world) holds(id string) string {
	m, ok := w.region.Machine(id)
	if !ok {
		return "none"
	}
	text := short3(m.StatusName, m.Owner, m.PowerState)
	if m.Locked {
		text += ", locked"
	}
	if m.Error != "" {
		text += ": " + m.Error
	}
	return text
}

func short3(status, owner, power string) string {
	if owner == "" {
		owner = "nobody"
	}
	return status + ", " + owner + ", " + power
}

func (w *world) machine(id string) simulator.MachineSnapshot {
	w.t.Helper()
	m, ok := w.region.Machine(id)
	if !ok {
		w.t.Fatalf("no machine %s", id)
	}
	return m
}

// call is a request that package maas has no method for.
func (w *world) call(method, path string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+"/api/2.0"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", fmt.Sprintf(`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="a", `+
		`oauth_token="b", oauth_signature="%%26c", oauth_timestamp="%d", oauth_nonce="%d"`, w.clock.Now().Unix(), time.Now().UnixNano()))
	return exchange(w.t, req)
}

// ask asks the control.
func (w *world) ask(method, path, body string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.control.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	return exchange(w.t, req)
}

func exchange(t *testing.T, req *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body)))
}

// impatient is a context of a client that gives up once a fault struck it.
func impatient(w *world) context.Context {
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	struck := func(s State) bool { return s.Struck > 0 }
	go func() {
		for ctx.Err() == nil && !slices.ContainsFunc(w.running.Faults(), struck) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	return ctx
}

// resolver asks the region's DNS server.
func resolver(w *world) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, w.server.DNSAddr)
	}}
}
