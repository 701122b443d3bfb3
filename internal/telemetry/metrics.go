package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Names of metrics.
const (
	// MAASRequestsTotal counts HTTP exchanges with MAAS by operation, method and code. The code is 0 when no answer came.
	MAASRequestsTotal = "capmaas_maas_requests_total"
	// MAASRequestDuration is how long they took, in seconds.
	MAASRequestDuration = "capmaas_maas_request_duration_seconds"
	// MAASAvailableGauge is 1 while MAAS answers and accepts our key, else 0.
	MAASAvailableGauge = "capmaas_maas_available"
	// MAASCheckOK is 1 while a check of MAAS as a whole finds nothing wrong, 0 while it does, and absent while nobody knows. Its label
	// check is one of the Check constants. The leader alone has it.
	MAASCheckOK = "capmaas_maas_check_ok"
	// MAASClockSkew is by how many seconds MAAS's clock is ahead of ours, at least; 0 while nothing shows that they differ.
	MAASClockSkew = "capmaas_maas_clock_skew_seconds"
	// BuildInfo is always 1; its label is our version.
	BuildInfo = "capmaas_build_info"
)

// Checks of MAAS as a whole: values of the label check.
const (
	// CheckReachable: MAAS answers, and is MAAS.
	CheckReachable = "reachable"
	// CheckVersion: MAAS is of a version that is supported.
	CheckVersion = "version"
	// CheckKey: MAAS accepts our key.
	CheckKey = "key"
	// CheckRights: our user may do all that may be needed, which takes an administrator.
	CheckRights = "rights"
	// CheckClock: MAAS's clock and ours differ by less than a minute.
	CheckClock = "clock"
)

// durationBuckets reach to minutes: MAAS lists of hundreds of machines take tens of seconds, and writes may take two minutes.
var durationBuckets = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 240}

// Metrics are the provider's own metrics.
type Metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	available prometheus.Gauge
	checks    *prometheus.GaugeVec
	skew      *prometheus.GaugeVec // with no labels: absent until it is known
}

// NewMetrics makes the metrics and registers them. It fails where some of their names are taken.
func NewMetrics(registry prometheus.Registerer, version string) (*Metrics, error) {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: MAASRequestsTotal, Help: "HTTP exchanges with MAAS. The code is 0 when no answer came.",
		}, []string{"operation", "method", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: MAASRequestDuration, Help: "How long HTTP exchanges with MAAS took.", Buckets: durationBuckets,
		}, []string{"operation", "method"}),
		available: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: MAASAvailableGauge, Help: "1 while MAAS answers and accepts the key, else 0.",
		}),
		checks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: MAASCheckOK, Help: "1 while a check of MAAS finds nothing wrong, 0 while it does.",
		}, []string{"check"}),
		skew: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: MAASClockSkew, Help: "By how much the clock of MAAS is ahead of ours, at least; 0 while nothing shows that they differ.",
		}, nil),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: BuildInfo, Help: "Always 1; the label is the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	for _, collector := range []prometheus.Collector{m.requests, m.durations, m.available, m.checks, m.skew, build} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// SetCheck shows what a check came to. One that is not known any more is not shown.
func (m *Metrics) SetCheck(check string, fine, known bool) {
	switch {
	case !known:
		m.checks.DeleteLabelValues(check)
	case fine:
		m.checks.WithLabelValues(check).Set(1)
	default:
		m.checks.WithLabelValues(check).Set(0)
	}
}

// SetClockSkew shows by how much MAAS's clock is ahead of ours, if that is known.
func (m *Metrics) SetClockSkew(skew time.Duration, known bool) {
	if known {
		m.skew.WithLabelValues().Set(skew.Seconds())
	}
}

// Observe counts one exchange. It is made for maas.Config.Observe.
func (m *Metrics) Observe(call maas.Call) {
	m.requests.WithLabelValues(call.Operation, call.Method, strconv.Itoa(call.StatusCode)).Inc()
	m.durations.WithLabelValues(call.Operation, call.Method).Observe(call.Duration.Seconds())
	m.available.Set(availability(call))
}

// availability reads from one exchange whether MAAS is there for us. What MAAS refuses for a reason of its own is an answer.
func availability(call maas.Call) float64 {
	switch call.Kind {
	case maas.KindUnavailable, maas.KindUnauthorized, maas.KindNotMAAS:
		return 0
	case maas.KindOutcomeUnknown:
		if call.StatusCode == 0 {
			return 0
		}
	}
	return 1
}
