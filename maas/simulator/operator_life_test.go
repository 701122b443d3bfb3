package simulator_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// newSharedLab is a lab in which the client is that of a plain user, "capi",
// beside another one and an admin. The machine is in zone z1.
func newSharedLab(t *testing.T, version string) *lab {
	t.Helper()
	region, server, _, clock := start(t, simulator.Config{
		Version: version,
		Users:   []simulator.User{{Name: "root", APIKey: simulator.DefaultAPIKey, Admin: true}, {Name: "capi", APIKey: "c:a:pi"}, {Name: "other", APIKey: "o:t:her"}},
		Zones:   []simulator.Zone{{Name: "z1"}, {Name: "z2"}}, Pools: []simulator.Pool{{Name: "p1"}}, Tags: []simulator.Tag{{Name: "ssd"}, {Name: "gpu"}},
		Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123", Zone: "z1"}},
		Durations: simulator.Durations{
			Install: 3 * time.Minute, Boot: time.Minute, PowerOn: 10 * time.Second, PowerOff: 10 * time.Second, DeployTimeout: 30 * time.Minute,
		},
	})
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: "c:a:pi", Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return &lab{t, region, client, clock}
}

// midDeploy brings the machine into the middle of capi's deploy.
func (l *lab) midDeploy() {
	l.t.Helper()
	l.must(l.client.Deploy(l.t.Context(), "abc123", maas.DeployParams{UserData: []byte("x"), DistroSeries: "jammy", AgentName: "claim"}))
	l.must(l.client.SetWorkloadAnnotations(l.t.Context(), "abc123", map[string]string{"cluster": "c1"}))
	l.clock.Advance(2 * time.Minute)
}

// lifeBefore are the lives in which an operator finds a machine.
func lifeBefore() map[string]func(*lab) {
	return map[string]func(*lab){
		"ready":      func(*lab) {},
		"mid-deploy": (*lab).midDeploy,
		"deployed":   (*lab).deploy,
		"locked": func(l *lab) {
			l.deploy()
			if err := l.region.Lock("abc123", true); err != nil {
				l.t.Fatal(err)
			}
		},
		"releasing": func(l *lab) {
			l.deploy()
			l.must(l.client.Release(l.t.Context(), "abc123", maas.ReleaseParams{}))
		},
		"broken": func(l *lab) {
			if err := l.region.OperatorMarkBroken("abc123", "psu"); err != nil {
				l.t.Fatal(err)
			}
		},
	}
}

func TestOperatorTakesAMachineInAnyState(t *testing.T) {
	t.Parallel()
	for name, before := range lifeBefore() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSharedLab(t, maas37)
			before(l)
			if err := l.region.OperatorTake("abc123", "other"); err != nil {
				t.Fatal(err)
			}
			if _, err := l.client.Machine(t.Context(), "abc123"); !errors.Is(err, maas.ErrForbidden) {
				t.Errorf("who had it gets %v, want forbidden", err)
			}
			if _, err := l.client.Release(t.Context(), "abc123", maas.ReleaseParams{}); !errors.Is(err, maas.ErrForbidden) {
				t.Errorf("who had it gets %v from a release, want forbidden", err)
			}
			at := l.machine()
			l.clock.Advance(time.Hour)
			m := l.machine()
			if m.Status != simulator.StatusAllocated || m.Owner != "other" || m.AgentName != "" || m.Image != "" || m.PowerState != "off" || m.Locked ||
				m.HasUserData || len(m.Annotations)+len(m.Addresses) != 0 || m.Error != "" {
				t.Errorf("the region holds %+v", m)
			}
			if at.Status != m.Status || at.Owner != m.Owner || at.PowerState != m.PowerState || at.StatusMessage != m.StatusMessage {
				t.Errorf("something still reached the machine: %+v, later %+v", at, m)
			}
			if got := l.eventsOf("other"); !slices.Contains(got, "User acquiring node (other)") {
				t.Errorf("events of who took it: %q", got)
			}
		})
	}
}

