package telemetry

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestExchangesAreCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	m.Observe(maas.Call{Operation: "whoami", Method: "GET", StatusCode: 200, Duration: time.Second})
	m.Observe(maas.Call{Operation: "whoami", Method: "GET", StatusCode: 200, Duration: time.Second})
	m.Observe(maas.Call{Operation: "deploy_machine", Method: "POST", Kind: maas.KindOutcomeUnknown, Duration: 2 * time.Minute})
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`capmaas_build_info{version="v1.2.3"} 1`,
		`capmaas_maas_available 0`,
		`capmaas_maas_requests_total{code="0",method="POST",operation="deploy_machine"} 1`,
		`capmaas_maas_requests_total{code="200",method="GET",operation="whoami"} 2`,
		`capmaas_maas_request_duration_seconds_bucket{method="POST",operation="deploy_machine",le="60"} 0`,
		`capmaas_maas_request_duration_seconds_bucket{method="POST",operation="deploy_machine",le="120"} 1`,
	} {
		if !strings.Contains(answer.Body.String(), want+"\n") {
			t.Errorf("the metrics lack %s:\n%s", want, answer.Body)
		}
	}
	if _, err := NewMetrics(registry, "v1.2.3"); err == nil {
		t.Error("the names were registered twice")
	}
}

func TestChecksAreShownWhileTheyAreKnown(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		answer := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		return answer.Body.String()
	}
	m.SetClockSkew(0, false)
	if got := shown(); strings.Contains(got, MAASCheckOK) || strings.Contains(got, MAASClockSkew) {
		t.Errorf("something is shown that nobody knows:\n%s", got)
	}
	m.SetCheck(CheckVersion, true, true)
	m.SetCheck(CheckClock, false, true)
	m.SetClockSkew(-90*time.Second, true)
	for _, want := range []string{
		`capmaas_maas_check_ok{check="version"} 1`, `capmaas_maas_check_ok{check="clock"} 0`, `capmaas_maas_clock_skew_seconds -90`,
	} {
		if !strings.Contains(shown(), want+"\n") {
			t.Errorf("the metrics lack %s:\n%s", want, shown())
		}
	}
	m.SetCheck(CheckVersion, true, false)
	if strings.Contains(shown(), `check="version"`) {
		t.Error("a check is shown that is not known any more")
	}
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call maas.Call
		want float64
	}{
		"success":                 {maas.Call{StatusCode: 200}, 1},
		"a refusal is an answer":  {maas.Call{StatusCode: 409, Kind: maas.KindConflict}, 1},
		"a missing right too":     {maas.Call{StatusCode: 403, Kind: maas.KindForbidden}, 1},
		"a write that failed":     {maas.Call{StatusCode: 500, Kind: maas.KindOutcomeUnknown}, 1},
		"a write without answer":  {maas.Call{Kind: maas.KindOutcomeUnknown}, 0},
		"no connection":           {maas.Call{Kind: maas.KindUnavailable}, 0},
		"a key that is not known": {maas.Call{StatusCode: 401, Kind: maas.KindUnauthorized}, 0},
		"another server":          {maas.Call{StatusCode: 200, Kind: maas.KindNotMAAS}, 0},
	} {
		if got := availability(test.call); got != test.want {
			t.Errorf("%s: available %v, want %v", name, got, test.want)
		}
	}
}
