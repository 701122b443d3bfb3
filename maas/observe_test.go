package maas

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// canned is a transport that answers without a network.
func canned(answer recording) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		answer.ServeHTTP(w, r)
		resp := w.Result()
		resp.Request = r
		return resp, nil
	})
}

func TestEveryExchangeIsObservedOnce(t *testing.T) {
	t.Parallel()
	reads, writes := operations()
	for _, status := range []int{200, 404, 500} {
		for isWrite, calls := range map[bool]map[string]func(context.Context, *Client) error{false: reads, true: writes} {
			for name, call := range calls {
				var observed []Call
				c := clientOf(t, "http://maas.example", func(c *Config) {
					c.Observe = func(call Call) { observed = append(observed, call) }
					c.Transport = canned(text(status, "text/plain", "Not Found"))
				})
				err := call(context.Background(), c)
				if len(observed) != 1 {
					t.Fatalf("%s: observed %d times", name, len(observed))
				}
				got := observed[0]
				if got.Kind != KindOf(err) || got.StatusCode != status || got.Operation == "" || (got.Method != "GET") != isWrite || got.Duration < 0 || got.Duration > time.Minute {
					t.Errorf("%s %d: observed %+v after %v", name, status, got, err)
				}
			}
		}
	}
}

func TestTheServersClockIsSeen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		date string
		want time.Time
	}{
		"a date":      {"Mon, 02 Mar 2026 10:20:30 GMT", time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)},
		"no date":     {"", time.Time{}},
		"not a date":  {"yesterday", time.Time{}},
		"no GMT date": {"2026-03-02T10:20:30Z", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, status := range []int{200, 401, 503} {
				var got Call
				c := clientOf(t, "http://maas.example", func(c *Config) {
					c.Observe = func(call Call) { got = call }
					c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
						w := httptest.NewRecorder()
						w.Header().Set("Date", test.date)
						text(status, "application/json", "[]").ServeHTTP(w, r)
						resp := w.Result()
						resp.Request = r
						return resp, nil
					})
				})
				_, _ = c.Zones(context.Background())
				if !got.ServerTime.Equal(test.want) {
					t.Errorf("status %d: the server's time is %v, want %v", status, got.ServerTime, test.want)
				}
			}
		})
	}
}

func TestSplitListIsObservedPerRequest(t *testing.T) {
	t.Parallel()
	n := 0
	c := clientOf(t, "http://maas.example", func(c *Config) {
		c.Observe = func(Call) { n++ }
		c.Transport = canned(text(200, "application/json", "[]"))
	})
	if _, err := c.Machines(context.Background(), MachineFilter{SystemIDs: make([]string, 201)}); err != nil || n != 2 {
		t.Errorf("observed %d times, %v", n, err)
	}
}

func TestAgentIsNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, text(200, "application/json", "[]"))
	c := clientOf(t, s.URL, func(c *Config) { c.UserAgent = "capmaas/v1" })
	if _, err := c.Zones(context.Background()); err != nil || s.only(t).userAgent != "capmaas/v1" {
		t.Errorf("user agent %q, %v", s.only(t).userAgent, err)
	}
}
