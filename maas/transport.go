package maas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxAnswer      = 1 << 30 // a list of 1000 machines is about 50 MB; it is never held whole
	maxErrorAnswer = 64 << 10
)

// decoder reads what it wants from the body of a good answer.
type decoder func(body io.Reader) error

// do sends r once and hands the body of a good answer to decode (nil when no body is wanted).
func (c *Client) do(ctx context.Context, r request, decode decoder) error {
	start := time.Now()
	call := Call{Operation: r.operation, Method: r.method}
	err := c.exchange(ctx, r, decode, &call)
	if c.observe != nil {
		call.Kind, call.Duration = KindOf(err), time.Since(start)
		c.observe(call)
	}
	return err
}

// exchange sends the request, and notes in call what the answer's head says.
func (c *Client) exchange(ctx context.Context, r request, decode decoder, call *Call) error {
	timeout := c.timeout
	if r.isWrite() {
		timeout *= 2
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	// Set from other goroutines while a connection is made.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := c.newHTTPRequest(ctx, r)
	if err != nil {
		return invalid(r.operation, "the request cannot be made")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		unsent := c.ownTransport && !connected.Load() || failedToConnect(err)
		return c.transportError(r, err, unsent)
	}
	defer resp.Body.Close()
	call.StatusCode = resp.StatusCode
	// One that cannot be read is as good as none.
	call.ServerTime, _ = http.ParseTime(resp.Header.Get("Date"))
	return c.judge(r, resp, decode)
}

func (c *Client) newHTTPRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	switch {
	case r.content != nil:
		body = bytes.NewReader(r.content)
	case r.isWrite():
		body = strings.NewReader(r.form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.url(r), body)
	if err != nil {
		return nil, err
	}
	switch {
	case r.content != nil:
		req.Header.Set("Content-Type", "application/octet-stream")
	case r.isWrite() && r.method != http.MethodDelete:
		// MAAS's handlers read forms only; JSON would lose parameters.
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if !r.anonymous {
		req.Header.Set("Authorization", c.credentials().authorization(c.now()))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	return req, nil
}

func (c *Client) url(r request) string {
	query := url.Values{}
	for key, values := range r.query {
		query[key] = values
	}
	if r.op != "" {
		query.Set("op", r.op)
	}
	if len(query) == 0 {
		return c.base + r.path
	}
	return c.base + r.path + "?" + query.Encode()
}

// judge turns an answer into a decoded value or an error.
func (c *Client) judge(r request, resp *http.Response, decode decoder) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorAnswer))
		return c.answerError(r, resp, body)
	}
	body := newAnswerBody(resp.Body)
	head := body.peek()
	if decode == nil && resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if body.cut != nil {
		return c.transportError(r, body.cut, false)
	}
	if isHTML(resp, head) {
		return c.unusable(r, resp, "a web page answered, not the MAAS API: "+c.baseHint())
	}
	if decode == nil {
		return nil
	}
	if !isJSON(resp) {
		return c.unusable(r, resp, "the answer is not JSON: "+c.baseHint())
	}
	err := decode(body)
	switch {
	case body.cut != nil:
		return c.transportError(r, body.cut, false)
	case body.left < 0:
		return c.unusable(r, resp, fmt.Sprintf("the answer is larger than %d MB", maxAnswer>>20))
	case err != nil:
		// The decoder's own text may quote the answer.
		return c.unusable(r, resp, "the answer is not what MAAS sends: "+decodeProblem(err))
	}
	return nil
}

// unusable is a 2xx answer that cannot be used. Something acted on a write, so its outcome is unknown.
func (c *Client) unusable(r request, resp *http.Response, message string) error {
	kind := KindNotMAAS
	if r.isWrite() {
		kind = KindOutcomeUnknown
	}
	return c.newError(r, kind, resp.StatusCode, message)
}

// transportError is a failure without a usable HTTP answer.
func (c *Client) transportError(r request, err error, unsent bool) error {
	// url.Error would repeat the URL with all its parameters.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	kind, message := KindUnavailable, describeTransport(err)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		kind, message = KindNotMAAS, "the server does not speak TLS on this port: "+c.hintScheme("http")
	case r.isWrite() && !unsent:
		kind = KindOutcomeUnknown
	}
	e := c.newError(r, kind, 0, message)
	e.Err = err
	return e
}
