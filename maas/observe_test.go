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
