package maas

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// discard takes the servers' complaints about clients that break off.
func discard(s *http.Server) { s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) }

// failureOf runs one read and one write.
func failureOf(ctx context.Context, c *Client) (readErr, writeErr error) {
	_, readErr = c.Machine(ctx, "4y3h7n")
	_, writeErr = c.Allocate(ctx, AllocateParams{AgentName: "token"})
	return readErr, writeErr
}

func wantKinds(t *testing.T, name string, c *Client, read, write error, message string) {
	t.Helper()
	readErr, writeErr := failureOf(context.Background(), c)
	if !errors.Is(readErr, read) {
		t.Errorf("%s: the read got %v, want %v", name, readErr, read)
	}
	if !errors.Is(writeErr, write) {
		t.Errorf("%s: the write got %v, want %v", name, writeErr, write)
	}
	for _, err := range []error{readErr, writeErr} {
		if err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %q, want %q in it", name, err, message)
		}
		checkMessage(t, err)
	}
}

// raw serves each connection with f.
func raw(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

// readRequest takes a whole request off the wire.
func readRequest(conn net.Conn) {
	buffer := make([]byte, 64<<10)
	_, _ = conn.Read(buffer)
}

func TestNothingSentIsUnavailable(t *testing.T) {
	t.Parallel()
	const refused = "http://127.0.0.1:1" // a free port could be taken by a test beside this one
	wantKinds(t, "refused", clientOf(t, refused), ErrUnavailable, ErrUnavailable, "cannot connect: connection refused")

	secure := httptest.NewUnstartedServer(text(200, "application/json", "[]"))
	discard(secure.Config)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	wantKinds(t, "untrusted", clientOf(t, secure.URL), ErrUnavailable, ErrUnavailable, "give its certificate as CA file")

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, writeErr := failureOf(cancelled, clientOf(t, refused))
	if !errors.Is(writeErr, ErrUnavailable) || !errors.Is(writeErr, context.Canceled) {
		t.Errorf("cancelled before it began: got %v", writeErr)
	}
}

func TestWaitingForAConnectionSendsNothing(t *testing.T) {
	t.Parallel()
	// A listener whose peer never answers the TLS hello: the time runs out before anything is sent.
	address := raw(t, func(conn net.Conn) { readRequest(conn); time.Sleep(5 * time.Second); conn.Close() })
	c := clientOf(t, strings.Replace(address, "http://", "https://", 1), func(c *Config) { c.Timeout = 100 * time.Millisecond })
	wantKinds(t, "handshake", c, ErrUnavailable, ErrUnavailable, "no answer in time")
}

func TestLostAnswerToAWriteLeavesItsOutcomeUnknown(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	reset := func(conn net.Conn) {
		readRequest(conn)
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
	tests := map[string]struct {
		serve   func(net.Conn)
		message string
	}{
		"closed":             {func(c net.Conn) { readRequest(c); c.Close() }, "closed before the answer was complete"},
		"reset":              {reset, "the connection broke: "},
		"cut off in headers": {func(c net.Conn) { readRequest(c); _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-"); c.Close() }, "the connection broke: "},
		"cut off in body":    {func(c net.Conn) { readRequest(c); _, _ = io.WriteString(c, head+`{"system_id":`); c.Close() }, "closed before the answer was complete"},
		"not HTTP":           {func(c net.Conn) { readRequest(c); _, _ = fmt.Fprintf(c, "SSH-2.0-%s\r\n", testSecret); c.Close() }, "the connection broke: "},
	}
	for name, tt := range tests {
		wantKinds(t, name, clientOf(t, raw(t, tt.serve)), ErrUnavailable, ErrOutcomeUnknown, tt.message)
	}
}

func TestTimeoutLeavesAWriteUnknown(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	s := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer close(done) // before the servers close, which wait for their handlers
	c := clientOf(t, s.URL, func(c *Config) { c.Timeout = 300 * time.Millisecond })
	wantKinds(t, "silent", c, ErrUnavailable, ErrOutcomeUnknown, "no answer in time")
	_, writeErr := failureOf(context.Background(), c)
	if !errors.Is(writeErr, context.DeadlineExceeded) {
		t.Errorf("the cause is lost: %v", writeErr)
	}
	if n := len(s.all()); n > 4 {
		t.Errorf("%d requests for 4 calls: something was repeated", n)
	}

	slow := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-done
	}))
	wantKinds(t, "slow body", clientOf(t, slow.URL, func(c *Config) { c.Timeout = 300 * time.Millisecond }), ErrUnavailable, ErrOutcomeUnknown, "no answer in time")
}

func TestWritesGetTwiceTheTimeAndTheCallersDeadlineWins(t *testing.T) {
	t.Parallel()
	var deadlines []time.Duration
	c := clientOf(t, "http://maas.example", func(c *Config) {
		c.Timeout = time.Hour
		c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			at, ok := r.Context().Deadline()
			if !ok {
				t.Error("a call has no deadline")
			}
			deadlines = append(deadlines, time.Until(at).Round(time.Minute))
			return nil, io.EOF
		})
	})
	_, _ = failureOf(context.Background(), c)
	short, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	_, _ = failureOf(short, c)
	want := []time.Duration{time.Hour, 2 * time.Hour, 10 * time.Minute, 10 * time.Minute}
	if fmt.Sprint(deadlines) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", deadlines, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestForeignTransportIsNotTrustedToHaveSentNothing(t *testing.T) {
	t.Parallel()
	fail := func(err error) *Client {
		return clientOf(t, "http://maas.example", func(c *Config) {
			c.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
		})
	}
	wantKinds(t, "unknown failure", fail(errors.New("odd")), ErrUnavailable, ErrOutcomeUnknown, "the connection broke: odd")
	wantKinds(t, "read failure", fail(&net.OpError{Op: "read", Err: errors.New("reset")}), ErrUnavailable, ErrOutcomeUnknown, "reset")
	wantKinds(t, "dial failure", fail(&net.OpError{Op: "dial", Err: errors.New("refused")}), ErrUnavailable, ErrUnavailable, "cannot connect: refused")
	wantKinds(t, "no such host", fail(&net.DNSError{Name: "maas.example", IsNotFound: true}), ErrUnavailable, ErrUnavailable, "maas.example cannot be resolved")
}

