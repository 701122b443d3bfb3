package simulator

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// powerCall is a request that sets a machine's power in motion.
type powerCall struct {
	name string
	// before makes what the call starts from.
	before func(context.Context, *maas.Client) error
	call   func(context.Context, *maas.Client) error
	// waits are the versions in which the answer comes with the new power.
	waits map[string]bool
	// shown is the state right after the answer, where it is waited for.
	shown Status
}

func powerCalls() []powerCall {
	const id = "abc346"
	newer := map[string]bool{"3.5.13": true, "3.7.3": true}
	deploy := func(ctx context.Context, c *maas.Client) error {
		_, err := c.Deploy(ctx, id, maas.DeployParams{})
		return err
	}
	off := func(ctx context.Context, c *maas.Client) error {
		_, err := c.PowerOff(ctx, id, "")
		return err
	}
	on := func(ctx context.Context, c *maas.Client) error {
		_, err := c.PowerOn(ctx, id, "")
		return err
	}
	release := func(ctx context.Context, c *maas.Client) error {
		_, err := c.Release(ctx, id, maas.ReleaseParams{})
		return err
	}
	abort := func(ctx context.Context, c *maas.Client) error {
		_, err := c.Abort(ctx, id, "")
		return err
	}
	none := func(context.Context, *maas.Client) error { return nil }
	return []powerCall{
		{"deploy", none, deploy, map[string]bool{"3.5.13": true}, StatusDeploying},
		{"release", deploy, release, newer, StatusReady},
		{"abort", deploy, abort, newer, StatusAllocated},
		{"power_off", deploy, off, newer, StatusDeploying},
		{"power_on", deploy, on, newer, StatusDeploying},
	}
}

func TestRequestsWaitForPowerOnAClockThatMovesWithThem(t *testing.T) {
	t.Parallel()
	for _, tt := range powerCalls() {
		for _, version := range []string{"3.4.10", "3.5.13", "3.7.3"} {
			t.Run(tt.name+" in "+version, func(t *testing.T) {
				t.Parallel()
				clock := NewVirtualClock(time.Unix(goldenTime, 0))
				region, client := regionWith(t, Config{
					Version: version, Clock: clock, Machines: []Machine{{Hostname: "m-1", SystemID: "abc346"}},
					Durations: Durations{Install: time.Hour, PowerOn: 20 * time.Second, PowerOff: 20 * time.Second},
				}, clock.Now)
				if err := tt.before(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				clock.Advance(time.Minute)
				clock.MoveWithRequests(true)
				began := clock.Now()
				if err := tt.call(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				want := time.Duration(0)
				if tt.waits[version] {
					want = 20 * time.Second
				}
				if took := clock.Now().Sub(began); took != want {
					t.Errorf("the answer took %s, want %s", took, want)
				}
				if m := region.Snapshot().Machines[0]; tt.waits[version] && m.Status != tt.shown {
					t.Errorf("after the answer the machine is %s, want %s", m.StatusName, tt.shown)
				}
			})
		}
	}
}

func TestAnAnswerThatWasWaitedForShowsWhatWasBefore(t *testing.T) {
	t.Parallel()
	clock := NewVirtualClock(time.Unix(goldenTime, 0))
	clock.MoveWithRequests(true)
	_, client := regionWith(t, Config{
		Clock: clock, Machines: []Machine{{Hostname: "m-1", SystemID: "abc346"}}, Durations: Durations{PowerOff: 20 * time.Second},
	}, clock.Now)
	if _, err := client.Deploy(t.Context(), "abc346", maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Release(t.Context(), "abc346", maas.ReleaseParams{})
	if err != nil || answer.Status != maas.StatusReleasing || answer.Owner != "admin" {
		t.Errorf("the answer shows %+v, %v", answer, err)
	}
	now, err := client.Machine(t.Context(), "abc346")
	if err != nil || now.Status != maas.StatusReady || now.Owner != "" {
		t.Errorf("the machine is %+v, %v", now, err)
	}
}

func TestADeployWaitsForTheCheckOfItsAddresses(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]Trouble{"slow": {Delay: time.Minute}, "slow, and fails": {Delay: time.Minute, Fail: "x"}} {
		clock := NewVirtualClock(time.Unix(goldenTime, 0))
		clock.MoveWithRequests(true)
		region, client := regionWith(t, Config{
			Clock: clock, Machines: []Machine{{Hostname: "m-1", SystemID: "abc346"}}, Durations: Durations{Install: time.Hour},
			Hardware: func(e HardwareEvent) Trouble {
				if e.Moment == MomentAddressCheck {
					return trouble
				}
				return Trouble{}
			},
		}, clock.Now)
		began, want, kind := clock.Now(), StatusDeploying, maas.Kind("")
		if trouble.Fail != "" {
			want, kind = StatusAllocated, maas.KindOutcomeUnknown
		}
		_, err := client.Deploy(t.Context(), "abc346", maas.DeployParams{})
		m := region.Snapshot().Machines[0]
		if maas.KindOf(err) != kind || clock.Now().Sub(began) != time.Minute || m.Status != want {
			t.Errorf("%s: %v after %s; the machine is %s", name, err, clock.Now().Sub(began), m.StatusName)
		}
	}
}

// inRealTime runs f with a region whose time is real, as far as it can tell:
// the bubble's time passes while all of it waits. Requests do not go over
// connections, which a bubble does not know.
func inRealTime(t *testing.T, cfg Config, f func(t *testing.T, region *Region, release func(context.Context) int)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg.Machines = []Machine{{Hostname: "m-1", SystemID: "abc346"}}
		region, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer region.Close()
		w := &world{t: t, region: region, handler: region.Handler()}
		w.force("abc346", fixture{status: StatusDeployed, owner: "admin", power: "on", known: true})
		f(t, region, func(ctx context.Context) int {
			req := httptest.NewRequestWithContext(ctx, "POST", apiPrefix+"/machines/abc346/?op=release", nil)
			req.Header.Set("Authorization", `OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="simulator", `+
				`oauth_token="admin", oauth_signature="%26secret", oauth_timestamp="4102444800", oauth_nonce="`+time.Now().String()+`"`)
			answer := httptest.NewRecorder()
			region.Handler().ServeHTTP(answer, req)
			return answer.Code
		})
	})
}

