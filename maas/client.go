package maas

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const defaultTimeout = 60 * time.Second

// Client talks to one MAAS as one user. It is safe for concurrent use.
type Client struct {
	base         string              // ends with a slash
	credentials  func() *credentials // a function, for whatever prints a client cannot look into it
	http         http.Client
	ownTransport bool // its traces can be believed
	timeout      time.Duration
	userAgent    string
	observe      func(Call)
	now          func() time.Time
}

// New returns a client. It sends nothing; what is wrong with config is a *[ConfigError].
func New(config Config) (*Client, error) {
	base, err := normaliseEndpoint(config.Endpoint)
	if err != nil {
		return nil, err
	}
	key, err := parseAPIKey(config.APIKey)
	if err != nil {
		return nil, err
	}
	c := &Client{
		base:        base,
		credentials: func() *credentials { return key },
		timeout:     config.Timeout,
		userAgent:   cmp.Or(config.UserAgent, "capmaas"),
		observe:     config.Observe,
		now:         config.Now,
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.now == nil {
		c.now = time.Now
	}
	transport := config.Transport
	if transport == nil {
		c.ownTransport = true
		if transport, err = newTransport(config.CAFile, config.Proxy); err != nil {
			return nil, err
		}
	}
	c.http = http.Client{
		Transport: transport,
		// Followed, a POST would become a GET, and a GET to another host would lose its signature.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// newTransport makes the one transport that all calls of a client share.
func newTransport(caFile string, proxy func(*http.Request) (*url.URL, error)) (http.RoundTripper, error) {
	roots, err := rootsWith(caFile)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 15 * time.Second,
		ForceAttemptHTTP2:   true,
		// A MAAS region has few workers: more connections only queue inside it.
		MaxConnsPerHost:     16,
		MaxIdleConnsPerHost: 8,
		// Shorter than the server's own limit, so that a write seldom meets a connection that is just being closed.
		IdleConnTimeout: 30 * time.Second,
		// Without pings a dead HTTP/2 connection would be used until TCP gives up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}, nil
}

// rootsWith returns the system's roots and those of the file; nil means the system's alone.
func rootsWith(caFile string) (*x509.CertPool, error) {
	if caFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, &ConfigError{Field: "CAFile", Message: "cannot be read: " + shorten(flatten(err.Error()), maxMessage)}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, &ConfigError{Field: "CAFile", Message: "holds no certificate in PEM form"}
	}
	return roots, nil
}

// Endpoint returns the normalised base URL, such as http://maas.example:5240/MAAS/api/2.0/.
func (c *Client) Endpoint() string { return c.base }

// Host returns the part of the base URL by which people know a MAAS, such as maas.example:5240.
func (c *Client) Host() string {
	if u, err := url.Parse(c.base); err == nil && u.Host != "" {
		return u.Host
	}
	return c.base
}

// MachineURL returns the address of a machine's page in MAAS's user interface.
func (c *Client) MachineURL(systemID string) string {
	return strings.TrimSuffix(c.base, apiPath) + "r/machine/" + url.PathEscape(systemID)
}

// String describes the client without its API key.
func (c *Client) String() string { return "maas.Client{" + c.base + "}" }

// GoString describes the client without its API key.
func (c *Client) GoString() string { return c.String() }
