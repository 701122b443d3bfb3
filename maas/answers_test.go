package maas

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// wantKind is the kind that a recorded failure must have, by the table of MAAS's answers.
func wantKind(r recording, write bool) Kind {
	html := strings.HasPrefix(r.ContentType, "text/html")
	switch {
	case r.Status < 400, r.Status == 404 && !strings.Contains(r.Body, "matches the given query") && r.Body != "Not Found":
		return KindNotMAAS
	case strings.Contains(r.Body, "Nonce already used") && write, r.Status >= 500 && write:
		return KindOutcomeUnknown
	case strings.Contains(r.Body, "Nonce already used"), r.Status >= 500, r.Status == 409 && html:
		return KindUnavailable
	case r.Status == 401, strings.HasSuffix(r.Body, "op=None"):
		return KindUnauthorized
	case r.Status == 403:
		return KindForbidden
	case r.Status == 404:
		return KindNotFound
	case r.Status == 409:
		return KindConflict
	}
	return KindInvalid
}

func TestRecordedFailuresHaveTheirKind(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.7.3", "3.4.10"} {
		for name, r := range recordings(t, version) {
			if r.Status < 300 {
				continue
			}
			c, _ := answering(t, r)
			_, readErr := c.Machine(context.Background(), "4y3h7n")
			_, writeErr := c.Release(context.Background(), "4y3h7n", ReleaseParams{})
			for write, err := range map[bool]error{false: readErr, true: writeErr} {
				var e *Error
				if !errors.As(err, &e) || e.Kind != wantKind(r, write) || e.StatusCode != r.Status || e.Message == "" {
					t.Errorf("%s %s (%d %s, write %t): got %#v, want %s", version, name, r.Status, r.ContentType, write, err, wantKind(r, write))
				}
				if err != nil && strings.Contains(err.Error(), "-SECRET>") {
					t.Errorf("%s: MAAS's secret is repeated in %q", name, err)
				}
				checkMessage(t, err)
			}
		}
	}
}

func TestMessagesSayWhatMAASSaid(t *testing.T) {
	t.Parallel()
	const json, plain, html = "application/json; charset=utf-8", "text/plain; charset=utf-8", "text/html; charset=utf-8"
	tests := map[string]struct {
		answer recording
		want   string // of a write
	}{
		"text":                  {text(409, plain, "No machine available."), "maas: release machine: No machine available."},
		"form errors, sorted":   {text(400, json, `{"zone": ["No such zone(s): z9."], "arch": ["Bad.", "Worse."]}`), "maas: release machine: arch: Bad. Worse.; zone: No such zone(s): z9."},
		"cross-field error":     {text(400, json, `{"__all__": ["Labels must be unique within their zone."]}`), "maas: release machine: Labels must be unique within their zone."},
		"list of errors":        {text(400, json, `["one", "two"]`), "maas: release machine: one two"},
		"one JSON text":         {text(400, json, `"one"`), "maas: release machine: one"},
		"broken JSON":           {text(400, json, `{"zone"`), `maas: release machine: {"zone"`},
		"several lines":         {text(409, plain, "a\n\tb\r\n\x1b[31mc\x00"), "maas: release machine: a b [31mc"},
		"forbidden, no reason":  {text(403, plain, ""), "maas: release machine: not permitted, no reason given: the user lacks the right, or the machine is locked or another user's"},
		"method not allowed":    {text(405, html, ""), "maas: release machine: refused with 405 and no reason"},
		"post-commit failure":   {text(503, plain, "No more IPs available in subnet: 10.0.0.0/24."), "maas: release machine: No more IPs available in subnet: 10.0.0.0/24. (it may have taken effect)"},
		"page of a proxy":       {text(502, html, "<html><h1>oh no</h1>"), "maas: release machine: 502 Bad Gateway (it may have taken effect)"},
		"stale clock":           {text(401, html, "Authorization Error: 'Expired timestamp: given 1 and now 2'"), "maas: release machine: the clocks of this host and of MAAS differ by more than 300 seconds"},
		"key's secret is wrong": {text(401, html, "Authorization Error: 'Invalid signature. Expected signature base string: &abc'"), "maas: release machine: the API key's secret (its third part) is wrong"},
	}
	for name, tt := range tests {
		c, _ := answering(t, tt.answer)
		_, err := c.Release(context.Background(), "4y3h7n", ReleaseParams{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %q, want %q", name, err, tt.want)
		}
	}
}

func TestAStaleClockIsToldFromAWrongKey(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"Authorization Error: 'Expired timestamp: given 1 and now 2'": true,
		"Authorization Error: Invalid API key.":                       false,
	} {
		c, _ := answering(t, text(401, "text/html", body))
		_, err := c.WhoAmI(context.Background())
		if !errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrClocksDiffer) != want {
			t.Errorf("%s: %#v", body, err)
		}
	}
}