func TestTLSIsVerifiedAgainstTheCAFile(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(text(200, "application/json", "[]"))
	secure.EnableHTTP2 = true
	discard(secure.Config)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	c := clientOf(t, secure.URL, func(c *Config) { c.CAFile = good })
	if _, err := c.Zones(context.Background()); err != nil {
		t.Errorf("with the CA file: %v", err)
	}
	// httptest's certificate is for 127.0.0.1, and not for any other address of the loopback.
	elsewhere := httptest.NewUnstartedServer(text(200, "application/json", "[]"))
	elsewhere.Listener.Close()
	var err error
	if elsewhere.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Fatal(err)
	}
	discard(elsewhere.Config)
	elsewhere.StartTLS()
	t.Cleanup(elsewhere.Close)
	c = clientOf(t, elsewhere.URL, func(c *Config) { c.CAFile = good })
	if _, err := c.Zones(context.Background()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "not for the host name 127.0.0.2") {
		t.Errorf("another host name: %v", err)
	}
	for name, path := range map[string]string{"missing": filepath.Join(folder, "none"), "no PEM": write("x", []byte("x"))} {
		_, err := New(Config{Endpoint: secure.URL, APIKey: testKey, CAFile: path})
		var wrong *ConfigError
		if !errors.As(err, &wrong) || wrong.Field != "CAFile" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCallsShareConnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(text(200, "application/json", "[]"))
	var connections atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := clientOf(t, s.URL)
	for range 20 {
		if _, err := c.Zones(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("20 calls in a row took %d connections", n)
	}
	if tr, ok := c.http.Transport.(*http.Transport); !ok || tr.TLSClientConfig.InsecureSkipVerify || tr.TLSClientConfig.MinVersion < tls.VersionTLS12 {
		t.Error("the transport does not verify TLS")
	}
}
