package simulator

import (
	"testing"
	"time"
)

func TestReleaseScripts(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct {
		unknown int
		state   Status // a minute after
	}{
		"3.4.10": {200, StatusReady},
		"3.5.13": {400, StatusReleasing},
		"3.7.3":  {400, StatusReleasing},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(cfg *Config) {
				cfg.Version, cfg.ReleaseScripts, cfg.Durations.Test = version, []string{"drain", "reset"}, 2*time.Minute
				cfg.Machines = []Machine{{Hostname: "a", SystemID: "abc346"}, {Hostname: "b", SystemID: "abc347"}}
			})
			for _, id := range []string{"abc346", "abc347"} {
				w.play("user", "POST", "/machines/", "allocate", [2]string{"system_id", id})
			}
			if got := w.ask("user", "POST", "/machines/abc346/", "release", [2]string{"scripts", "drain,nope"}); got.status != want.unknown {
				t.Errorf("a script that is not there: %d %s", got.status, got.body)
			}
			w.ask("user", "POST", "/machines/abc347/", "release", [2]string{"scripts", "drain,reset"})
			w.clock.Advance(time.Minute)
			if got := w.region.state.machines.rows["abc347"].status; got != want.state {
				t.Errorf("a minute after: %s", got)
			}
			w.clock.Advance(3 * time.Minute)
			if m := w.region.state.machines.rows["abc347"]; m.status != StatusReady || m.owner != "" {
				t.Errorf("at the end: %s of %q", m.status, m.owner)
			}
		})
	}
}
