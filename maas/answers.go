package maas

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answerError turns an answer that is not 2xx into an error.
func (c *Client) answerError(r request, resp *http.Response, body []byte) error {
	kind, message := c.classify(r, resp, body)
	if kind == KindOutcomeUnknown && message == "" {
		message = http.StatusText(resp.StatusCode) + "; it may have taken effect"
	}
	if message == "" && kind == KindUnavailable {
		message = http.StatusText(resp.StatusCode)
	}
	e := c.newError(r, kind, resp.StatusCode, message)
	if kind == KindUnavailable || kind == KindOutcomeUnknown {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), c.now())
	}
	return e
}

func (c *Client) classify(r request, resp *http.Response, body []byte) (Kind, string) {
	status, html := resp.StatusCode, isHTML(resp, body)
	said := plainText(resp, body)
	switch {
	case status >= 300 && status < 400:
		return KindNotMAAS, c.redirectMessage(resp)
	case status == http.StatusUnauthorized:
		return unauthorized(r, string(body))
	case status == http.StatusConflict && (html || len(body) == 0):
		// MAAS 3.3.5 to 3.7: the database gave up on a conflict, and nothing was changed.
		return KindUnavailable, "MAAS was too busy with conflicting changes; nothing was changed"
	case status == http.StatusBadRequest && saysWantsTLS(body):
		return KindNotMAAS, "the server speaks TLS on this port: " + c.hintScheme("https")
	case status == http.StatusNotFound && !saysNotFound(resp, body):
		return KindNotMAAS, "what answered does not know this address of the MAAS API: " + c.baseHint()
	case status == http.StatusNotFound:
		return KindNotFound, said
	case status == http.StatusTooManyRequests:
		return KindUnavailable, said
	case status >= 500 || status == http.StatusRequestTimeout:
		if r.isWrite() {
			return KindOutcomeUnknown, suffixed(said, "; it may have taken effect")
		}
		return KindUnavailable, said
	case status == http.StatusRequestEntityTooLarge:
		return KindInvalid, "the request is too large for MAAS or for a proxy before it"
	case html && len(body) > 0:
		return KindNotMAAS, "a web page answered with " + strconv.Itoa(status) + ", not the MAAS API: " + c.baseHint()
	case status == http.StatusForbidden:
		return KindForbidden, said
	case status == http.StatusConflict:
		return KindConflict, said
	}
	return KindInvalid, said
}

func suffixed(text, suffix string) string {
	if text == "" {
		return ""
	}
	return oneLine(text, maxMessage-len(suffix)) + suffix
}

// unauthorized explains a 401 in words of our own: MAAS's may hold the secret that it expected.
func unauthorized(r request, body string) (Kind, string) {
	switch {
	case strings.Contains(body, "Nonce already used"):
		// Our nonces are random, so the request itself was repeated on its way, and its first copy may have worked.
		if r.isWrite() {
			return KindOutcomeUnknown, "the request reached MAAS twice; it may have taken effect"
		}
		return KindUnavailable, "the request reached MAAS twice"
	case strings.Contains(body, "Expired timestamp"):
		return KindUnauthorized, "the clocks of this host and of MAAS differ by more than 300 seconds"
	case strings.Contains(body, "Invalid API key"):
		return KindUnauthorized, "MAAS does not know this API key (its first part); it may have been deleted"
	case strings.Contains(body, "Invalid access token"):
		return KindUnauthorized, "MAAS does not know this API key (its second part)"
	case strings.Contains(body, "Invalid signature"):
		return KindUnauthorized, "the API key's secret (its third part) is wrong"
	}
	return KindUnauthorized, "MAAS did not accept the API key"
}

// saysNotFound tells MAAS's "no such object" from a proxy that lost its way to MAAS, which must not look like a machine
// that is gone.
func saysNotFound(resp *http.Response, body []byte) bool {
	text := strings.TrimSpace(string(body))
	return mediaType(resp) == "text/plain" &&
		(text == "Not Found" || strings.HasPrefix(text, "No ") && strings.HasSuffix(text, " matches the given query."))
}

func saysWantsTLS(body []byte) bool {
	text := string(body)
	return strings.Contains(text, "plain HTTP request was sent to HTTPS port") ||
		strings.Contains(text, "HTTP request to an HTTPS server")
}

