package maas

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// answerError turns an answer that is not 2xx into an error.
func (c *Client) answerError(r request, resp *http.Response, body []byte) error {
	kind, message := c.classify(r, resp, body)
	said := message != "" && message == plainText(resp, body)
	switch {
	case message == "" && resp.StatusCode >= 500:
		message = strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode)
	case message == "" && kind == KindInvalid:
		message = "refused with " + strconv.Itoa(resp.StatusCode) + " and no reason"
	}
	e := c.newError(r, kind, resp.StatusCode, message)
	e.Said = said
	if kind == KindUnauthorized && saysExpired(string(body)) {
		e.Err = ErrClocksDiffer
	}
	if kind == KindUnavailable || kind == KindOutcomeUnknown {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), c.now())
	}
	return e
}

func (c *Client) classify(r request, resp *http.Response, body []byte) (Kind, string) {
	status, page := resp.StatusCode, isHTML(resp, body) && len(body) > 0
	said := plainText(resp, body)
	switch {
	case status < 400:
		return KindNotMAAS, c.redirectMessage(resp)
	case status == http.StatusUnauthorized:
		return unauthorized(r, string(body))
	case status == http.StatusConflict && (page || len(body) == 0):
		// MAAS 3.3.5 to 3.7: the database gave up on a conflict, and nothing was changed.
		return KindUnavailable, "MAAS was too busy with conflicting changes; nothing was changed"
	case saysNotFound(r, resp, body):
		return KindNotFound, said
	case status >= 500 || status == http.StatusRequestTimeout:
		if r.isWrite() {
			return KindOutcomeUnknown, said
		}
		return KindUnavailable, said
	case status == http.StatusTooManyRequests:
		return KindUnavailable, said
	case status == http.StatusNotFound:
		return KindNotMAAS, "what answered does not know this address of the MAAS API: " + c.baseHint()
	case status == http.StatusRequestEntityTooLarge:
		return KindInvalid, "the request is too large for MAAS or for a proxy before it"
	case status == http.StatusBadRequest && saysWantsTLS(body):
		return KindNotMAAS, "the server speaks TLS on this port: " + c.hintScheme("https")
	case page:
		return KindNotMAAS, "a web page answered with " + strconv.Itoa(status) + ", not the MAAS API: " + c.baseHint()
	case strings.HasPrefix(said, "Unrecognised signature:") && strings.HasSuffix(said, "op=None") && !r.anonymous:
		// MAAS 3.4 to 3.7: this is how /machines/ greets a request without a signature.
		return KindUnauthorized, "MAAS did not see the API key; a proxy may drop the Authorization header"
	case status == http.StatusForbidden:
		return KindForbidden, said
	case status == http.StatusConflict:
		return KindConflict, said
	}
	return KindInvalid, said
}

// unauthorized explains a 401 in words of our own: MAAS's may hold the secret that it expected.
func unauthorized(r request, body string) (Kind, string) {
	switch {
	case strings.Contains(body, "Nonce already used"):
		// Our nonces are random, so the request itself was repeated on its way, and its first copy may have worked.
		if r.isWrite() {
			return KindOutcomeUnknown, "the request reached MAAS twice"
		}
		return KindUnavailable, "the request reached MAAS twice"
	case saysExpired(body):
		return KindUnauthorized, ErrClocksDiffer.Error()
	case strings.Contains(body, "Invalid API key"):
		return KindUnauthorized, "MAAS does not know this API key (its first part); it may have been deleted"
	case strings.Contains(body, "Invalid access token"):
		return KindUnauthorized, "MAAS does not know this API key (its second part)"
	case strings.Contains(body, "Invalid signature"):
		return KindUnauthorized, "the API key's secret (its third part) is wrong"
	}
	return KindUnauthorized, "MAAS did not accept the API key"
}

// saysExpired: MAAS 2.9 to 3.7 refuse a request whose time stamp is more than 300 seconds old.
func saysExpired(body string) bool { return strings.Contains(body, "Expired timestamp") }

// saysNotFound tells MAAS's "no such object" from a proxy that lost its way to MAAS, which must not look like a machine
// that is gone.
func saysNotFound(r request, resp *http.Response, body []byte) bool {
	text := strings.TrimSpace(string(body))
	switch {
	case mediaType(resp) != "text/plain":
		return false
	case resp.StatusCode == http.StatusNotFound:
		return text == "Not Found" || strings.HasPrefix(text, "No ") && strings.HasSuffix(text, " matches the given query.")
	case resp.StatusCode == http.StatusInternalServerError:
		// MAAS 3.4 to 3.7: it says so that there is no boot resource to delete. Of other objects that would mean that something else is missing.
		return r.method == http.MethodDelete && text == "BootResource matching query does not exist."
	}
	return false
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
