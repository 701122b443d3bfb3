package simulator

import (
	"net/url"
	"strings"
	"sync"
	"time"
)

// Request is one entry of the access log.
type Request struct {
	Time   time.Time
	Method string
	Path   string
	// Op is the operation's name ("allocate"), empty for plain CRUD.
	Op string
	// Operation is what MAAS's command line calls it ("machines allocate", "zone
	// update"); empty when there is no such operation.
	Operation string
	// SystemID is the machine that the request names, in its path or as
	// system_id, or that an allocate chose; empty when there is none.
	SystemID string
	// User is the name of the caller, empty when anonymous or refused; a
	// machine's system ID with "machine:" before it in the metadata service. Of a
	// request that a fault kept out it is whose key the request carries, right or
	// not.
	User string
	// Query and Form are what was sent, without secrets: user data, power
	// parameters and API keys are replaced by "<redacted>".
	Query url.Values
	Form  url.Values
	// Status is the HTTP status of the answer; 0 when none was given, or while
	// the request hangs.
	Status int
	// Fault says what a fault did to the request: "hang", "reset", "dropped" or
	// "answered" (with the fault's own Status), "stale" or "slow" when it got its
	// own answer, "away" when the region was; empty for nothing.
	Fault string
	// Committed says that the request ran and was committed, whatever its client
	// was told.
	Committed bool
	// Duration is from when the request came until its answer went out: in real
	// time, or on a virtual clock that moves with requests.
	Duration time.Duration
	// Received is the size of the request's body.
	Received int
	// Bytes is the size of the answer's body.
	Bytes int
}

// accessLog keeps the newest requests.
type accessLog struct {
	mu      sync.Mutex
	entries []*Request
}

// logLimit bounds the memory that the access log takes.
const logLimit = 100_000

// add returns the entry as the log keeps it, which only the log may touch.
func (l *accessLog) add(entry Request) *Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= logLimit {
		l.entries = append([]*Request(nil), l.entries[logLimit/2:]...)
	}
	l.entries = append(l.entries, &entry)
	return &entry
}

// lasted says how long a request took that is logged already.
func (l *accessLog) lasted(logged *Request, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	logged.Duration = d
}

// Requests returns what the region was asked, in the order in which it was
// answered or began to hang. The newest 50,000
// requests are kept at least.
func (r *Region) Requests() []Request {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	out := make([]Request, len(r.log.entries))
	for i, entry := range r.log.entries {
		out[i] = *entry
	}
	return out
}

// redact copies form values without what must not be kept.
func redact(values url.Values) url.Values {
	out := url.Values{}
	for key, list := range values {
		if key == "user_data" || key == "token" || key == "key" || key == "certificate" || key == "value" && secretSetting(values.Get("name")) || strings.HasPrefix(key, "power_parameters") || strings.HasPrefix(key, "oauth_") || strings.Contains(key, "pass") {
			out[key] = []string{"<redacted>"}
			continue
		}
		out[key] = append([]string(nil), list...)
	}
	return out
}
