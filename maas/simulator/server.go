package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server serves a region on the network.
type Server struct {
	// URL is the region's base URL (http://host:port/MAAS).
	URL string
	// DNSAddr is host:port of the DNS server, empty when there is none.
	DNSAddr string

	region *Region
	cancel context.CancelFunc
	stop   func() error // stops serving, once
}

// Start serves the REST API and the metadata service on listen (host:port; port
// 0 for a free one), and DNS on Config.DNSAddr. Serving ends with ctx or Close;
// the region goes on until Close.
func (r *Region) Start(ctx context.Context, listen string) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the API: %w", err)
	}
	return r.Serve(ctx, listener)
}

// Serve is Start on a listener that exists. The listener is closed at the end.
func (r *Region) Serve(ctx context.Context, listener net.Listener) (*Server, error) {
	s := &Server{URL: "http://" + reachable(listener.Addr()) + "/MAAS", region: r}
	stopDNS := func() error { return nil }
	if r.cfg.DNSAddr != "" {
		dns, err := r.startDNS(r.cfg.DNSAddr)
		if err != nil {
			_ = listener.Close()
			return nil, err
		}
		s.DNSAddr, stopDNS = dns.addr, dns.close
	}
	r.mu.Lock()
	if r.publicURL == "" {
		r.publicURL = s.URL
	}
	r.mu.Unlock()
	api := &http.Server{Handler: r.Handler(), ReadHeaderTimeout: 30 * time.Second}
	s.stop = sync.OnceValue(func() error { return errors.Join(api.Close(), stopDNS()) })
	ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		// Serve always ends with an error; it is ErrServerClosed after Close.
		_ = api.Serve(listener)
		s.cancel()
	}()
	go func() {
		<-ctx.Done()
		_ = s.stop() // Close tells its error
	}()
	return s, nil
}

// Close stops serving, drops the region's queued work and waits for it.
func (s *Server) Close() error {
	err := s.stop()
	s.cancel()
	s.region.Close()
	return err
}

// reachable is an address that a client on this host can dial.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if strings.Contains(addr.String(), "[::]") {
			host = "localhost"
		}
	}
	return net.JoinHostPort(host, port)
}
