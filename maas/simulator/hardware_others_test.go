package simulator

import (
	"slices"
	"testing"
	"time"
)

// What the client of package maas does not ask of MAAS, by hand.

// otherWorld has one machine in a state, whose hardware takes its time.
func otherWorld(t *testing.T, version string, status Status, moment Moment, trouble Trouble) *world {
	return newWorld(t, func(cfg *Config) {
		cfg.Version = version
		cfg.Machines = []Machine{{Hostname: "m-1", SystemID: "abc346", Status: &status, PowerState: "on"}}
		cfg.Durations = Durations{Commission: 10 * time.Minute, Test: 10 * time.Minute, Boot: time.Minute, PowerOn: time.Second, PowerOff: time.Second}
		cfg.Hardware = func(e HardwareEvent) Trouble {
			if e.Moment == moment {
				return trouble
			}
			return Trouble{}
		}
	})
}

func TestWhatGoesWrongWhenPowerIsQueried(t *testing.T) {
	t.Parallel()
	const noRack = "Unable to connect to any rack controller " + rackID + "; no connections available."
	tests := []struct {
		name    string
		moment  Moment
		trouble Trouble
		status  int
		body    string
	}{
		{"no answer", MomentPowerQuery, Trouble{Fail: "timeout"}, 500, "timeout"},
		{"no rack", MomentRack, Trouble{Fail: "x"}, 503, noRack},
		// The world's clock stands still, so nobody waits for these.
		{"stuck", MomentPowerQuery, Trouble{Stuck: true}, 200, "{\n    \"state\": \"on\"\n}"},
		{"slow", MomentPowerQuery, Trouble{Delay: time.Minute}, 200, "{\n    \"state\": \"on\"\n}"},
		{"none", MomentInstall, Trouble{Fail: "x"}, 200, "{\n    \"state\": \"on\"\n}"},
	}
	for _, tt := range tests {
		for _, version := range []string{"3.4.10", "3.5.13", "3.7.3"} {
			t.Run(tt.name+" in "+version, func(t *testing.T) {
				t.Parallel()
				w := otherWorld(t, version, StatusReady, tt.moment, tt.trouble)
				w.ask("user", "GET", "/machines/abc346/", "query_power_state").wants(t, tt.status, tt.body)
				if m := w.region.Snapshot().Machines[0]; m.PowerState != "on" || m.Status != StatusReady {
					t.Errorf("the region holds %+v", m)
				}
			})
		}
	}
}

func TestQueriesTakeAsLongAsTheBMC(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]Trouble{
		"slow":      {Delay: 40 * time.Second},
		"slow fail": {Delay: 40 * time.Second, Fail: "timeout"},
		"stuck":     {Stuck: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := otherWorld(t, "3.7.3", StatusReady, MomentPowerQuery, trouble)
			w.clock.MoveWithRequests(true)
			began := w.clock.Now()
			got := w.ask("user", "GET", "/machines/abc346/", "query_power_state")
			took := w.clock.Now().Sub(began)
			want, status := 40*time.Second, 200
			switch {
			case trouble.Stuck:
				want, status = longest, 504
			case trouble.Fail != "":
				status = 500
			}
			if got.status != status || took != want {
				t.Errorf("%d %s after %s, want %d after %s", got.status, got.body, took, status, want)
			}
		})
	}
}

func TestWhatGoesWrongInCommissioningTestsAndRescue(t *testing.T) {
	t.Parallel()
	fail, stuck := Trouble{Fail: "BMC unreachable"}, Trouble{Stuck: true}
	found := Trouble{Fail: "disk is broken"}
	const timeout = "Node operation 'Commissioning' timed out after 30 minutes."
	type row struct {
		op, name string
		from     Status
		moment   Moment
		trouble  Trouble
		versions []string
		status   int
		now      Status
		later    Status
		why      string
	}
	older, newer := []string{"3.4.10"}, []string{"3.5.13", "3.7.3"}
	both := slices.Concat(older, newer)
	tests := []row{
		{versions: both, op: "commission", name: "fails", from: StatusReady, moment: MomentCommission, trouble: found, status: 200, now: StatusCommissioning, later: StatusFailedCommissioning, why: "disk is broken"},
		{versions: both, op: "commission", name: "hangs", from: StatusReady, moment: MomentCommission, trouble: stuck, status: 200, now: StatusCommissioning, later: StatusFailedCommissioning, why: timeout},
		{versions: both, op: "commission", name: "slow", from: StatusNew, moment: MomentCommission, trouble: Trouble{Delay: time.Minute}, status: 200, now: StatusCommissioning, later: StatusReady},
		{versions: older, op: "commission", name: "not on", from: StatusReady, moment: MomentPowerOn, trouble: fail, status: 200, now: StatusCommissioning, later: StatusFailedCommissioning, why: timeout},
		{versions: newer, op: "commission", name: "not on", from: StatusReady, moment: MomentPowerOn, trouble: fail, status: 500, now: StatusReady, later: StatusReady},
		{versions: both, op: "commission", name: "no rack", from: StatusNew, moment: MomentRack, trouble: fail, status: 503, now: StatusNew, later: StatusNew},
		{versions: both, op: "test", name: "fails", from: StatusReady, moment: MomentTest, trouble: found, status: 200, now: StatusTesting, later: StatusFailedTesting, why: "disk is broken"},
		{versions: both, op: "test", name: "hangs", from: StatusReady, moment: MomentTest, trouble: stuck, status: 200, now: StatusTesting, later: StatusFailedTesting, why: "Node operation 'Testing' timed out after 30 minutes."},
		{versions: newer, op: "test", name: "not on", from: StatusReady, moment: MomentPowerOn, trouble: fail, status: 500, now: StatusReady, later: StatusReady},
		{versions: older, op: "rescue_mode", name: "not on", from: StatusReady, moment: MomentPowerOn, trouble: fail, status: 200, now: StatusEnteringRescueMode, later: StatusEnteringRescueMode},
		{versions: newer, op: "rescue_mode", name: "not on", from: StatusReady, moment: MomentPowerOn, trouble: fail, status: 500, now: StatusFailedEnteringRescueMode, later: StatusFailedEnteringRescueMode},
		{versions: newer, op: "exit_rescue_mode", name: "not off", from: StatusRescueMode, moment: MomentPowerOff, trouble: fail, status: 500, now: StatusFailedExitingRescueMode, later: StatusFailedExitingRescueMode},
		{versions: both, op: "exit_rescue_mode", name: "stuck", from: StatusRescueMode, moment: MomentPowerOff, trouble: stuck, status: 200, now: StatusExitingRescueMode, later: StatusFailedExitingRescueMode, why: "Node operation 'Exiting rescue mode' timed out after 5 minutes."},
	}
	for _, tt := range tests {
		for _, version := range tt.versions {
			t.Run(tt.op+" "+tt.name+" in "+version, func(t *testing.T) {
				t.Parallel()
				w := otherWorld(t, version, tt.from, tt.moment, tt.trouble)
				if got := w.ask("admin", "POST", "/machines/abc346/", tt.op); got.status != tt.status {
					t.Errorf("%d %.200s, want %d", got.status, got.body, tt.status)
				}
				now := w.region.Snapshot().Machines[0]
				w.clock.Advance(time.Hour)
				later := w.region.Snapshot().Machines[0]
				if now.Status != tt.now || later.Status != tt.later || later.Error != tt.why {
					t.Errorf("the machine is %s, later %s (%s), want %s, %s (%s)", now.StatusName, later.StatusName, later.Error, tt.now, tt.later, tt.why)
				}
			})
		}
	}
}
