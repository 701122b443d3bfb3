package chaos

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// network takes a manager's requests to MAAS. There are no sockets: the region's handler is called, on the same goroutine.
type network struct{ m *manager }

// exchange is a request on its way.
type exchange struct {
	manager *manager
	fault   simulator.Fault
	preset  string // the name of the answer that it gets; "" for its own
	// arrived is the request as the region understood it, and ran whether it was run.
	arrived simulator.Request
	ran     bool
	// silent says that nobody is told, and nothing judged.
	silent bool
	stale  bool
}

// strike is what goes wrong with a request.
type strike struct {
	name   string
	preset string // what it is answered with
	fault  simulator.Fault
	hangs  bool
	late   bool // it arrives later
	stale  bool
	kill   blow
}

var errTimeout = context.DeadlineExceeded

// RoundTrip sends a request to MAAS.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	m, w := n.m, n.m.w
	if m.dead() {
		return nil, errKilled
	}
	w.clock.Advance(w.dice.between(10*time.Millisecond, 200*time.Millisecond))
	w.meanwhile()
	if m.dead() {
		return nil, errKilled
	}
	body, err := readAll(r.Body)
	if err != nil {
		return nil, err
	}
	s := w.strike(r)
	what := describe(r, body)
	if s.name == away {
		w.tell(m.name, "%s: MAAS is away", what)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if s.kill == killedBefore {
		m.kill("before " + what)
		return nil, errKilled
	}
	e := &exchange{manager: m, fault: s.fault, preset: s.preset, stale: s.stale}
	if s.late {
		e.fault = simulator.Fault{Reset: true} // kept out for now
		w.later(r, body, what)
	}
	answer, err := w.serve(e, r, body)
	switch {
	case err != nil:
		w.tell(m.name, "%s: %v (%s)", what, err, s.name)
	case s.name != "":
		w.tell(m.name, "%s: %d (%s)", what, answer.StatusCode, s.name)
	default:
		w.tell(m.name, "%s: %d", what, answer.StatusCode)
	}
	if s.hangs || s.late {
		w.clock.Advance(w.dice.between(15*time.Second, 30*time.Second))
	}
	if s.kill != "" {
		m.kill("after " + what)
		return nil, errKilled
	}
	if err != nil {
		return nil, err
	}
	answer.Request = r
	return answer, nil
}

// later lets a request that the client gave up arrive after all. MAAS tries for a minute and a half at most to do what it was asked.
func (w *world) later(r *http.Request, body []byte, what string) {
	w.after(w.dice.between(time.Second, 85*time.Second), func() {
		e := &exchange{silent: true}
		answer, err := w.serve(e, r, body)
		w.must(err)
		w.must(answer.Body.Close())
		w.tell("network", "late: %s: %d", what, answer.StatusCode)
	})
}

// serve lets the region answer a request.
func (w *world) serve(e *exchange, r *http.Request, body []byte) (answer *http.Response, err error) {
	w.exchange = e
	defer func() { w.exchange = nil }()
	inner := r.Clone(context.Background())
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inner.RequestURI, inner.RemoteAddr, inner.Host = r.URL.RequestURI(), "10.0.0.9:4000", r.URL.Host
	out := &recording{header: http.Header{}, status: http.StatusOK}
	out.header.Set("Date", w.clock.Now().UTC().Format(http.TimeFormat)) // else there would be none
	crash := w.call(out, inner)
	if e.ran {
		w.boots(r, body, e.arrived)
	}
	if crash != nil {
		return nil, crash
	}
	return out.answer(), nil
}

// call runs the handler. A request that gets no answer ends with a panic of net/http's, which says how to tell.
func (w *world) call(out *recording, r *http.Request) (failed error) {
	defer func() {
		switch crash := recover(); {
		case crash == nil:
		case errors.Is(asError(crash), http.ErrAbortHandler):
			failed = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
			if w.exchange.fault.Hang {
				failed = errTimeout
			}
		default:
			w.t.Fatalf("the region crashed: %v", crash)
		}
	}()
	w.handler.ServeHTTP(out, r)
	return nil
}

func asError(crash any) error {
	if err, ok := crash.(error); ok {
		return err
	}
	return fmt.Errorf("%v", crash)
}

// intercepts is the region's question what is to happen to a request.
func (w *world) intercepts(r simulator.Request) simulator.Fault {
	e := w.exchange
	if e == nil {
		return simulator.Fault{}
	}
	e.arrived = r
	if !e.silent {
		w.judgeRequest(e.manager, r)
	}
	f := e.fault
	if e.preset != "" {
		f, _ = simulator.PresetAnswer(e.preset, r)
		f.Committed = e.fault.Committed
	}
	f.Then = func(r simulator.Request) {
		e.ran, e.arrived = r.Committed, r
		if !e.silent {
			w.learns(e, r)
		}
		if r.Committed && r.Method != http.MethodGet {
			w.holdsAfter(r, e.silent)
		}
	}
	return f
}

// boots remembers what a machine will run, which MAAS does not show.
func (w *world) boots(r *http.Request, body []byte, arrived simulator.Request) {
	if r.Method != http.MethodPost || arrived.Op != "deploy" {
		return
	}
	form, err := url.ParseQuery(string(body))
	w.must(err)
	data, err := base64.StdEncoding.DecodeString(form.Get("user_data"))
	w.must(err)
	w.deployed(arrived.SystemID, string(data))
}

// recording is an answer.
type recording struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *recording) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *recording) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *recording) Write(p []byte) (int, error) { return a.body.Write(p) }

func (a *recording) answer() *http.Response {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()),
	}
}

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer body.Close()
	return io.ReadAll(body)
}

// describe names a request, with what matters of it.
func describe(r *http.Request, body []byte) string {
	text := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/MAAS/api/2.0/")
	if r.URL.RawQuery != "" {
		text += "?" + r.URL.RawQuery
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return text
	}
	for _, key := range []string{"system_id", "agent_name", "add", "ip_addresses", "rrdata", "erase", "name"} {
		if v := form.Get(key); v != "" {
			text += " " + key + "=" + v
		}
	}
	return text
}
