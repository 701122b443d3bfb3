package simulator

import "time"

// Fault is what Config.Intercept and Region.AddIntercept want done to a
// request. The zero value is no fault.
//
// A fault strikes before the request runs, which then never does, changes
// nothing and spends no nonce; with Committed it strikes after the request ran
// and was committed. What MAAS itself answers (Status without Proxy) is for
// requests that MAAS would have heard: one whose credentials are wrong gets
// MAAS's 401, and with Committed one that MAAS refuses gets that refusal. All
// other faults strike whoever asks, whatever MAAS answered.
type Fault struct {
	// DropAnswer lets the request run and commit, then closes the connection
	// without an answer.
	DropAnswer bool
	// Status answers the request with Body and Headers in place of its own
	// answer. PresetAnswer has some that MAAS and proxies give.
	Status  int
	Body    string
	Headers map[string]string
	// ContentType of Body; text/plain when empty.
	ContentType string
	// Proxy says that Status comes from a proxy in front of MAAS, which asks for
	// no credentials.
	Proxy bool
	// Committed lets the request run and be committed first.
	Committed bool
	// Delay holds the request up before it runs, as Latency does.
	Delay time.Duration
	// Hang gives no answer: the connection stays open until the client goes away,
	// the region does, or Until is closed. Then it ends without an answer.
	Hang bool
	// Until ends a Hang when it is closed; nil lets it last.
	Until <-chan struct{}
	// Reset breaks the connection, so that the client sees a reset and not an
	// orderly end. Over HTTP/2 it is the request's stream that is reset.
	Reset bool
	// From answers a read from a copy of the region, taken by Region.View some
	// time ago; nil for the region as it is. Writes do not care.
	From *View
	// Then is called once the request ran, before anything is answered, with
	// Request.Committed as it turned out; never for a request that is kept from
	// running. It may use the region.
	Then func(Request)
}

// none says that nothing is to happen.
func (f Fault) none() bool {
	return !f.DropAnswer && f.Status == 0 && f.Delay == 0 && !f.Hang && !f.Reset && f.From == nil && f.Then == nil
}

// breaksOff says that the connection ends without an answer.
func (f Fault) breaksOff() bool { return f.Hang || f.Reset || f.DropAnswer }

// keepsOut says that the request does not get to MAAS at all.
func (f Fault) keepsOut() bool {
	return !f.Committed && (f.Hang || f.Reset || !f.DropAnswer && f.Status != 0 && f.Proxy)
}

// refuses says that MAAS answers Status in place of running the request.
func (f Fault) refuses() bool {
	return !f.Committed && !f.DropAnswer && f.Status != 0 && !f.Proxy
}

// takesAnswer says that the fault strikes after the request ran; committed says
// whether that was committed.
func (f Fault) takesAnswer(committed bool) bool {
	return f.breaksOff() || f.Committed && f.Status != 0 && (f.Proxy || committed)
}

// answer is what a fault with a Status answers.
func (f Fault) answer() *refusal {
	contentType := f.ContentType
	if contentType == "" {
		contentType = typeText
	}
	return &refusal{status: f.Status, contentType: contentType, body: f.Body, headers: f.Headers, bare: true}
}

// What Request.Fault says.
const (
	faultHang     = "hang"
	faultReset    = "reset"
	faultDropped  = "dropped"
	faultAnswered = "answered"
	faultStale    = "stale"
	faultSlow     = "slow"
	faultAway     = "away"
)
