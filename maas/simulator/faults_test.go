package simulator_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// faultCase is a fault on a request, and what becomes of it.
type faultCase struct {
	name  string
	fault simulator.Fault
	// preset is an answer to take in place of fault's.
	preset string
	// write and read are what package maas makes of it.
	write, read maas.Kind
	// happens says that a write takes effect.
	happens bool
	// plain is what any HTTP client gets: status and content type, or how the
	// connection ends.
	plain string
	// retryAfter is the header of that name.
	retryAfter string
	// logged is what the access log says.
	logged string
}

const (
	unknown     = maas.KindOutcomeUnknown
	unavailable = maas.KindUnavailable
	lines       = "text/plain; charset=utf-8"
	utfPage     = "text/html; charset=utf-8"
)

func faultCases() []faultCase {
	committed := simulator.Fault{Committed: true}
	return []faultCase{
		{name: "none", happens: true, plain: "200 application/json; charset=utf-8"},
		{name: "unavailable", preset: "unavailable", write: unknown, read: unavailable, plain: "503 " + lines, logged: "answered"},
		{name: "no rack", preset: "no-rack", write: unknown, read: unavailable, plain: "503 " + lines, retryAfter: "10", logged: "answered"},
		{name: "error", preset: "error", write: unknown, read: unavailable, plain: "500 " + lines, logged: "answered"},
		{name: "conflict", preset: "conflict", write: maas.KindConflict, read: maas.KindConflict, plain: "409 " + lines, logged: "answered"},
		{name: "conflict to retry", preset: "conflict-retry", write: unavailable, read: unavailable, plain: "409 " + utfPage, retryAfter: "5", logged: "answered"},
		{name: "forbidden", preset: "forbidden", write: maas.KindForbidden, read: maas.KindForbidden, plain: "403 " + lines, logged: "answered"},
		{name: "unauthorized", preset: "unauthorized", write: maas.KindUnauthorized, read: maas.KindUnauthorized, plain: "401 " + utfPage, logged: "answered"},
		{name: "bad gateway", preset: "bad-gateway", write: unknown, read: unavailable, plain: "502 text/html", logged: "answered"},
		{name: "proxy unavailable", preset: "proxy-unavailable", write: unknown, read: unavailable, plain: "503 text/html", logged: "answered"},
		{name: "gateway timeout", preset: "gateway-timeout", write: unknown, read: unavailable, plain: "504 text/html", logged: "answered"},
		{name: "HAProxy's bad gateway", preset: "haproxy-bad-gateway", write: unknown, read: unavailable, plain: "502 text/html", logged: "answered"},
		{name: "HAProxy unavailable", preset: "haproxy-unavailable", write: unknown, read: unavailable, plain: "503 text/html", logged: "answered"},
		{name: "HAProxy's timeout", preset: "haproxy-timeout", write: unknown, read: unavailable, plain: "504 text/html", logged: "answered"},
		{name: "unavailable after commit", preset: "unavailable", fault: committed, write: unknown, read: unavailable, happens: true, plain: "503 " + lines, logged: "answered"},
		{name: "no rack after commit", preset: "no-rack", fault: committed, write: unknown, read: unavailable, happens: true, plain: "503 " + lines, retryAfter: "10", logged: "answered"},
		{name: "error after commit", preset: "error", fault: committed, write: unknown, read: unavailable, happens: true, plain: "500 " + lines, logged: "answered"},
		{name: "bad gateway after commit", preset: "bad-gateway", fault: committed, write: unknown, read: unavailable, happens: true, plain: "502 text/html", logged: "answered"},
		{name: "gateway timeout after commit", preset: "gateway-timeout", fault: committed, write: unknown, read: unavailable, happens: true, plain: "504 text/html", logged: "answered"},
		{name: "by hand", fault: simulator.Fault{Status: 507, Body: "full"}, write: unknown, read: unavailable, plain: "507 " + lines, logged: "answered"},
		{name: "lost answer", fault: simulator.Fault{DropAnswer: true}, write: unknown, read: unavailable, happens: true, plain: "EOF", logged: "dropped"},
		{name: "reset", fault: simulator.Fault{Reset: true}, write: unknown, read: unavailable, plain: "reset", logged: "reset"},
		{name: "reset after commit", fault: simulator.Fault{Reset: true, Committed: true}, write: unknown, read: unavailable, happens: true, plain: "reset", logged: "reset"},
		{name: "hang", fault: simulator.Fault{Hang: true}, write: unknown, read: unavailable, plain: "hang", logged: "hang"},
		{name: "hang after commit", fault: simulator.Fault{Hang: true, Committed: true}, write: unknown, read: unavailable, happens: true, plain: "hang", logged: "hang"},
		{name: "slow", fault: simulator.Fault{Delay: 20 * time.Millisecond}, happens: true, plain: "200 application/json; charset=utf-8", logged: "slow"},
	}
}

