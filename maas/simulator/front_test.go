package simulator_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// reply is an answer that was read to its end.
type reply struct {
	status int
	proto  int // of HTTP
	header http.Header
	body   string
}

// location is where the answer redirects to.
func (r reply) location() string { return r.header.Get("Location") }

// call sends a request without credentials, and does not follow redirects.
func call(t *testing.T, client *http.Client, method, url string, body io.Reader) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := direct.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.ProtoMajor, resp.Header, string(text)}
}

func TestPathsBesideTheAPIAnswerAsWithNginxInFront(t *testing.T) {
	t.Parallel()
	region, err := simulator.New(simulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	const html, plain = "text/html", "text/plain"
	tests := []struct {
		path     string
		status   int
		kind     string
		location string
		body     string
	}{
		{"/", 301, html, "/MAAS/r/", "301 Moved Permanently"},
		{"/MAAS", 301, html, "/MAAS/r/", "301 Moved Permanently"},
		{"/MAAS/", 301, html, "/MAAS/r/", "301 Moved Permanently"},
		{"/MAAS/?next=%2FMAAS%2Fapi%2F", 301, html, "/MAAS/r/", "301 Moved Permanently"},
		{"/MAAS/r/", 200, html, "", "<title>MAAS</title>"},
		{"/MAAS/r/machines", 200, html, "", "<title>MAAS</title>"},
		{"/MAAS/api/machines/", 302, html, "/MAAS/?next=%2FMAAS%2Fapi%2Fmachines%2F", ""},
		{"/MAAS/api/3.0/machines/", 302, html, "/MAAS/?next=%2FMAAS%2Fapi%2F3.0%2Fmachines%2F", ""},
		{"/api/2.0/machines/", 404, html, "", "404 Not Found"},
		{"/maas/", 404, html, "", "404 Not Found"},
		{"/MAAS/api/version/", 200, plain, "", "2.0"},
		{"/MAAS/api/version", 301, html, "/MAAS/api/version/", ""},
		{"/MAAS/api/1.0/nodes/", 410, plain, "", "The 1.0 API is no longer available. Please use API version 2.0."},
		{"/MAAS/api/2.0/", 404, plain, "", "Unknown API endpoint: /MAAS/api/2.0/."},
		{"/MAAS/api/2.0/zones", 404, plain, "", "Unknown API endpoint: /MAAS/api/2.0/zones."},
		{"/MAAS/api/2.0//zones//", 401, plain, "", "Forbidden"},
		{"/MAAS/api/2.0/nodes/op-is_registered?mac_address=52:54:00:00:00:01", 200, "application/json", "", "false"},
		{"/MAAS/api/2.0/users/op-whoami/", 401, plain, "", "Forbidden"},
	}
	for _, tt := range tests {
		got := call(t, server.Client(), http.MethodGet, server.URL+tt.path, nil)
		kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		if got.status != tt.status || kind != tt.kind || got.location() != tt.location || !strings.Contains(got.body, tt.body) {
			t.Errorf("%s: %d %s, location %q, %q", tt.path, got.status, kind, got.location(), got.body)
		}
	}
}

func TestBodiesAreRefusedBeyondWhatNginxLetsThrough(t *testing.T) {
	t.Parallel()
	region, err := simulator.New(simulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	const limit = 10 << 20
	// A reader whose length is unknown is sent in chunks.
	chunked := func(n int) io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", n))) }
	tests := map[string]struct {
		path   string
		body   io.Reader
		status int
	}{
		"the limit":                 {"/MAAS/api/2.0/machines/", strings.NewReader(strings.Repeat("x", limit)), 400},
		"one byte more":             {"/MAAS/api/2.0/machines/", strings.NewReader(strings.Repeat("x", limit+1)), 413},
		"one byte more, in chunks":  {"/MAAS/api/2.0/machines/", chunked(limit + 1), 413},
		"to an endpoint not there":  {"/MAAS/api/2.0/nosuch/", strings.NewReader(strings.Repeat("x", limit+1)), 413},
		"to the metadata":           {"/MAAS/metadata/2012-03-01/", strings.NewReader(strings.Repeat("x", limit+1)), 413},
		"before it asks who it is":  {"/MAAS/api/2.0/zones/", strings.NewReader(strings.Repeat("x", limit+1)), 413},
		"in chunks, without a name": {"/MAAS/api/2.0/zones/", chunked(limit + 1), 413},
	}
	for name, tt := range tests {
		got := call(t, server.Client(), http.MethodPost, server.URL+tt.path, tt.body)
		kind := got.header.Get("Content-Type")
		if got.status != tt.status {
			t.Errorf("%s: %d %q, want %d", name, got.status, got.body, tt.status)
		}
		if tt.status == 413 && (!strings.Contains(got.body, "<h1>413 Request Entity Too Large</h1>") || kind != "text/html") {
			t.Errorf("%s: %s %q is not nginx's page", name, kind, got.body)
		}
	}
	refused := 0
	for _, r := range region.Requests() {
		if r.Status == 413 && r.Bytes > 0 {
			refused++
		}
	}
	if refused != 5 {
		t.Errorf("the log holds %d refused requests to the API, want 5", refused)
	}
}

// closeServer ends a server, for tests whose context is done by then.
func closeServer(t *testing.T, server *simulator.Server) {
	t.Helper()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

func serve(t *testing.T, cfg simulator.Config) (*simulator.Region, *simulator.Server) {
	t.Helper()
	region, err := simulator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(context.WithoutCancel(t.Context()), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeServer(t, server) })
	return region, server
}

// Many clients look for an answer only when they have sent all they have.
func TestClientThatSendsAllBeforeItReadsSeesTheRefusal(t *testing.T) {
	t.Parallel()
	region, err := simulator.New(simulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const length = 40 << 20
	if _, err := fmt.Fprintf(conn, "POST /MAAS/api/2.0/machines/ HTTP/1.1\r\nHost: maas\r\nContent-Length: %d\r\n\r\n", length); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(conn, zeros{}, length); err != nil {
		t.Fatalf("the server stopped to listen: %v", err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") {
		t.Errorf("%.60q, %v", answer, err)
	}
}

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
