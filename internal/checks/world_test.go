package checks

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// world is a region in virtual time, and checks of it whose host may have another idea of the time.
type world struct {
	*testing.T
	region *simulator.Region
	now    time.Time     // that of the checks
	skew   time.Duration // by which the region's Date headers are ahead
	checks *Checks
}

// newWorld has the user of a key who is an administrator, unless the configuration has users; then the key is that of the first.
func newWorld(t *testing.T, config simulator.Config) *world {
	t.Helper()
	w := &world{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	if config.Clock == nil {
		config.Clock = simulator.NewVirtualClock(w.now)
	}
	key := simulator.DefaultAPIKey
	if len(config.Users) > 0 {
		key = config.Users[0].APIKey
	}
	var err error
	if w.region, err = simulator.New(config); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.region.Handler())
	t.Cleanup(func() { server.Close(); w.region.Close() })
	now := func() time.Time { return w.now }
	clock := NewClock(now)
	client, err := maas.New(maas.Config{
		Endpoint: server.URL + "/MAAS", APIKey: key, Now: now,
		// The web server of the test has the real time.
		Observe: func(call maas.Call) {
			if !call.ServerTime.IsZero() {
				call.ServerTime = w.now.Add(w.skew)
			}
			clock.Observe(call)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.checks = New(Config{MAAS: client, Identity: identity.New(client), Clock: clock, Now: now})
	return w
}

// asked counts the requests of a kind since the last time.
func (w *world) asked(path string) int {
	n := 0
	for _, r := range w.region.Requests() {
		if r.Path == "/MAAS/api/2.0/"+path {
			n++
		}
	}
	return n
}