// struck returns the fault of a case for a request.
func (f faultCase) struck(t *testing.T, r simulator.Request) simulator.Fault {
	t.Helper()
	if f.preset == "" {
		return f.fault
	}
	out, known := simulator.PresetAnswer(f.preset, r)
	if !known {
		t.Errorf("there is no answer %q", f.preset)
	}
	out.Committed = f.fault.Committed
	return out
}

// faultCall is a call that faults strike.
type faultCall struct {
	operation string // as the access log names it
	write     bool
	// call makes it with package maas.
	call func(context.Context, *maas.Client) error
	// method, path and form are the same in plain HTTP.
	method, path string
	form         url.Values
	// happened looks whether a write took effect, with all that comes after it.
	happened func(simulator.Snapshot) bool
}

func faultCalls() []faultCall {
	return []faultCall{
		{
			operation: "machines allocate", write: true,
			call: func(ctx context.Context, c *maas.Client) error {
				_, err := c.Allocate(ctx, maas.AllocateParams{SystemID: "abc123", AgentName: "claim"})
				return err
			},
			method: "POST", path: "/machines/?op=allocate", form: url.Values{"system_id": {"abc123"}, "agent_name": {"claim"}},
			happened: func(s simulator.Snapshot) bool {
				m := s.Machines[0]
				return m.Status == simulator.StatusAllocated && m.Owner == "admin" && m.AgentName == "claim"
			},
		},
		{
			operation: "machine deploy", write: true,
			call: func(ctx context.Context, c *maas.Client) error {
				_, err := c.Deploy(ctx, "abc123", maas.DeployParams{UserData: []byte("x")})
				return err
			},
			method: "POST", path: "/machines/abc123/?op=deploy", form: url.Values{"user_data": {"eA=="}},
			happened: func(s simulator.Snapshot) bool {
				m := s.Machines[0]
				return m.Status == simulator.StatusDeploying && m.HasUserData && len(m.Addresses) == 1
			},
		},
		{
			operation: "dnsresource update", write: true,
			call: func(ctx context.Context, c *maas.Client) error {
				_, err := c.UpdateDNSResource(ctx, 1, maas.DNSResourceParams{IPAddresses: []string{"10.20.0.10"}})
				return err
			},
			method: "PUT", path: "/dnsresources/1/", form: url.Values{"ip_addresses": {"10.20.0.10"}},
			happened: func(s simulator.Snapshot) bool {
				return slices.Equal(s.DNSResources[0].Addresses, []string{"10.20.0.10"})
			},
		},
		{
			operation: "machines read",
			call: func(ctx context.Context, c *maas.Client) error {
				_, err := c.Machines(ctx, maas.MachineFilter{})
				return err
			},
			method: "GET", path: "/machines/",
		},
	}
}

func TestEveryFaultOnRequests(t *testing.T) {
	t.Parallel()
	for _, fault := range faultCases() {
		for _, call := range faultCalls() {
			t.Run(fault.name+"/"+call.operation, func(t *testing.T) {
				t.Parallel()
				fault.meets(t, call, false)
				fault.meets(t, call, true)
			})
		}
	}
}

