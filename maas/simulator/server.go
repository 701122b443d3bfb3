package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// TLSURL is the base URL of the TLS port (https://host:port/MAAS), empty
	// when there is none.
	TLSURL string
	// CA is the certificate (PEM) of the CA that signed the TLS port's, if it was
	// made here.
	CA []byte
	// DNSAddr is host:port of the DNS server, empty when there is none.
	DNSAddr string

	region *Region
	cancel context.CancelFunc
	stop   func() error // stops serving, once
}

// Start serves the REST API and the metadata service on listen (host:port; port
// 0 for a free one), also with TLS on that of Config.TLS, and DNS on
// Config.DNSAddr. Serving ends with ctx or Close; the region goes on until Close.
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
	var stops []func() error
	s.stop = sync.OnceValue(func() error {
		var errs []error
		for _, stop := range stops {
			errs = append(errs, stop())
		}
		return errors.Join(errs...)
	})
	secure, err := s.listenTLS(ctx)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	if r.cfg.DNSAddr != "" {
		dns, err := r.startDNS(r.cfg.DNSAddr)
		if err != nil {
			_ = listener.Close()
			if secure != nil {
				_ = secure.Close()
			}
			return nil, err
		}
		s.DNSAddr = dns.addr
		stops = append(stops, dns.close)
	}
	r.mu.Lock()
	if r.publicURL == "" {
		// Machines use the plain port whether there is TLS or not.
		r.publicURL = s.URL
	}
	r.mu.Unlock()
	ctx, s.cancel = context.WithCancel(ctx)
	serve := func(on net.Listener, handler http.Handler) {
		// What clients do wrong in a TLS handshake is theirs to tell.
		api := &http.Server{Handler: handler, ReadHeaderTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		stops = append(stops, api.Close)
		go func() {
			// Serve always ends with an error; it is ErrServerClosed after Close.
			_ = api.Serve(on)
			s.cancel()
		}()
	}
	plain := r.port(false, "")
	if secure != nil {
		_, port, _ := net.SplitHostPort(secure.Addr().String())
		plain = r.port(false, port)
		serve(secure, r.port(true, ""))
	}
	serve(listener, plain)
	go func() {
		<-ctx.Done()
		_ = s.stop() // Close tells its error
	}()
	return s, nil
}

// listenTLS listens on the TLS port; nil when there is none.
func (s *Server) listenTLS(ctx context.Context) (net.Listener, error) {
	c := s.region.cfg.TLS
	if c.Listen == "" {
		return nil, nil //nolint:nilnil // no TLS is no error
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the API with TLS: %w", err)
	}
	secure, ca, err := c.secure(listener)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	s.TLSURL, s.CA = "https://"+reachable(listener.Addr())+"/MAAS", ca
	return secure, nil
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