// plainText returns what MAAS said: a text, or the fields of a form with their errors. Pages say nothing.
func plainText(resp *http.Response, body []byte) string {
	if isHTML(resp, body) {
		return ""
	}
	if !isJSON(resp) {
		return string(body)
	}
	var fields map[string]any
	var lines []any
	var text string
	switch {
	case json.Unmarshal(body, &fields) == nil:
		return formErrors(fields)
	case json.Unmarshal(body, &lines) == nil:
		return joined(lines)
	case json.Unmarshal(body, &text) == nil:
		return text
	}
	return string(body)
}

func formErrors(fields map[string]any) string {
	var parts []string
	for field, said := range fields {
		lines, ok := said.([]any)
		if !ok {
			lines = []any{said}
		}
		if text := joined(lines); field == "__all__" {
			parts = append(parts, text)
		} else {
			parts = append(parts, field+": "+text)
		}
	}
	slices.Sort(parts) // JSON objects have no order, and messages must be stable
	return strings.Join(parts, "; ")
}

func joined(lines []any) string {
	var texts []string
	for _, line := range lines {
		if text, ok := line.(string); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

func isJSON(resp *http.Response) bool { return mediaType(resp) == "application/json" }

func isHTML(resp *http.Response, body []byte) bool {
	switch mediaType(resp) {
	case "text/html", "application/xhtml+xml":
		return true
	case "":
		return strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "<")
	}
	return false
}

// retryAfter reads seconds or a date; what is absent, wrong or past is 0, and nobody is asked to wait for over an hour.
func retryAfter(header string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(strings.TrimSpace(header)); err == nil {
		wait = time.Duration(min(max(seconds, 0), 3600)) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), time.Hour)
}

// failedToConnect says whether the request surely was not sent.
func failedToConnect(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, &dns) || errors.As(err, &cert) || errors.As(err, &record)
}

// describeTransport names the failure in stable words, without ports and addresses that change from one try to the next.
func describeTransport(err error) string {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var cert *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return "the host name " + dns.Name + " does not resolve"
	case errors.As(err, &unknown):
		return "MAAS's certificate is signed by an authority that is not trusted; give its certificate as CA file"
	case errors.As(err, &cert):
		return "MAAS's certificate is not valid: " + cert.Err.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	return stableText(err)
}

// stableText drops the addresses that net.OpError repeats (the local port differs each time).
func stableText(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		if op.Op == "dial" {
			return "cannot connect: " + op.Err.Error()
		}
		return "the connection broke: " + op.Err.Error()
	}
	return "the connection broke: " + err.Error()
}

// schemeMismatch says whether https was spoken to a plain port.
func schemeMismatch(err error) (scheme string, found bool) {
	var record tls.RecordHeaderError
	if errors.As(err, &record) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "http", true
	}
	return "", false
}

// hintScheme names the base URL with another scheme.
func (c *Client) hintScheme(scheme string) string {
	_, rest, _ := strings.Cut(c.root(), "://")
	return "the endpoint is probably " + scheme + "://" + rest
}

// root is the base URL as people write it, without the API's part.
func (c *Client) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.base, apiPath), "/")
}

func (c *Client) baseHint() string {
	return "check the endpoint " + c.root() + " (" + endpointExample + ")"
}

// redirectMessage names the base URL that a redirect points at, if it points at the same place of another MAAS URL.
func (c *Client) redirectMessage(resp *http.Response) string {
	location, err := resp.Location()
	if err != nil || location.Host == "" {
		return "the address redirects elsewhere: " + c.baseHint()
	}
	asked := strings.TrimPrefix(resp.Request.URL.String(), c.base)
	target := url.URL{Scheme: location.Scheme, Host: location.Host, Path: location.Path, RawQuery: location.RawQuery}
	if base, ok := strings.CutSuffix(target.String(), asked); ok && strings.HasSuffix(base, "/"+apiPath) {
		return "the address redirects: set the endpoint to " + strings.TrimSuffix(strings.TrimSuffix(base, apiPath), "/")
	}
	if before, _, ok := strings.Cut(target.Path, "/MAAS/"); ok {
		here := url.URL{Scheme: target.Scheme, Host: target.Host, Path: before + "/MAAS"}
		if here.String() != c.root() {
			return "the address redirects: set the endpoint to " + here.String()
		}
	}
	return "the address redirects to " + target.Scheme + "://" + target.Host + ": " + c.baseHint()
}
