package maas

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	testConsumer = "CONSUMERconsumer01"
	testToken    = "TOKENtokenTOKEN002"
	testSecret   = "SECRETsecretSECRETsecretSECRET03"
	testKey      = testConsumer + ":" + testToken + ":" + testSecret
)

// recording is one answer of a real MAAS.
type recording struct {
	Name        string            `json:"name"`
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Status      int               `json:"status"`
	ContentType string            `json:"content_type"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body"`
}

func recordings(t *testing.T, version string) map[string]recording {
	t.Helper()
	file, err := os.Open("testdata/maas-" + version + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]recording{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all[r.Name] = r
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return all
}

func (r recording) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", r.ContentType)
	for key, value := range r.Headers {
		w.Header().Set(key, value)
	}
	w.WriteHeader(r.Status)
	_, _ = io.WriteString(w, r.Body)
}

func text(status int, contentType, body string) recording {
	return recording{Status: status, ContentType: contentType, Body: body}
}

// seen is a request as the server saw it.
type seen struct {
	method, path, authorization, contentType, userAgent string
	query, form                                         url.Values
}

// server records requests and answers each with the handler.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

func serve(t testing.TB, handler http.Handler) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		s.mu.Lock()
		s.requests = append(s.requests, seen{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"),
			r.Header.Get("Content-Type"), r.UserAgent(), r.URL.Query(), form})
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) all() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.requests...)
}

func (s *server) only(t *testing.T) seen {
	t.Helper()
	all := s.all()
	if len(all) != 1 {
		t.Fatalf("the server saw %d requests, want 1", len(all))
	}
	return all[0]
}

func clientOf(t testing.TB, endpoint string, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{Endpoint: endpoint, APIKey: testKey, Timeout: 10 * time.Second}
	for _, f := range change {
		f(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answering returns a client whose MAAS gives one answer to everything.
func answering(t testing.TB, handler http.Handler) (*Client, *server) {
	t.Helper()
	s := serve(t, handler)
	return clientOf(t, s.URL+"/MAAS"), s
}

// operations are all calls of the client, by whether they change something in MAAS.
func operations() (reads, writes map[string]func(context.Context, *Client) error) {
	type call = func(context.Context, *Client) error
	const id = "4y3h7n"
	reads = map[string]call{
		"Version":               func(ctx context.Context, c *Client) error { _, err := c.Version(ctx); return err },
		"WhoAmI":                func(ctx context.Context, c *Client) error { _, err := c.WhoAmI(ctx); return err },
		"Machines":              func(ctx context.Context, c *Client) error { _, err := c.Machines(ctx, MachineFilter{}); return err },
		"Machine":               func(ctx context.Context, c *Client) error { _, err := c.Machine(ctx, id); return err },
		"Tags":                  func(ctx context.Context, c *Client) error { _, err := c.Tags(ctx); return err },
		"Zones":                 func(ctx context.Context, c *Client) error { _, err := c.Zones(ctx); return err },
		"ResourcePools":         func(ctx context.Context, c *Client) error { _, err := c.ResourcePools(ctx); return err },
		"Domains":               func(ctx context.Context, c *Client) error { _, err := c.Domains(ctx); return err },
		"Subnets":               func(ctx context.Context, c *Client) error { _, err := c.Subnets(ctx); return err },
		"BootResources":         func(ctx context.Context, c *Client) error { _, err := c.BootResources(ctx); return err },
		"UploadedBootResources": func(ctx context.Context, c *Client) error { _, err := c.UploadedBootResources(ctx); return err },
		"BootResource":          func(ctx context.Context, c *Client) error { _, err := c.BootResource(ctx, 7); return err },
		"DNSResources": func(ctx context.Context, c *Client) error {
			_, err := c.DNSResources(ctx, DNSResourceFilter{})
			return err
		},
		"DNSRecords": func(ctx context.Context, c *Client) error { _, err := c.DNSRecords(ctx, DNSRecordFilter{}); return err },
		"Events":     func(ctx context.Context, c *Client) error { _, err := c.Events(ctx, EventFilter{}); return err },
	}
	dns := DNSResourceParams{Name: "c1-api", Domain: "maas", IPAddresses: []string{"10.20.0.3"}}
	image := BootResourceParams{Name: "custom/a", Architecture: "amd64/generic", SHA256: strings.Repeat("0", 64), Size: 1}
	record := DNSRecordParams{Name: "c1-api", Domain: "maas", Type: "TXT", Data: "x"}
	writes = map[string]call{
		"Allocate":   func(ctx context.Context, c *Client) error { _, err := c.Allocate(ctx, AllocateParams{}); return err },
		"Deploy":     func(ctx context.Context, c *Client) error { _, err := c.Deploy(ctx, id, DeployParams{}); return err },
		"Release":    func(ctx context.Context, c *Client) error { _, err := c.Release(ctx, id, ReleaseParams{}); return err },
		"Abort":      func(ctx context.Context, c *Client) error { _, err := c.Abort(ctx, id, ""); return err },
		"PowerOn":    func(ctx context.Context, c *Client) error { _, err := c.PowerOn(ctx, id, ""); return err },
		"PowerOff":   func(ctx context.Context, c *Client) error { _, err := c.PowerOff(ctx, id, ""); return err },
		"MarkBroken": func(ctx context.Context, c *Client) error { _, err := c.MarkBroken(ctx, id, ""); return err },
		"Annotate": func(ctx context.Context, c *Client) error {
			_, err := c.SetWorkloadAnnotations(ctx, id, map[string]string{"k": "v"})
			return err
		},
		"CreateDNSResource":  func(ctx context.Context, c *Client) error { _, err := c.CreateDNSResource(ctx, dns); return err },
		"UpdateDNSResource":  func(ctx context.Context, c *Client) error { _, err := c.UpdateDNSResource(ctx, 7, dns); return err },
		"DeleteDNSResource":  func(ctx context.Context, c *Client) error { return c.DeleteDNSResource(ctx, 7) },
		"CreateDNSRecord":    func(ctx context.Context, c *Client) error { _, err := c.CreateDNSRecord(ctx, record); return err },
		"CreateBootResource": func(ctx context.Context, c *Client) error { _, err := c.CreateBootResource(ctx, image); return err },
		"UploadBootResource": func(ctx context.Context, c *Client) error {
			return c.UploadBootResource(ctx, "/MAAS/api/2.0/boot-resources/6/upload/17/", []byte("content"))
		},
		"DeleteBootResource": func(ctx context.Context, c *Client) error { return c.DeleteBootResource(ctx, 7) },
		"DeleteDNSRecord":    func(ctx context.Context, c *Client) error { return c.DeleteDNSRecord(ctx, 7) },
	}
	return reads, writes
}

// checkMessage fails if an error is not fit for a condition.
func checkMessage(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	message := err.Error()
	if len(message) > maxMessage+100 || strings.ContainsAny(message, "\n\r\t\x00") {
		t.Errorf("not one bounded line: %q", message)
	}
	for _, secret := range []string{testConsumer, testToken, testSecret} {
		if strings.Contains(message, secret) {
			t.Errorf("a part of the API key is in %q", message)
		}
	}
}
