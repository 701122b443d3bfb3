package simulator

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestTimesSpreadAroundTheirMedian(t *testing.T) {
	t.Parallel()
	const median, n = time.Minute, 20_000
	for _, spread := range []float64{1.2, 1.8, 4} {
		from := rand.New(rand.NewPCG(1, 2))
		var drawn []time.Duration
		for range n {
			drawn = append(drawn, draw(from, median, spread))
		}
		slices.Sort(drawn)
		limit := time.Duration(float64(median) * spread)
		most := time.Duration(float64(median)*spread*spread) + 1
		near := func(got, want time.Duration) bool { return got > want*95/100 && got < want*105/100 }
		if got := drawn[n/2]; !near(got, median) {
			t.Errorf("spread %v: the median is %s, want about %s", spread, got, median)
		}
		if got := drawn[n*95/100]; !near(got, limit) {
			t.Errorf("spread %v: 95 of 100 take at most %s, want about %s", spread, got, limit)
		}
		if drawn[n-1] > most || drawn[0] <= 0 {
			t.Errorf("spread %v: from %s to %s, want at most %s", spread, drawn[0], drawn[n-1], most)
		}
	}
	for _, spread := range []float64{0, 1} {
		if got := draw(nil, median, spread); got != median {
			t.Errorf("spread %v: %s, want exactly %s", spread, got, median)
		}
	}
}

// deployAll deploys machines one after the other, and says after how long each
// was deployed and what the region drew beside.
func deployAll(t *testing.T, cfg Config, machines int) (took []time.Duration, ids []string) {
	t.Helper()
	clock := NewVirtualClock(time.Unix(1_800_000_000, 0))
	clock.MoveWithRequests(true)
	cfg.Clock = clock
	for i := range machines {
		cfg.Machines = append(cfg.Machines, Machine{Hostname: "m-" + strconv.Itoa(i)})
	}
	region, client := regionWith(t, cfg, clock.Now)
	began := map[string]time.Time{}
	for range machines {
		m, err := client.Allocate(t.Context(), maas.AllocateParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
		began[m.SystemID] = clock.Now()
	}
	clock.Advance(time.Hour)
	for _, e := range region.Snapshot().Events {
		if e.Type == "Deployed" {
			took = append(took, e.Time.Sub(began[e.SystemID]))
		}
	}
	region.mu.Lock()
	defer region.mu.Unlock()
	for _, m := range region.state.machines.all() {
		ids = append(ids, m.systemID+m.token.secret)
	}
	return took, ids
}

func TestSpreadsComeFromTheSeedAndChangeNothingElse(t *testing.T) {
	t.Parallel()
	exact := Config{Seed: 7, Durations: Durations{Install: 10 * time.Minute, Boot: time.Minute}, Latency: Latency{Deploy: time.Second}}
	spread := exact
	spread.Durations.Spread, spread.Latency.Spread = 1.5, 2
	other := spread
	other.Seed = 8
	const machines = 20
	always, ids := deployAll(t, exact, machines)
	for _, d := range always {
		if d != 11*time.Minute {
			t.Errorf("without a spread a deployment took %s, want 11m", d)
		}
	}
	one, sameIDs := deployAll(t, spread, machines)
	again, _ := deployAll(t, spread, machines)
	differently, _ := deployAll(t, other, machines)
	if !slices.Equal(ids, sameIDs) {
		t.Error("a spread changes system IDs or keys")
	}
	if !slices.Equal(one, again) {
		t.Errorf("the same seed gives %v and %v", one, again)
	}
	if slices.Equal(one, differently) || slices.Max(one)-slices.Min(one) < time.Minute {
		t.Errorf("deployments took %v, and with another seed %v", one, differently)
	}
	spread.Latency.Spread = 0
	calm, _ := deployAll(t, spread, machines)
	slices.Sort(calm)
	slices.Sort(one)
	// The clock counts a request's time, so both are compared as sets.
	if !slices.Equal(calm, one) {
		t.Errorf("the spread of latencies changes deployments: %v and %v", calm, one)
	}
}

func TestAProfileFillsWhatIsNotSet(t *testing.T) {
	t.Parallel()
	const text = `{"profile": "maas-like", "durations": {"install": "5m", "spread": 1}, "latency": {"read": "1ns", "spread": 3}}`
	var cfg Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	if err := cfg.applyProfile(); err != nil {
		t.Fatal(err)
	}
	wantDurations := profiles()[ProfileMAASLike].durations
	wantDurations.Install, wantDurations.Spread = 5*time.Minute, 1
	wantLatency := profiles()[ProfileMAASLike].latency
	wantLatency.Read, wantLatency.Spread = 1, 3
	if cfg.Durations != wantDurations || cfg.Latency != wantLatency {
		t.Errorf("%+v\n%+v", cfg.Durations, cfg.Latency)
	}
	for name, profile := range profiles() {
		for field, d := range profile.durations.fields() {
			if named := name == ProfileMAASLike || name == ProfileSlow; named != (*d > 0) {
				t.Errorf("profile %q has %s %s", name, field, *d)
			}
		}
	}
}

func TestConfigSaysWhichTimesAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"profile": "fast"}`:                `profile "fast"`,
		`{"durations": {"spread": 0.5}}`:     "durations: spread is 0.5",
		`{"latency": {"spread": -1}}`:        "latency: spread is -1",
		`{"latency": {"spread": "2"}}`:       `spread is "2"`,
		`{"durations": {"install": 90}}`:     "install is 90",
		`{"durations": {"install": "soon"}}`: `install is "soon"`,
		`{"durations": {"erase": "-1s"}}`:    `erase is "-1s"`,
	} {
		var cfg Config
		err := json.Unmarshal([]byte(text), &cfg)
		if err == nil {
			_, err = New(cfg)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
