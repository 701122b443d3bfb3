package simulator_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func oneMachine() simulator.Config {
	return simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}}
}

// always intercepts every request with the same fault.
func always(f simulator.Fault) func(simulator.Request) simulator.Fault {
	return func(simulator.Request) simulator.Fault { return f }
}

// eventually waits for what other goroutines bring about.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what + " did not come true")
		}
	}
}

// hanging is how many handlers of this package hang.
func hanging() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*execution).strike")
}

// Not parallel: it counts goroutines.
func TestAHangEnds(t *testing.T) {
	let := make(chan struct{})
	tests := []struct {
		name  string
		fault simulator.Fault
		end   func(t *testing.T, region *simulator.Region, server *simulator.Server, cancel func())
		// want is how it ends for the client.
		want error
	}{
		{"when the client goes away", simulator.Fault{Hang: true}, func(_ *testing.T, _ *simulator.Region, _ *simulator.Server, cancel func()) { cancel() }, context.Canceled},
		{"when it is let go", simulator.Fault{Hang: true, Until: let}, func(*testing.T, *simulator.Region, *simulator.Server, func()) { close(let) }, io.EOF},
		{"with a reset", simulator.Fault{Hang: true, Until: let, Reset: true}, func(*testing.T, *simulator.Region, *simulator.Server, func()) {}, syscall.ECONNRESET},
		{"when the region goes away", simulator.Fault{Hang: true}, func(_ *testing.T, region *simulator.Region, _ *simulator.Server, _ func()) {
			region.SetAway(&simulator.Away{})
		}, io.EOF},
		{"when the region is closed", simulator.Fault{Hang: true}, func(_ *testing.T, region *simulator.Region, _ *simulator.Server, _ func()) { region.Close() }, io.EOF},
		{"when the server is closed", simulator.Fault{Hang: true}, func(t *testing.T, _ *simulator.Region, server *simulator.Server, _ func()) {
			t.Helper()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		}, io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			region, server, client, _ := start(t, oneMachine())
			region.SetIntercept(always(tt.fault))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := client.Release(ctx, "abc123", maas.ReleaseParams{})
				ended <- err
			}()
			if !errors.Is(tt.want, syscall.ECONNRESET) {
				awaitHang(t, region)
				if log := region.Requests(); log[0].Status != 0 || log[0].Committed {
					t.Errorf("while it hangs the log says %+v", log[0])
				}
				if hanging() != 1 {
					t.Errorf("%d requests hang, want 1", hanging())
				}
			}
			tt.end(t, region, server, cancel)
			if err := <-ended; !errors.Is(err, tt.want) || !errors.Is(err, maas.ErrOutcomeUnknown) {
				t.Errorf("the client got %v, want %v", err, tt.want)
			}
			eventually(t, "the end of the hang", func() bool { return hanging() == 0 })
		})
	}
}

func TestAResetIsOneOverTLSToo(t *testing.T) {
	t.Parallel()
	region, server, _ := startTLS(t)
	region.SetIntercept(always(simulator.Fault{Reset: true}))
	ask := func(config *tls.Config, one bool) error {
		client := trusting(t, server, config)
		if one {
			client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.TLSURL+"/api/2.0/version/", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := ask(&tls.Config{MinVersion: tls.VersionTLS12}, true); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("HTTP/1.1: %v, want a reset", err)
	}
	if err := ask(&tls.Config{MinVersion: tls.VersionTLS12}, false); err == nil || !strings.Contains(err.Error(), "stream error") {
		t.Errorf("HTTP/2: %v, want the stream to be reset", err)
	}
}

func TestFaultsWithoutAServerAbortTheHandler(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simulator.Fault{"reset": {Reset: true}, "lost answer": {DropAnswer: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			region, _, _, _ := start(t, oneMachine())
			region.SetIntercept(always(fault))
			defer func() {
				if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
					t.Errorf("the handler ended with %v", got)
				}
			}()
			region.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/MAAS/api/2.0/version/", nil))
		})
	}
}