// meets makes a call that the fault strikes, with package maas or in plain
// HTTP, and looks at the client and at the region.
func (f faultCase) meets(t *testing.T, call faultCall, plain bool) {
	t.Helper()
	region, server, setup, clock := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Durations: simulator.Durations{Install: time.Hour},
	})
	if _, err := setup.CreateDNSResource(t.Context(), maas.DNSResourceParams{Name: "api", Domain: "maas", IPAddresses: []string{"10.20.0.9"}}); err != nil {
		t.Fatal(err)
	}
	before := region.Snapshot()
	region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Operation != call.operation {
			t.Errorf("the request is called %q, want %q", r.Operation, call.operation)
		}
		return f.struck(t, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.plain == "hang" {
		go func() {
			defer cancel()
			awaitHang(t, region)
		}()
	}
	if plain {
		got, retryAfter := plainly(ctx, callerOf(t, server, clock), call)
		if got != f.plain || retryAfter != f.retryAfter {
			t.Errorf("a plain client gets %q, Retry-After %q; want %q, %q", got, retryAfter, f.plain, f.retryAfter)
		}
	} else {
		f.judge(t, call, call.call(ctx, newClient(t, server, clock)))
	}
	after := region.Snapshot()
	writes := call.write && f.happens
	switch {
	case writes && !call.happened(after):
		t.Errorf("the write did not take effect: %+v", after)
	case !writes && !reflect.DeepEqual(before, after):
		t.Errorf("the region changed:\n%+v\n%+v", before, after)
	}
	log := region.Requests()
	if last := log[len(log)-1]; last.Fault != f.logged || last.Committed != f.happens || last.Status != statusOf(f.plain) || last.User != "admin" {
		t.Errorf("logged %+v", last)
	}
}

// judge compares what package maas made of it.
func (f faultCase) judge(t *testing.T, call faultCall, err error) {
	t.Helper()
	want := f.read
	if call.write {
		want = f.write
	}
	if got := maas.KindOf(err); got != want || (err != nil) != (want != "") {
		t.Errorf("package maas: %v (%s), want %s", err, got, want)
	}
	var e *maas.Error
	if errors.As(err, &e) && (want == unknown || want == unavailable) && (e.RetryAfter != 0) != (f.retryAfter != "") {
		t.Errorf("package maas waits for %s, want %q s", e.RetryAfter, f.retryAfter)
	}
}

// newClient makes a client with connections of its own.
func newClient(t *testing.T, server *simulator.Server, clock simulator.Clock) *maas.Client {
	t.Helper()
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// awaitHang waits until the access log shows a request that hangs.
func awaitHang(t *testing.T, region *simulator.Region) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		log := region.Requests()
		if n := len(log); n > 0 && log[n-1].Fault == "hang" {
			return
		}
	}
	t.Error("nothing hangs")
}

// plainly makes a call over a new connection.
func plainly(ctx context.Context, c caller, call faultCall) (got, retryAfter string) {
	req, err := http.NewRequestWithContext(ctx, call.method, c.url+"/MAAS/api/2.0"+call.path, strings.NewReader(call.form.Encode()))
	if err != nil {
		return err.Error(), ""
	}
	req.Header.Set("Authorization", c.authorization())
	if call.form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return "reset", ""
	case errors.Is(err, io.EOF):
		return "EOF", ""
	case errors.Is(err, context.Canceled):
		return "hang", ""
	case err != nil:
		return err.Error(), ""
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		return err.Error(), ""
	}
	return resp.Status[:3] + " " + resp.Header.Get("Content-Type"), resp.Header.Get("Retry-After")
}

func statusOf(plain string) int {
	status := 0
	for _, c := range plain[:3] {
		if c < '0' || c > '9' {
			return 0
		}
		status = status*10 + int(c-'0')
	}
	return status
}
