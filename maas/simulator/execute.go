package simulator

import (
	"net/http"
	"time"
)

// execution is one request to the API on its way through the region.
type execution struct {
	region   *Region
	resource *resource
	http     *http.Request
	entry    *Request
	began    time.Time
	op       string
	call     call
	// cut is closed when the region goes away while the request is there.
	cut <-chan struct{}
}

func (e *execution) serve(w http.ResponseWriter) {
	e.arrive()
	fault, latency := e.intercept()
	if fault.Delay > 0 {
		e.pause(fault.Delay)
		e.arrive()
	}
	e.pause(latency.beforeEffect(e.http.Method, e.op))
	switch {
	case e.refusedByAway(w):
		return
	case fault.keepsOut():
		e.strike(w, fault)
		return
	case fault.From != nil && e.http.Method == http.MethodGet:
		e.entry.Fault = faultStale
	case fault.Delay > 0:
		e.entry.Fault = faultSlow
	}
	a, refused := e.effect(fault)
	e.hold(e.call.holds)
	if fault.Then != nil {
		fault.Then(*e.entry)
	}
	machines := 0
	if refused == nil {
		machines = a.machines
	}
	e.pause(latency.afterLook(e.http.Method, machines))
	switch {
	case e.refusedByAway(w):
	case fault.takesAnswer(e.entry.Committed):
		e.strike(w, fault)
	case refused != nil:
		e.log(refused.status, len(refused.body))
		refused.write(w)
	default:
		e.log(a.status, len(a.body))
		a.write(w)
	}
}

// refusedByAway ends the request if the region went away in the meantime, and
// says whether it did.
func (e *execution) refusedByAway(w http.ResponseWriter) bool {
	away := e.region.isAway()
	if away == nil {
		return false
	}
	e.entry.Fault = faultAway
	away.strike(w, e.log)
	return true
}

// effect runs the request and what it leaves to be done afterwards.
func (e *execution) effect(fault Fault) (*answer, *refusal) {
	unstage := func() {}
	if !fault.refuses() {
		unstage = e.stage()
	}
	a, refused, todo := e.run(fault)
	if refused == nil {
		a.print()
	}
	unstage()
	e.region.perform(todo)
	if late := e.await(todo); refused == nil {
		refused = late
	}
	return a, refused
}

// run is the request's transaction, under the region's lock.
func (e *execution) run(fault Fault) (*answer, *refusal, []work) {
	r := e.region
	r.mu.Lock()
	defer r.mu.Unlock()
	e.call.tx = &tx{state: r.state, r: r}
	key, nonce, refused := e.call.authenticate(e.http, e.call.form, e.call.arrived)
	if key != nil {
		e.call.user = key.owner
	} else {
		e.entry.User = ""
	}
	if refused == nil && fault.refuses() {
		e.entry.Fault = faultAnswered
		refused = fault.answer()
	}
	var a *answer
	switch {
	case refused != nil:
	case fault.From != nil && e.http.Method == http.MethodGet:
		a, refused = e.look(fault.From)
	default:
		a, refused = e.handle()
	}
	if refused != nil {
		e.call.rollback()
		if refused.regular {
			e.call.spend(nonce)
		}
		return nil, refused, nil
	}
	e.call.spend(nonce)
	e.entry.Committed = true
	if e.entry.SystemID == "" {
		e.entry.SystemID = e.call.acquired
	}
	refused, todo := r.settle(e.call.tx)
	if refused != nil {
		refused.bare = true
	}
	return a, refused, todo
}

// look answers a read from a copy of the region, which nothing may change.
func (e *execution) look(from *View) (*answer, *refusal) {
	live := e.call.tx
	defer func() { e.call.tx = live }()
	e.call.tx = &tx{state: from.state, r: e.region}
	defer e.call.rollback()
	return e.handle()
}

func (e *execution) handle() (*answer, *refusal) {
	c := &e.call
	op, refused := e.resource.route(e.http.Method, e.op, c.user == nil)
	if refused != nil {
		return nil, refused
	}
	if format := c.query.get("format"); format != "" && format != "json" {
		return nil, handled(http.StatusBadRequest, "Invalid output format specified '"+format+"'.")
	}
	if refused := c.admit(op.access); refused != nil {
		return nil, refused
	}
	if refused := c.readable(op); refused != nil {
		return nil, refused
	}
	return op.handle(c)
}

// readable treats the bodies that an operation does not read as MAAS does.
func (c *call) readable(op *operation) *refusal {
	switch {
	case c.body.unknown && op.op == "" && op.method == http.MethodPost:
		return &refusal{status: http.StatusBadRequest, contentType: typeJSON, body: "{}"}
	case c.body.json && op.op == "allocate":
		return text(http.StatusInternalServerError, "'dict' object has no attribute 'lists'")
	case c.body.json && op.op != "":
		// These read the form only, and JSON leaves it empty.
		c.form = params{}
	}
	return nil
}