func TestOperatorDeploysAMachineInAnyState(t *testing.T) {
	t.Parallel()
	for name, before := range lifeBefore() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newSharedLab(t, maas37)
			before(l)
			if err := l.region.OperatorDeploy("abc123", "other", "noble"); err != nil {
				t.Fatal(err)
			}
			if m := l.machine(); m.Status != simulator.StatusDeploying || m.Owner != "other" || m.HasUserData {
				t.Errorf("the region holds %+v", m)
			}
			l.clock.Advance(2 * time.Minute) // the old deploy would be over now
			if m := l.machine(); m.Status != simulator.StatusDeploying {
				t.Errorf("two minutes later the machine is %s", m.StatusName)
			}
			l.clock.Advance(time.Hour)
			if m := l.machine(); m.Status != simulator.StatusDeployed || m.Owner != "other" || m.Image != "ubuntu/noble" || m.PowerState != "on" || len(m.Addresses) != 1 {
				t.Errorf("the region holds %+v", m)
			}
			if _, err := l.client.Abort(t.Context(), "abc123", ""); !errors.Is(err, maas.ErrForbidden) {
				t.Errorf("who had it gets %v, want forbidden", err)
			}
			if got := l.eventsOf("other"); !slices.Contains(got, "User starting deployment (other)") {
				t.Errorf("events of who deployed it: %q", got)
			}
		})
	}
}

func TestOperatorMarksAMachineBroken(t *testing.T) {
	t.Parallel()
	for version, owner := range map[string]string{maas34: "", maas35: "", maas37: "capi"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := newSharedLab(t, version)
			l.midDeploy()
			if err := l.region.OperatorMarkBroken("abc123", "fan is loud"); err != nil {
				t.Fatal(err)
			}
			seen, err := l.client.Machine(t.Context(), "abc123")
			if err != nil || seen.Status != maas.StatusBroken || seen.Owner != owner {
				t.Errorf("the client sees %+v, %v", seen, err)
			}
			if _, err := l.client.Deploy(t.Context(), "abc123", maas.DeployParams{}); !errors.Is(err, maas.ErrConflict) {
				t.Errorf("a deploy gives %v, want a conflict", err)
			}
			l.clock.Advance(time.Hour)
			if m := l.machine(); m.Status != simulator.StatusBroken || m.Owner != owner || m.Error != "fan is loud" || m.PowerState != "off" || m.Image != "" || len(m.Addresses) != 0 {
				t.Errorf("the region holds %+v", m)
			}
			if got := l.eventsOf("capi"); !slices.Contains(got, "User marking node broken (capi) - fan is loud") {
				t.Errorf("events of the owner: %q", got)
			}
		})
	}
}

func TestOperatorReleasesInTheMiddleOfADeploy(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t, maas37)
	l.midDeploy()
	if err := l.region.OperatorRelease("abc123"); err != nil {
		t.Fatal(err)
	}
	if now := l.state(); now != simulator.StatusReleasing {
		t.Errorf("the client sees %s", now)
	}
	l.clock.Advance(time.Hour)
	if m := l.machine(); m.Status != simulator.StatusReady || m.Owner != "" || m.PowerState != "off" || m.HasUserData {
		t.Errorf("the region holds %+v", m)
	}
	if got := l.eventsOf("root"); !slices.Contains(got, "User releasing node (root)") {
		t.Errorf("events of the admin: %q", got)
	}
}

func TestOperatorDeployThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	l := newSharedLab(t, maas37)
	l.midDeploy()
	before := l.region.Snapshot()
	err := l.region.OperatorDeploy("abc123", "other", "nope")
	if err == nil || !strings.Contains(err.Error(), "machine abc123") || !strings.Contains(err.Error(), "'nope' is not a valid distro_series") {
		t.Errorf("an unknown image gives %v", err)
	}
	if after := l.region.Snapshot(); after.Machines[0].Owner != "capi" || len(after.Events) != len(before.Events) {
		t.Errorf("the machine is now %+v", after.Machines[0])
	}
	l.clock.Advance(time.Hour)
	if m := l.machine(); m.Status != simulator.StatusDeployed || m.Image != "ubuntu/jammy" {
		t.Errorf("capi's deploy ended as %s, %s", m.StatusName, m.Image)
	}
	if err := l.region.ExhaustAddresses("", true); err != nil {
		t.Fatal(err)
	}
	err = l.region.OperatorDeploy("abc123", "other", "")
	if m := l.machine(); err == nil || !strings.Contains(err.Error(), "No more IPs available") || m.Status != simulator.StatusAllocated || m.Owner != "other" {
		t.Errorf("without an address: %v; the region holds %+v", err, m)
	}
}

// eventsOf are the events of a user, with their descriptions.
func (l *lab) eventsOf(user string) []string {
	var out []string
	for _, e := range l.region.Snapshot().Events {
		if e.Username == user {
			out = append(out, strings.TrimSpace(e.Type+" "+e.Description))
		}
	}
	return out
}
