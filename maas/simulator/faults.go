package simulator

import "time"

// Fault is what Config.Intercept wants done to a request. The zero value is no
// fault. A fault strikes before the request runs, which then never does, or
// with Committed after it ran and was committed.
type Fault struct {
	// DropAnswer lets the request run and commit, then closes the connection
	// without an answer.
	DropAnswer bool
	// Status answers the request with Body and Headers in place of its own
	// answer.
	Status  int
	Body    string
	Headers map[string]string
	// ContentType of Body; text/plain when empty.
	ContentType string
	// Committed lets the request run and be committed first.
	Committed bool
	// Delay holds the request up before it runs, as Latency does.
	Delay time.Duration
	// Hang never answers: the connection stays open until the client or the
	// region closes it.
	Hang bool
	// Reset breaks the connection, so that the client sees a reset and not an
	// orderly end.
	Reset bool
	// From answers a read from a copy of the region, taken by Region.View some
	// time ago; nil for the region as it is. Writes do not care.
	From *View
}

// View is a copy of what a region held at one moment, to be read.
type View struct{ state *state }
