package telemetry

import (
	"strconv"

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
	// BuildInfo is always 1; its label is our version.
	BuildInfo = "capmaas_build_info"
)

// durationBuckets reach to minutes: MAAS lists of hundreds of machines take tens of seconds, and writes may take two minutes.
var durationBuckets = []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 240}

// Metrics are the provider's own metrics.
type Metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	available prometheus.Gauge
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
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: BuildInfo, Help: "Always 1; the label is the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	for _, collector := range []prometheus.Collector{m.requests, m.durations, m.available, build} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
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
