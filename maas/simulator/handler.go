package simulator

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Handler serves the REST API below /MAAS/api/2.0/ and the metadata service
// below /MAAS/metadata/.
func (r *Region) Handler() http.Handler {
	return r.port(false, "")
}

// port is the handler of one of the region's ports, and what stands before it.
func (r *Region) port(secure bool, tlsPort string) http.Handler {
	return &front{region: r, next: r.behind(), secure: secure, tlsPort: tlsPort}
}

// behind is the region's own server, without what stands before it: so was it
// recorded.
func (r *Region) behind() http.Handler {
	return &handler{region: r, router: newRouter(operations())}
}

type handler struct {
	region *Region
	router *router
}

func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.EscapedPath()
	switch {
	case strings.HasPrefix(path, apiPrefix+"/"):
		h.serveAPI(w, req, path)
	case strings.HasPrefix(path, metadataPrefix):
		h.region.serveMetadata(w, req)
	default:
		serveElsewhere(w, path)
	}
}

// serveElsewhere answers as the region does outside of the API.
func serveElsewhere(w http.ResponseWriter, path string) {
	switch {
	case path == "/MAAS/api/version/":
		w.Header().Set("Content-Type", typePlain)
		_, _ = w.Write([]byte("2.0"))
	case path == "/MAAS/api/version":
		w.Header().Set("Content-Type", typeHTML)
		w.Header().Set("Location", path+"/")
		w.WriteHeader(http.StatusMovedPermanently)
	case strings.HasPrefix(path, "/MAAS/api/1.0/"):
		w.Header().Set("Content-Type", typePlain)
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte("The 1.0 API is no longer available. Please use API version 2.0."))
	default:
		w.Header().Set("Content-Type", typeHTML)
		w.Header().Set("Vary", "Cookie")
		w.Header().Set("Location", "/MAAS/?next="+url.QueryEscape(path))
		w.WriteHeader(http.StatusFound)
	}
}

func (h *handler) serveAPI(w http.ResponseWriter, req *http.Request, path string) {
	began := h.region.stopwatch()
	segments, op, slashed := split(strings.TrimPrefix(path, apiPrefix))
	res, vars := h.router.find(segments)
	if !slashed || res == nil {
		unknown := unknownEndpoint(path)
		unknown.write(w)
		h.region.log.add(Request{
			Time: h.region.clock.Now(), Method: req.Method, Path: path, Status: unknown.status, Duration: h.region.stopwatch().Sub(began), Bytes: len(unknown.body),
		})
		return
	}
	sent, refused := readBody(req, res.takesContent())
	if refused != nil {
		refused.write(w)
		h.region.log.add(Request{
			Time: h.region.clock.Now(), Method: req.Method, Path: path, Status: refused.status, Duration: h.region.stopwatch().Sub(began), Bytes: len(refused.body),
		})
		return
	}
	query := parsePairs(req.URL.RawQuery)
	if name := query.get("op"); name != "" {
		op = name
	} else if name := sent.form.get("op"); name != "" && req.Method == http.MethodPost && op == "" {
		op = name
	}
	entry := Request{
		Time: h.region.clock.Now(), Method: req.Method, Path: path, Op: op,
		Query: redact(query.urlValues()), Form: redact(sent.form.urlValues()), Received: sent.size,
	}
	if found := res.operation(req.Method, op); found != nil {
		entry.Operation = found.name()
	}
	if entry.SystemID = vars["system_id"]; entry.SystemID == "" {
		entry.SystemID = query.get("system_id") + sent.form.get("system_id")
	}
	run := &execution{
		region: h.region, resource: res, http: req, entry: &entry, began: began, op: op,
		call: call{vars: vars, query: query, body: sent, form: sent.form},
	}
	run.serve(w)
}

// execution is one request to the API on its way through the region.
type execution struct {
	region   *Region
	resource *resource
	http     *http.Request
	entry    *Request
	began    time.Time
	op       string
	call     call
}

func (e *execution) serve(w http.ResponseWriter) {
	r := e.region
	fault, latency := e.intercept()
	r.wait(e.http.Context(), latency.beforeEffect(e.http.Method, e.op))
	unstage := func() {}
	if fault.Status == 0 {
		unstage = e.stage()
	}
	a, refused, todo := e.run(fault)
	unstage()
	r.perform(todo)
	if refused != nil {
		a = &answer{status: refused.status, body: []byte(refused.body)}
	}
	r.wait(e.http.Context(), latency.afterLook(e.http.Method, a.machines))
	if !fault.DropAnswer {
		e.entry.Status, e.entry.Bytes = a.status, len(a.body)
	}
	e.entry.Duration = r.stopwatch().Sub(e.began)
	r.log.add(*e.entry)
	switch {
	case fault.DropAnswer:
		dropConnection(w)
	case refused != nil:
		refused.write(w)
	default:
		a.write(w)
	}
}

// intercept asks what is wanted to happen to the request, without the lock, so
// that the one who is asked may change the region.
func (e *execution) intercept() (Fault, Latency) {
	r := e.region
	r.mu.Lock()
	ask, latency := r.intercept, r.drawn(r.latency)
	if oauth, found, _ := oauthParams(e.http); found {
		if key, ok := r.state.tokens.get(oauth["oauth_token"]); ok && key.owner != nil {
			e.entry.User = key.owner.name
		}
	}
	r.mu.Unlock()
	if ask == nil {
		return Fault{}, latency
	}
	return ask(*e.entry), latency
}

// run is the request's transaction, under the region's lock.
func (e *execution) run(fault Fault) (*answer, *refusal, []work) {
	r := e.region
	r.mu.Lock()
	defer r.mu.Unlock()
	e.call.tx = &tx{state: r.state, r: r}
	key, nonce, refused := e.call.authenticate(e.http)
	if key != nil {
		e.call.user = key.owner
	} else {
		e.entry.User = ""
	}
	if refused == nil && fault.Status != 0 {
		contentType := fault.ContentType
		if contentType == "" {
			contentType = typeText
		}
		refused = &refusal{status: fault.Status, contentType: contentType, body: fault.Body, bare: true}
	}
	var a *answer
	if refused == nil {
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
	refused, todo := r.settle(e.call.tx)
	if refused != nil {
		refused.bare = true
	}
	return a, refused, todo
}

func (e *execution) handle() (*answer, *refusal) {
	c := &e.call
	op, refused := e.resource.route(e.http.Method, e.op, c.user == nil)
	if refused != nil {
		return nil, refused
	}
	if format := c.query.get("format"); format != "" && format != "json" {
		return nil, &refusal{status: http.StatusBadRequest, contentType: typePlain, body: "Invalid output format specified '" + format + "'.", regular: true}
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

// dropConnection ends a request without an answer, the way net/http has for it.
func dropConnection(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler) //nolint:forbidigo // net/http has no other way to end a request without an answer
}
