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
