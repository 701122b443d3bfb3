package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Scenario is a set of faults.
type Scenario struct {
	// Description says in a sentence what goes wrong.
	Description string `json:"description,omitempty"`
	// Seed of the faults' probabilities. The same seed and the same order of
	// requests give the same strikes.
	Seed int64 `json:"seed,omitempty"`
	// Faults, in the order in which a request meets them.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one thing that goes wrong. Which fields it takes depends on Do; see
// Words.
type Fault struct {
	// Name is its own in a scenario. When empty it is that of Do, with a number
	// if several would be called the same.
	Name string `json:"name,omitempty"`
	// Do is what happens.
	Do Do `json:"do"`
	// On says which requests it strikes: operations by name ("machines allocate"),
	// by their last words ("allocate"), with * for any text ("dnsresource*"), or
	// "reads", "writes" or "*".
	On Names `json:"on,omitempty"`
	// Machine says which machines it strikes; any when empty. Each entry is a
	// hostname or system ID, with * for any text, or "tag:x", "zone:x", "pool:x",
	// "status:x" or "owner:x"; several of these joined by "&" have to hold
	// together. A request that names no machine is not struck by a fault that
	// names one, but for what operators do.
	Machine Names `json:"machine,omitempty"`
	// User says whose requests it strikes; everybody's when empty.
	User string `json:"user,omitempty"`

	// After is when it begins, on the region's clock, from when it was started.
	After Duration `json:"after,omitempty"`
	// For is how long it lasts from then; without end when zero.
	For Duration `json:"for,omitempty"`
	// Every begins it again that long after each beginning.
	Every Duration `json:"every,omitempty"`

	// Skip lets so many pass that it would strike.
	Skip int `json:"skip,omitempty"`
	// Count is how often it strikes; always when zero.
	Count int `json:"count,omitempty"`
	// Probability from 0 to 1 of each strike; always when nil.
	Probability *float64 `json:"probability,omitempty"`

	// Answer is the name of an answer, such as "bad-gateway".
	Answer string `json:"answer,omitempty"`
	// Status, Body and Headers are an answer of one's own. With Answer, Body and
	// Headers replace those of it.
	Status  int               `json:"status,omitempty"`
	Body    string            `json:"body,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Committed lets the request run first.
	Committed bool `json:"committed,omitempty"`
	// Delay is how much longer something takes.
	Delay Duration `json:"delay,omitempty"`
	// Age is how old the data may be that is shown.
	Age Duration `json:"age,omitempty"`
	// Reason is what a driver, an installer or an operator says.
	Reason string `json:"reason,omitempty"`
	// To is a hostname, zone, pool or user, as Do wants it. In a hostname * stands
	// for the present one.
	To string `json:"to,omitempty"`
	// Image is what is deployed; the region's default when empty.
	Image string `json:"image,omitempty"`
	// Subnet is the name or CIDR of one; all when empty.
	Subnet string `json:"subnet,omitempty"`
}

// Names is a list that may be written as a single text if it has one entry.
type Names []string

// UnmarshalJSON reads a text or a list of texts.
func (n *Names) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*n = Names{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("%s is neither a text nor a list of texts%s", b, quoteHint(b))
	}
	if len(list) == 0 {
		return errors.New("the list is empty")
	}
	*n = list
	return nil
}

// MarshalJSON writes a single entry as a text.
func (n Names) MarshalJSON() ([]byte, error) {
	if len(n) == 1 {
		return json.Marshal(n[0])
	}
	return json.Marshal([]string(n))
}

// Duration is a time span; in YAML and JSON a text such as "90s".
type Duration time.Duration

// UnmarshalJSON reads a text such as "90s" that is not negative.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var in string
	if json.Unmarshal(b, &in) == nil {
		if value, err := time.ParseDuration(in); err == nil && value >= 0 {
			*d = Duration(value)
			return nil
		}
	}
	return fmt.Errorf("%s is no duration such as \"90s\" or \"5m\"", b)
}

// MarshalJSON writes a text such as "1m30s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// String is the duration as a person would write it: "5m" and not "5m0s".
func (d Duration) String() string { return short(time.Duration(d)) }

func short(d time.Duration) string {
	text := d.String()
	for _, tail := range []struct{ long, cut string }{{"m0s", "0s"}, {"h0m", "0m"}} {
		if n := len(text) - len(tail.long); n >= 0 && text[n:] == tail.long {
			text = text[:len(text)-len(tail.cut)]
		}
	}
	return text
}