func TestARequestThatWaitsHoldsUpNobodyElse(t *testing.T) {
	inRealTime(t, Config{Durations: Durations{PowerOff: time.Minute}}, func(t *testing.T, region *Region, release func(context.Context) int) {
		began := time.Now()
		done := make(chan int)
		go func() { done <- release(t.Context()) }()
		synctest.Wait()
		if m := region.Snapshot().Machines[0]; m.Status != StatusReleasing {
			t.Errorf("meanwhile the machine is %s", m.StatusName)
		}
		if status := <-done; status != 200 || time.Since(began) != time.Minute {
			t.Errorf("%d after %s", status, time.Since(began))
		}
		if m := region.Snapshot().Machines[0]; m.Status != StatusReady {
			t.Errorf("afterwards the machine is %s", m.StatusName)
		}
	})
}

func TestWhatWasWaitedForHappensThoughTheClientIsGone(t *testing.T) {
	inRealTime(t, Config{Durations: Durations{PowerOff: time.Minute}}, func(t *testing.T, region *Region, release func(context.Context) int) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		release(ctx)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the request went on for %s after its client was gone", took)
		}
		time.Sleep(time.Minute)
		if m := region.Snapshot().Machines[0]; m.Status != StatusReady {
			t.Errorf("the machine is %s", m.StatusName)
		}
	})
}

func TestAProxyGivesUpOnPowerThatIsStuck(t *testing.T) {
	stuck := func(e HardwareEvent) Trouble { return Trouble{Stuck: e.Moment == MomentPowerOff} }
	inRealTime(t, Config{Hardware: stuck}, func(t *testing.T, region *Region, release func(context.Context) int) {
		began := time.Now()
		if status := release(t.Context()); status != 504 || time.Since(began) != longest {
			t.Errorf("%d after %s", status, time.Since(began))
		}
		if m := region.Snapshot().Machines[0]; m.Status != StatusFailedReleasing {
			t.Errorf("the machine is %s", m.StatusName)
		}
	})
}

// stubBooter says no.
type stubBooter struct{ boot, halt error }

func (b stubBooter) Boot(context.Context, BootMachine) error  { return b.boot }
func (b stubBooter) Halt(context.Context, string, bool) error { return b.halt }

func TestABooterThatCannotHaltIsABMCThatFails(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct {
		status int
		now    Status
	}{"3.4.10": {200, StatusReleasing}, "3.5.13": {500, StatusDeployed}, "3.7.3": {500, StatusDeployed}} {
		w := newWorld(t, func(cfg *Config) {
			cfg.Version, cfg.Boot, cfg.Durations.PowerOff = version, stubBooter{halt: errors.New("no such process")}, 0
			cfg.Machines = []Machine{{Hostname: "m-1", SystemID: "abc346"}}
		})
		w.force("abc346", fixture{status: StatusDeployed, owner: "admin", power: "on", known: true})
		got := w.ask("admin", "POST", "/machines/abc346/", "release")
		m := w.region.Snapshot().Machines[0]
		if got.status != want.status || m.Status != want.now || m.StatusMessage != "Failed to power off node - no such process" {
			t.Errorf("%s: %d %.100s; the machine is %s: %s", version, got.status, got.body, m.StatusName, m.StatusMessage)
		}
	}
}
