package maas

import (
	"net/http"
	"net/url"
	"time"
)

// Config is what [New] needs.
type Config struct {
	// Endpoint is MAAS's base URL in any form people type, such as http://maas.example:5240/MAAS.
	Endpoint string
	// APIKey is consumer:token:secret, as MAAS shows it.
	APIKey string `json:"-"`
	// CAFile names a PEM file with certificates to trust beside the system's. TLS is always verified.
	CAFile string
	// Timeout is the longest a call may take unless its context ends sooner; 0 means 60 seconds. Writes get twice as long.
	Timeout time.Duration
	// UserAgent is sent with every request; "" means "capmaas".
	UserAgent string
	// Observe, if set, is called once for every HTTP exchange, on the caller's goroutine.
	Observe func(Call)
	// Transport sends the requests; nil means a transport of this client's own, shared by all of its calls.
	Transport http.RoundTripper
	// Proxy chooses a proxy for the client's own transport; nil means none. A program that wants HTTPS_PROXY obeyed
	// passes http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
	// Now is the clock of the OAuth time stamps; nil means time.Now. MAAS refuses stamps more than 300 s old.
	Now func() time.Time
}

// String describes the configuration without the API key.
func (c Config) String() string { return "maas.Config{Endpoint: " + redactUserinfo(c.Endpoint) + "}" }

// GoString describes the configuration without the API key.
func (c Config) GoString() string { return c.String() }

// Call describes one finished HTTP exchange.
type Call struct {
	Operation  string // such as "deploy_machine"; a small fixed set, fit for a metric label
	Method     string
	StatusCode int  // 0 when no HTTP answer arrived
	Kind       Kind // "" on success
	Duration   time.Duration
	// ServerTime is what the server's clock showed when it began to answer, in whole seconds; zero where it did not say.
	ServerTime time.Time
}