// A GET is sent again by net/http when a connection that was used before
// breaks; MAAS knows the nonce of the first copy if that one ran.
func TestAReadThatIsRepeatedBelowTheClient(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault simulator.Fault
		want  maas.Kind
	}{
		{"never ran", simulator.Fault{Reset: true}, ""},
		{"ran", simulator.Fault{DropAnswer: true}, maas.KindUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			region, _, client, _ := start(t, oneMachine())
			if _, err := client.Machine(t.Context(), "abc123"); err != nil {
				t.Fatal(err)
			}
			struck := false
			region.SetIntercept(func(simulator.Request) simulator.Fault {
				if struck {
					return simulator.Fault{}
				}
				struck = true
				return tt.fault
			})
			if _, err := client.Machine(t.Context(), "abc123"); maas.KindOf(err) != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if log := region.Requests(); len(log) != 3 {
				t.Errorf("%d requests came, want 3", len(log))
			}
		})
	}
}

func TestARequestThatNeverRanSpendsNoNonce(t *testing.T) {
	t.Parallel()
	for _, committed := range []bool{false, true} {
		for _, preset := range []string{"unavailable", "bad-gateway"} {
			region, server, _, clock := start(t, oneMachine())
			region.SetIntercept(func(r simulator.Request) simulator.Fault {
				fault, _ := simulator.PresetAnswer(preset, r)
				fault.Committed = committed
				return fault
			})
			c := callerOf(t, server, clock)
			send := func() int {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/MAAS/api/2.0/zones/", nil)
				req.Header.Set("Authorization", c.key)
				w := httptest.NewRecorder()
				region.Handler().ServeHTTP(w, req)
				return w.Code
			}
			c.key = c.authorization()
			if code := send(); code < 500 {
				t.Errorf("%s: %d, want a failure", preset, code)
			}
			region.SetIntercept(nil)
			want := map[bool]int{false: http.StatusOK, true: http.StatusUnauthorized}[committed]
			if code := send(); code != want {
				t.Errorf("%s, committed %t: with the same nonce again %d, want %d", preset, committed, code, want)
			}
		}
	}
}

func TestWhoseCredentialsAreWrongGetsMAASsAnswerAndAProxys(t *testing.T) {
	t.Parallel()
	region, server, _, clock := start(t, oneMachine())
	stranger := callerOf(t, server, clock)
	stranger.key = "no:such:key"
	for preset, want := range map[string]int{"unavailable": 401, "error": 401, "bad-gateway": 502, "haproxy-timeout": 504} {
		for _, committed := range []bool{false, true} {
			region.SetIntercept(func(r simulator.Request) simulator.Fault {
				fault, _ := simulator.PresetAnswer(preset, r)
				fault.Committed = committed
				return fault
			})
			if code, body := stranger.do(http.MethodGet, "/zones/", "", nil); code != want {
				t.Errorf("%s, committed %t: %d %s, want %d", preset, committed, code, body, want)
			}
		}
	}
	for _, entry := range region.Requests() {
		if entry.Committed || (entry.Fault == "answered") != (entry.Status != 401) {
			t.Errorf("logged %+v", entry)
		}
	}
}

// What MAAS refuses was never committed, so nothing can fail after it.
func TestAFailureAfterTheCommitNeedsACommit(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, oneMachine())
	region.SetIntercept(func(r simulator.Request) simulator.Fault {
		fault, _ := simulator.PresetAnswer("unavailable", r)
		fault.Committed = true
		return fault
	})
	if _, err := client.Allocate(t.Context(), maas.AllocateParams{SystemID: "zzzzzz"}); !errors.Is(err, maas.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
}

func TestInterceptorsAreAskedInOrderUntilOneStrikes(t *testing.T) {
	t.Parallel()
	region, server, _, clock := start(t, oneMachine())
	c := callerOf(t, server, clock)
	var asked []string
	say := func(name string, status int) func(simulator.Request) simulator.Fault {
		return func(simulator.Request) simulator.Fault {
			asked = append(asked, name)
			return simulator.Fault{Status: status}
		}
	}
	expect := func(status int, want string) {
		t.Helper()
		asked = nil
		code, _ := c.do(http.MethodGet, "/zones/", "", nil)
		if got := strings.Join(asked, " "); got != want || code != status {
			t.Errorf("%d after asking %q, want %d after %q", code, got, status, want)
		}
	}
	region.SetIntercept(say("first", 0))
	removeSecond := region.AddIntercept(say("second", 0))
	removeThird := region.AddIntercept(say("third", 507))
	region.AddIntercept(say("fourth", 508))
	expect(507, "first second third")
	removeThird()
	expect(508, "first second fourth")
	removeSecond()
	removeSecond()
	expect(508, "first fourth")
	region.SetIntercept(say("first", 509))
	expect(509, "first")
}

