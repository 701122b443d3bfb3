package checks

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestWhatIsWrongWithMAAS(t *testing.T) {
	t.Parallel()
	user := func(u simulator.User) simulator.Config {
		u.Name, u.APIKey = "capi", "a:b:c"
		return simulator.Config{Users: []simulator.User{u}}
	}
	answer := func(status int, contentType, body string) func(*world) {
		return func(w *world) {
			w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if strings.Contains(r.Path, "version") {
					return simulator.Fault{}
				}
				return simulator.Fault{Status: status, ContentType: contentType, Body: body}
			})
		}
	}
	version := func(v string) func(*world) {
		return func(w *world) {
			w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if strings.Contains(r.Path, "version") {
					return simulator.Fault{Status: 200, ContentType: "application/json", Body: `{"version": "` + v + `"}`}
				}
				return simulator.Fault{}
			})
		}
	}
	// Which checks are wrong, by their first letters: reachable, version, key, rights, clock; "-" before one that is not known.
	for name, test := range map[string]struct {
		config  simulator.Config
		happens func(*world)
		noDNS   bool
		want    string // reason and parts of the message
		wrong   string
	}{
		"nothing":                       {simulator.Config{}, nil, false, "MAASAvailable", ""},
		"an old version":                {simulator.Config{}, version("3.2.9"), false, "MAASVersionUnsupported|is of version 3.2.9, and 3.3 is the oldest that is supported: upgrade MAAS", "version"},
		"a very old version":            {simulator.Config{}, version("2.9.2"), false, "MAASVersionUnsupported", "version"},
		"a candidate":                   {simulator.Config{}, version("3.4.0~rc1"), false, "MAASAvailable", ""},
		"the oldest":                    {simulator.Config{}, version("3.3.0"), false, "MAASAvailable", ""},
		"the simulator's oldest":        {simulator.Config{Version: "3.4.10"}, nil, false, "MAASAvailable", ""},
		"a newer version":               {simulator.Config{}, version("3.8.0"), false, "MAASAvailable|newer than those that were tested (3.3 to 3.7)", ""},
		"a much newer version":          {simulator.Config{}, version("4.0.0"), false, "MAASAvailable|newer than those", ""},
		"a version of nothing we know":  {simulator.Config{}, version("trunk"), false, `MAASVersionUnsupported|its version is "trunk"`, "version"},
		"a plain user":                  {user(simulator.User{}), nil, false, "MAASKeyLacksRights|no administrator of MAAS", "rights"},
		"a plain user who needs no DNS": {user(simulator.User{}), nil, true, "MAASAvailable", "rights"},
		"a disabled user":               {user(simulator.User{Admin: true, Disabled: true}), nil, false, "MAASKeyLacksRights|do what is needed (User is not allowed access to this API): look in MAAS whether that user is active", "rights -version"},
		"a wrong key": {simulator.Config{}, answer(401, "text/html", "Authorization Error: Invalid API key."), false,
			"MAASKeyRefused|does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager", "key -rights -version"},
		"a clock that is late": {simulator.Config{}, answer(401, "text/html", "Authorization Error: 'Expired timestamp: given 1 and now 2'"), false,
			"ClocksDiffer|whatever the API key|NTP", "clock -key -rights -version"},
		"a clock that is late, and a proxy that hides why": {simulator.Config{}, func(w *world) {
			w.skew = 6 * time.Minute
			answer(401, "text/html", "no")(w)
		}, false, "ClocksDiffer", "clock -key -rights -version"},
		"a clock that is a little late":  {simulator.Config{}, func(w *world) { w.skew = 90 * time.Second }, false, "ClocksDiffer|more than a minute ahead of that of the manager's host", "clock"},
		"a clock that is a little early": {simulator.Config{}, func(w *world) { w.skew = -90 * time.Second }, false, "ClocksDiffer|more than a minute behind that", "clock"},
		"clocks that are near enough":    {simulator.Config{}, func(w *world) { w.skew = 55 * time.Second }, false, "MAASAvailable", ""},
		"MAAS is away":                   {simulator.Config{}, answer(503, "text/plain", "no workers"), false, "MAASUnreachable|is not available (no workers): look whether MAAS runs", "reachable -key -rights -version"},
		"MAAS hangs up": {simulator.Config{}, func(w *world) {
			w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{DropAnswer: true} })
		}, false, "MAASUnreachable|is not available (the connection was closed", "reachable -key -rights -version -clock"},
		"it is not MAAS": {simulator.Config{}, answer(http.StatusFound, "text/html", "<html>"), false, "NotMAAS|MAAS_ENDPOINT does not lead to MAAS", "reachable -key -rights -version -clock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.config)
			if test.happens != nil {
				test.happens(w)
			}
			region := w.checks.Region(t.Context())
			got := JudgeRegion(region, !test.noDNS)
			reason, rest, _ := strings.Cut(test.want, "|")
			if got.Reason != reason || (got.Verdict == Fine) != (reason == "MAASAvailable") || (rest == "") != (got.Message == "") && got.Verdict == Fine {
				t.Errorf("found %+v, want %q", got, test.want)
			}
			for part := range strings.SplitSeq(rest, "|") {
				if !strings.Contains(got.Message, part) {
					t.Errorf("%q does not say %q", got.Message, part)
				}
			}
			for check, verdict := range verdicts(region) {
				want := Fine
				for word := range strings.FieldsSeq(test.wrong) {
					switch word {
					case check:
						want = Wrong
					case "-" + check:
						want = Unknown
					}
				}
				if verdict != want {
					t.Errorf("%s is %v, want %v", check, verdict, want)
				}
			}
		})
	}
}

func TestAnUpgradeOfMAASIsNoticedSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	old := true
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if old && strings.Contains(r.Path, "version") {
			return simulator.Fault{Status: 200, ContentType: "application/json", Body: `{"version": "3.2.0"}`}
		}
		return simulator.Fault{}
	})
	if got := JudgeRegion(w.checks.Region(t.Context()), true); got.Verdict != Wrong {
		t.Errorf("found %+v", got)
	}
	old = false
	w.now = w.now.Add(floor)
	if got := JudgeRegion(w.checks.Region(t.Context()), true); got.Verdict != Fine {
		t.Errorf("found %+v", got)
	}
}

func TestClocksAreComparedWithWhatAnswersProve(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		server   time.Time
		duration time.Duration
		kind     maas.Kind
		want     ClockReading
	}{
		"the same":                      {noon, 0, "", ClockReading{Known: true}},
		"within the second":             {noon.Add(-900 * time.Millisecond).Truncate(time.Second), 0, "", ClockReading{Known: true}},
		"a long answer":                 {noon.Add(-80 * time.Second), 90 * time.Second, "", ClockReading{Known: true}},
		"ahead":                         {noon.Add(2 * time.Minute), time.Second, "", ClockReading{true, 2 * time.Minute, true}},
		"behind":                        {noon.Add(-2 * time.Minute), time.Second, "", ClockReading{true, -118 * time.Second, true}},
		"a little ahead":                {noon.Add(30 * time.Second), time.Second, "", ClockReading{true, 30 * time.Second, false}},
		"no time":                       {time.Time{}, time.Second, "", ClockReading{}},
		"a server that is not MAAS":     {noon.Add(time.Hour), time.Second, maas.KindNotMAAS, ClockReading{}},
		"a refusal tells the time, too": {noon.Add(time.Hour), 0, maas.KindUnauthorized, ClockReading{true, time.Hour, true}},
	} {
		c := NewClock(func() time.Time { return noon })
		c.Observe(maas.Call{ServerTime: test.server, Duration: test.duration, Kind: test.kind})
		if got := c.Reading(); got != test.want {
			t.Errorf("%s: read %+v, want %+v", name, got, test.want)
		}
	}
	c := NewClock(func() time.Time { return noon })
	for _, step := range []struct {
		skew    time.Duration
		differs bool
	}{{55, false}, {61, true}, {55, true}, {61, true}, {49, false}, {60, false}} {
		c.Observe(maas.Call{ServerTime: noon.Add(step.skew * time.Second)})
		if got := c.Reading().Differs; got != step.differs {
			t.Errorf("after %ds: differs %v", step.skew, got)
		}
	}
}

func TestTheLogSaysWhatTheIdentityDoesNot(t *testing.T) {
	t.Parallel()
	for want, region := range map[string]Region{
		"MAAS m is of version 3.7.3, which is supported":                                    {Host: "m", Superuser: true, Version: "3.7.3"},
		"MAAS m is of version 3.2.0, and 3.3 is the oldest that is supported: upgrade MAAS": {Host: "m", Version: "3.2.0"},
		"": {Host: "m", Err: &maas.Error{Kind: maas.KindUnauthorized}},
	} {
		if got := describe(region); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
	late := describe(Region{Host: "m", Err: &maas.Error{Kind: maas.KindUnauthorized, Err: maas.ErrClocksDiffer}})
	if !strings.Contains(late, "the clock of the manager's host") {
		t.Errorf("said %q", late)
	}
	if fmt.Sprint(len(verdicts(Region{}))) != "5" || verdicts(Region{})[telemetry.CheckVersion] != Unknown {
		t.Errorf("verdicts %v", verdicts(Region{}))
	}
}

func TestTheStartShowsWhatItFindsAndOutlivesAMAASThatIsDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		want   []string
	}{
		"up":   {0, []string{`{check="reachable"} 1`, `{check="version"} 1`, `{check="key"} 1`, `{check="rights"} 1`, `{check="clock"} 0`, "skew_seconds 120"}},
		"down": {503, []string{`{check="reachable"} 0`, `{check="clock"} 0`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, simulator.Config{})
			w.skew = 2 * time.Minute
			w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: test.status} })
			registry := prometheus.NewRegistry()
			var err error
			if w.checks.metrics, err = telemetry.NewMetrics(registry, "v1"); err != nil {
				t.Fatal(err)
			}
			// It looks once, and then sees that it has to end.
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- w.checks.Start(ctx) }()
			for shown(registry, "capmaas_maas_clock_skew_seconds") == "" {
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			all := shown(registry, "capmaas_maas_c")
			for _, want := range test.want {
				if !strings.Contains(all, want) {
					t.Errorf("the metrics lack %s:\n%s", want, all)
				}
			}
			// Of a MAAS that is down, nothing else is known but how its clock is.
			if got := strings.Count(all, "check="); test.status != 0 && got != 2 {
				t.Errorf("%d checks are shown:\n%s", got, all)
			}
		})
	}
}

// shown returns the lines of the metrics that begin so.
func shown(registry *prometheus.Registry, prefix string) (lines string) {
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines += line
		}
	}
	return lines
}
