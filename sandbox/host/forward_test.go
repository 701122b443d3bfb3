package host

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
)

func TestForwardLeadsByServerNameAndReplaysTheHello(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Asked", r.TLS.ServerName)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const name = "t-cluster-abc123.maas.sandbox"
	// No resolver knows the name: the test takes its part.
	resolved := func(ctx context.Context, client net.Conn) (string, []byte, error) {
		address, read, err := ByServerName(port)(ctx, client)
		if want := net.JoinHostPort(name, port); address != want {
			t.Errorf("led to %q, want %q", address, want)
		}
		return server.Listener.Addr().String(), read, err
	}
	go Forward(ctx, listener, resolved, func(err error) { t.Errorf("not forwarded: %v", err) })

	transport := server.Client().Transport.(*http.Transport).Clone()
	// The certificate is for another name, which is not what is tested.
	transport.TLSClientConfig = &tls.Config{ServerName: name, InsecureSkipVerify: true}
	answer, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String())
	if err != nil {
		t.Fatalf("asking through the forwarder: %v", err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Asked"); got != name {
		t.Errorf("the server was asked as %q, want %s", got, name)
	}
}

// tired is a listener that fails once.
type tired struct {
	net.Listener
	rested bool
}

func (l *tired) Accept() (net.Conn, error) {
	if !l.rested {
		l.rested = true
		return nil, syscall.EMFILE
	}
	return l.Listener.Accept()
}

func TestForwardGoesOnAfterAConnectionThatCouldNotBeAccepted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reported := make(chan error, 1)
	go Forward(ctx, &tired{Listener: listener}, To(server.Listener.Addr().String()), func(err error) { reported <- err })
	answer, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatalf("asking through the forwarder: %v", err)
	}
	answer.Body.Close()
	if err := <-reported; !errors.Is(err, syscall.EMFILE) {
		t.Errorf("reported %v", err)
	}
}

func TestForwardClosesConnectionsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := dead.Addr().String()
	dead.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reported := make(chan error, 1)
	go Forward(ctx, listener, To(address), func(err error) { reported <- err })
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if n, err := client.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes from a connection that leads nowhere", n)
	}
	if err := <-reported; err == nil {
		t.Error("nothing was reported")
	}
}