func TestWhatIsNotTheAPINamesTheBaseURL(t *testing.T) {
	t.Parallel()
	page := text(200, "text/html", "<!doctype html><title>MAAS</title>")
	redirect := func(status int, location string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", strings.ReplaceAll(location, "$request_uri", r.RequestURI))
			w.WriteHeader(status)
		})
	}
	tests := map[string]struct {
		answer http.Handler
		want   string
	}{
		"TLS mode of MAAS":       {redirect(301, "https://maas.example:5443$request_uri"), "set the endpoint to https://maas.example:5443/MAAS"},
		"host moved":             {redirect(308, "http://new.example/infra$request_uri"), "set the endpoint to http://new.example/infra/MAAS"},
		"another page of a MAAS": {redirect(302, "https://maas.example/MAAS/r/"), "set the endpoint to https://maas.example/MAAS"},
		"a login page":           {redirect(302, "https://user:pw@sso.example/login?x=1"), "redirects to https://sso.example:"},
		"login page of MAAS":     {redirect(302, "/MAAS/?next=/MAAS/api/2.0/zones/"), "check the endpoint http://127.0.0.1:"},
		"no location":            {text(301, "text/html", ""), "check the endpoint http://127.0.0.1:"},
		"not modified":           {text(304, "", ""), "check the endpoint http://127.0.0.1:"},
		"web page":               {page, "check the endpoint http://127.0.0.1:"},
		"page without a type":    {text(200, "", "  <html>"), "check the endpoint http://127.0.0.1:"},
		"page that forbids":      {text(403, "text/html", "<html>blocked"), "check the endpoint http://127.0.0.1:"},
		"lost proxy, page":       {text(404, "text/html", "<html>404"), "check the endpoint http://127.0.0.1:"},
		"lost proxy, text":       {text(404, "text/plain; charset=utf-8", "404 page not found\n"), "check the endpoint http://127.0.0.1:"},
		"lost proxy, nothing":    {text(404, "", ""), "check the endpoint http://127.0.0.1:"},
		"other API":              {text(404, "application/json", `{"detail":"Not Found"}`), "check the endpoint http://127.0.0.1:"},
		"wrong path in MAAS":     {text(404, "text/plain; charset=utf-8", "Unknown API endpoint: /MAAS/api/2.0/x/."), "check the endpoint http://127.0.0.1:"},
		"text":                   {text(200, "text/plain", "hello"), "check the endpoint http://127.0.0.1:"},
		"TLS port, nginx":        {text(400, "text/html", "<html>400 The plain HTTP request was sent to HTTPS port"), "the endpoint is probably https://127.0.0.1:"},
	}
	for name, tt := range tests {
		c, s := answering(t, tt.answer)
		_, err := c.Zones(context.Background())
		if !errors.Is(err, ErrNotMAAS) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want ErrNotMAAS with %q", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s: a password is in %q", name, err)
		}
		checkMessage(t, err)
		s.only(t) // nothing was followed
	}
}

func TestRedirectedWriteIsNotFollowedAndHadNoEffect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		target := serve(t, text(200, "application/json", "{}"))
		c, s := answering(t, http.RedirectHandler(target.URL+"/MAAS/api/2.0/machines/4y3h7n/?op=release", status))
		if _, err := c.Release(context.Background(), "4y3h7n", ReleaseParams{}); !errors.Is(err, ErrNotMAAS) {
			t.Errorf("%d: got %v", status, err)
		}
		if s.only(t).method != "POST" || len(target.all()) != 0 {
			t.Errorf("%d: the redirect was followed", status)
		}
	}
}

func TestPageAnsweringAWriteLeavesItsOutcomeUnknown(t *testing.T) {
	t.Parallel()
	_, writes := operations()
	for name, call := range writes {
		c, _ := answering(t, text(200, "text/html", "<html>"))
		if err := call(context.Background(), c); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestServerFailuresAreUnknownForWritesAndUnavailableForReads(t *testing.T) {
	t.Parallel()
	reads, writes := operations()
	for _, status := range []int{500, 502, 503, 504, 408} {
		c, _ := answering(t, text(status, "text/plain", "x"))
		for name, call := range reads {
			if err := call(context.Background(), c); !errors.Is(err, ErrUnavailable) || KindOf(err) != KindUnavailable {
				t.Errorf("%d %s: got %v", status, name, err)
			}
		}
		for name, call := range writes {
			if err := call(context.Background(), c); !errors.Is(err, ErrOutcomeUnknown) || errors.Is(err, ErrUnavailable) {
				t.Errorf("%d %s: got %v", status, name, err)
			}
		}
	}
}

func TestRetryAfterIsReadAndBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"5": 5 * time.Second, " 10 ": 10 * time.Second, "": 0, "soon": 0, "-5": 0, "0": 0, "1.5": 0,
		"999999999999": 0, "9999999": time.Hour,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Thu, 01 Jan 2025 00:00:00 GMT": 0, "Fri, 01 Jan 2027 00:00:00 GMT": time.Hour,
	} {
		if header == "999999999999" {
			want = time.Hour
		}
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
	conflict := recordings(t, "3.7.3")["conflict.put"]
	c, _ := answering(t, conflict)
	_, err := c.Release(context.Background(), "4y3h7n", ReleaseParams{})
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindUnavailable || e.RetryAfter != 5*time.Second {
		t.Errorf("the conflict page of MAAS: got %#v", err)
	}
}

func TestSchemeOfTheEndpointIsCheckedByTheServer(t *testing.T) {
	t.Parallel()
	plain := serve(t, text(200, "application/json", "[]"))
	c := clientOf(t, strings.Replace(plain.URL, "http://", "https://", 1))
	if err := c.DeleteDNSResource(context.Background(), 1); !errors.Is(err, ErrNotMAAS) || !strings.Contains(err.Error(), "probably "+plain.URL+"/MAAS") {
		t.Errorf("https to a plain port: got %v", err)
	}
	secure := httptest.NewTLSServer(text(200, "application/json", "[]"))
	discard(secure.Config)
	t.Cleanup(secure.Close)
	c = clientOf(t, strings.Replace(secure.URL, "https://", "http://", 1))
	if _, err := c.Zones(context.Background()); !errors.Is(err, ErrNotMAAS) || !strings.Contains(err.Error(), "probably "+secure.URL+"/MAAS") {
		t.Errorf("http to a TLS port: got %v", err)
	}
}
