package simulator

import (
	"net/http"
	"time"
)

// Latency is how long requests to the API take: in real time, or on a virtual
// clock that moves with requests. Requests overlap while they wait. In JSON
// these are strings such as "90ms".
//
// A write takes effect at the end of its time. A read shows what was true at
// the beginning, so that it is old when it arrives. When its client goes away,
// a request waits no longer, and takes effect all the same, as in MAAS.
type Latency struct {
	// Allocate, Deploy and Release of a machine.
	Allocate time.Duration
	Deploy   time.Duration
	Release  time.Duration
	// Write is for all other requests that may change something.
	Write time.Duration
	// Read is for all that only read.
	Read time.Duration
	// PerMachine is added to a read for each machine in its answer.
	PerMachine time.Duration
	// Spread makes requests take differently long: 95 of 100 take at most so many
	// times what is said above, and half of them less than that. It is drawn for
	// each request from the region's seed. 0 or 1 is no spread; a number in JSON.
	Spread float64
}

func (l *Latency) fields() map[string]*time.Duration {
	return map[string]*time.Duration{
		"allocate": &l.Allocate, "deploy": &l.Deploy, "release": &l.Release,
		"write": &l.Write, "read": &l.Read, "perMachine": &l.PerMachine,
	}
}

// UnmarshalJSON reads a latency such as {"read": "90ms", "spread": 2}.
func (l *Latency) UnmarshalJSON(b []byte) error { return readDurations(b, l.fields(), &l.Spread) }

// MarshalJSON writes the fields that are not zero.
func (l Latency) MarshalJSON() ([]byte, error) { return writeDurations(l.fields(), l.Spread) }

// SetLatency replaces Config.Latency for the requests that come from now on.
func (r *Region) SetLatency(l Latency) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latency = l
}

// beforeEffect is how long a write waits.
func (l Latency) beforeEffect(method, op string) time.Duration {
	switch {
	case method == http.MethodGet:
		return 0
	case op == "allocate":
		return l.Allocate
	case op == "deploy":
		return l.Deploy
	case op == "release":
		return l.Release
	}
	return l.Write
}

// afterLook is how long the answer to a read waits.
func (l Latency) afterLook(method string, machines int) time.Duration {
	if method != http.MethodGet {
		return 0
	}
	return l.Read + time.Duration(machines)*l.PerMachine
}