func TestARegionThatIsAwayAnswersNobody(t *testing.T) {
	t.Parallel()
	cfg := oneMachine()
	cfg.DNSAddr = "127.0.0.1:0"
	region, server, client, clock := start(t, cfg)
	before := region.Snapshot()
	metadata := func() (int, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/metadata/", nil)
		if err != nil {
			return 0, err
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	region.SetAway(&simulator.Away{})
	if _, err := newClient(t, server, clock).Machines(t.Context(), maas.MachineFilter{}); !errors.Is(err, maas.ErrUnavailable) || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a read: %v, want a reset", err)
	}
	if _, err := client.Allocate(t.Context(), maas.AllocateParams{}); !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Errorf("an allocate: %v, want an unknown outcome", err)
	}
	if _, err := metadata(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the metadata service: %v, want a reset", err)
	}
	if got := ask(t, "udp", server.DNSAddr, "maas", dns.TypeSOA); !strings.HasPrefix(got, "NOERROR") {
		t.Errorf("DNS: %s", got)
	}
	region.SetAway(&simulator.Away{BadGateway: true})
	if _, err := client.Machines(t.Context(), maas.MachineFilter{}); !errors.Is(err, maas.ErrUnavailable) {
		t.Errorf("a read behind a proxy: %v", err)
	}
	if code, err := metadata(); code != http.StatusBadGateway || err != nil {
		t.Errorf("the metadata service behind a proxy: %d, %v", code, err)
	}
	for _, entry := range region.Requests() {
		if entry.Fault != "away" || entry.Committed || entry.Status != 0 && entry.Status != http.StatusBadGateway {
			t.Errorf("logged %+v", entry)
		}
	}
	region.SetAway(nil)
	if _, err := client.Machines(t.Context(), maas.MachineFilter{}); err != nil {
		t.Errorf("after it came back: %v", err)
	}
	if code, err := metadata(); code != http.StatusOK || err != nil {
		t.Errorf("the metadata service after it came back: %d, %v", code, err)
	}
	if after := region.Snapshot(); len(after.Machines) != 1 || after.Machines[0].Status != before.Machines[0].Status {
		t.Errorf("it came back with %+v", after)
	}
}

func TestARegionThatGoesAwayCutsOffWhatItWasDoing(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, oneMachine())
	arrived := make(chan struct{}, 1)
	region.SetIntercept(func(simulator.Request) simulator.Fault {
		arrived <- struct{}{}
		return simulator.Fault{Delay: time.Hour}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := client.Allocate(t.Context(), maas.AllocateParams{})
		ended <- err
	}()
	<-arrived
	region.SetAway(&simulator.Away{})
	if err := <-ended; !errors.Is(err, maas.ErrOutcomeUnknown) || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	region.SetAway(nil)
	if m := region.Snapshot().Machines[0]; m.Status != simulator.StatusReady {
		t.Errorf("the machine is %s", m.StatusName)
	}
}

func TestDNSWithOldData(t *testing.T) {
	t.Parallel()
	cfg := oneMachine()
	cfg.DNSAddr = "127.0.0.1:0"
	region, server, client, _ := start(t, cfg)
	record, err := client.CreateDNSResource(t.Context(), maas.DNSResourceParams{Name: "api", Domain: "maas", IPAddresses: []string{"10.20.0.9"}})
	if err != nil {
		t.Fatal(err)
	}
	region.SetDNSView(region.View())
	if _, err := client.UpdateDNSResource(t.Context(), record.ID, maas.DNSResourceParams{IPAddresses: []string{"10.20.0.10"}}); err != nil {
		t.Fatal(err)
	}
	if found, err := client.DNSResources(t.Context(), maas.DNSResourceFilter{FQDN: "api.maas"}); err != nil || len(found) != 1 || found[0].IPs()[0] != "10.20.0.10" {
		t.Errorf("the API says %+v, %v", found, err)
	}
	if got := ask(t, "udp", server.DNSAddr, "api.maas", dns.TypeA); !strings.HasSuffix(got, " 10.20.0.9") {
		t.Errorf("DNS says %s", got)
	}
	region.SetDNSView(nil)
	if got := ask(t, "udp", server.DNSAddr, "api.maas", dns.TypeA); !strings.HasSuffix(got, " 10.20.0.10") {
		t.Errorf("DNS says %s", got)
	}
}
