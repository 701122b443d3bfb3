package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Server serves a region on the network.
type Server struct {
	// URL is the region's base URL (http://host:port/MAAS).
	URL string
	// DNSAddr is host:port of the DNS server, empty when there is none.
	DNSAddr string

	http   *http.Server
	dns    *dnsServer
	region *Region
	cancel context.CancelFunc
}

// Start serves the REST API and the metadata service on listen (host:port; port
// 0 for a free one), and DNS on Config.DNSAddr. It ends with ctx or Close.
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
	if r.cfg.DNSAddr != "" {
		dns, err := r.startDNS(r.cfg.DNSAddr)
		if err != nil {
			_ = listener.Close()
			return nil, err
		}
		s.dns, s.DNSAddr = dns, dns.addr
	}
	r.mu.Lock()
	if r.publicURL == "" {
		r.publicURL = s.URL
	}
	r.mu.Unlock()
	s.http = &http.Server{Handler: r.Handler(), ReadHeaderTimeout: 30 * time.Second}
	ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		// Serve always ends with an error; it is ErrServerClosed after Close.
		_ = s.http.Serve(listener)
		s.cancel()
	}()
	go func() {
		<-ctx.Done()
		_ = s.http.Close()
	}()
	return s, nil
}

// Close stops serving, drops the region's queued work and waits for it.
func (s *Server) Close() error {
	err := s.http.Close()
	s.cancel()
	if s.dns != nil {
		err = errors.Join(err, s.dns.close())
	}
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
