package simulator

import (
	"net/url"
	"slices"
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
	bytes   int // that the entries take, about
}

// The most that the access log holds. When there is more of one of them, half
// of it goes, the oldest first.
const (
	mostLogged      = 100_000
	mostLoggedBytes = 64 << 20
)

// size is how much memory an entry takes, about.
func (r *Request) size() int {
	const entry, field, value = 300, 80, 24
	n := entry + len(r.Path)
	for _, values := range []url.Values{r.Query, r.Form} {
		for key, list := range values {
			n += field + len(key)
			for _, text := range list {
				n += value + len(text)
			}
		}
	}
	return n
}

// add returns the entry as the log keeps it, which only the log may touch.
func (l *accessLog) add(entry Request) *Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, &entry)
	l.bytes += entry.size()
	if len(l.entries) > mostLogged || l.bytes > mostLoggedBytes {
		l.drop()
	}
	return &entry
}

// drop lets go of the older half. The newest entry stays, however large.
func (l *accessLog) drop() {
	n := 0
	for n < len(l.entries)-1 && (len(l.entries)-n > mostLogged/2 || l.bytes > mostLoggedBytes/2) {
		l.bytes -= l.entries[n].size()
		n++
	}
	l.entries = slices.Clone(l.entries[n:])
}

// lasted says how long a request took that is logged already.
func (l *accessLog) lasted(logged *Request, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	logged.Duration = d
}

// Requests returns what the region was asked, in the order in which it was
// answered or began to hang. The newest 50,000 requests are kept at least,
// unless what they said takes more than 32 MiB.
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
		if isSecret(key, values) {
			out[strings.Clone(key)] = []string{"<redacted>"}
			continue
		}
		// Parts of the request would keep all of it in memory.
		kept := make([]string, len(list))
		for i, text := range list {
			kept[i] = strings.Clone(withoutPassword(text))
		}
		out[strings.Clone(key)] = kept
	}
	return out
}

// isSecret says whether the values of a field must not be kept.
func isSecret(key string, values url.Values) bool {
	switch key {
	case "user_data", "key", "certificate", "consumer_key":
		return true
	case "value":
		// Of which setting it is may be said elsewhere, or twice.
		return len(values["name"]) == 0 || slices.ContainsFunc(values["name"], secretSetting)
	}
	if strings.HasPrefix(key, "power_parameters") || strings.HasPrefix(key, "oauth_") {
		return true
	}
	return slices.ContainsFunc([]string{"pass", "secret", "token"}, func(word string) bool { return strings.Contains(key, word) })
}

// withoutPassword takes out of a text what must not be kept: what stands before
// the host of a URL, and the fields of JSON within JSON, which have names of
// their own.
func withoutPassword(text string) string {
	const redacted = "<redacted>"
	if strings.HasPrefix(text, "map[") {
		return redacted
	}
	scheme, host, isURL := strings.Cut(text, "://")
	if !isURL {
		return text
	}
	rest := ""
	if end := strings.IndexAny(host, "/?# "); end >= 0 {
		host, rest = host[:end], host[end:]
	}
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = redacted + host[at:]
	}
	return scheme + "://" + host + withoutPassword(rest)
}
