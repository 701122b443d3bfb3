package simulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The versions that differ in what they tell of hardware that fails.
const maas34, maas35, maas37 = "3.4.10", "3.5.13", "3.7.3"

// seen is what a client sees of a fault, and what the region then holds.
type seen struct {
	kind maas.Kind // "" for no error
	text string    // in the error
	// now is the state right after the answer, later the one an hour on, as the
	// client reads them.
	now, later simulator.Status
	// image is what the region holds at last, and why its error description.
	image, why string
	power      string // at last; not compared when empty
}

const (
	told     = maas.KindOutcomeUnknown
	anImage  = "ubuntu/jammy"
	noImage  = ""
	aborting = "Failed to query node's BMC - (admin) - Aborting DEPLOYING and reverting to ALLOCATED. Unable to power control the node. Please check power credentials."
	tooLong  = "Node operation 'Deploying' timed out after 30 minutes."
	busyBMC  = "Unable to change power state for node m-1: another action is already in progress for that node."
	tooLong5 = "Node operation 'Releasing' timed out after 5 minutes."
)

// same is what every version shows.
func same(s seen) map[string]seen { return map[string]seen{maas34: s, maas35: s, maas37: s} }

// hardwareTest is a fault in a machine's life.
type hardwareTest struct {
	name    string
	moment  simulator.Moment
	trouble simulator.Trouble
	want    map[string]seen
}

var deployed = seen{now: simulator.StatusDeploying, later: simulator.StatusDeployed, image: anImage, power: "on"}

// undone is a deploy that was refused before its commit, reverted one that
// failed after it.
func undone(kind maas.Kind, text string) seen {
	return seen{kind: kind, text: text, now: simulator.StatusAllocated, later: simulator.StatusAllocated, image: noImage, power: "off"}
}

func reverted(text string) seen {
	return seen{kind: told, text: text, now: simulator.StatusAllocated, later: simulator.StatusAllocated, image: anImage}
}

func failedLater(why string) seen {
	return seen{now: simulator.StatusDeploying, later: simulator.StatusFailedDeployment, image: anImage, why: why}
}

func deployTests() []hardwareTest {
	fail := simulator.Trouble{Fail: "BMC unreachable"}
	stuck, late := simulator.Trouble{Stuck: true}, simulator.Trouble{Delay: 20 * time.Minute}
	unavailable := undone(maas.KindInvalid, "Deployment operating system ubuntu jammy is unavailable.")
	unreachable := reverted("Unable to connect to any rack controller")
	unreachable.power = "unknown"
	return []hardwareTest{
		{"no power-on", simulator.MomentPowerOn, fail, map[string]seen{maas34: failedLater(tooLong), maas35: reverted("BMC unreachable"), maas37: failedLater(tooLong)}},
		{"busy BMC", simulator.MomentPowerOn, simulator.Trouble{Fail: busyBMC}, map[string]seen{maas34: reverted(busyBMC), maas35: reverted(busyBMC), maas37: failedLater(tooLong)}},
		{"stuck power-on", simulator.MomentPowerOn, stuck, same(failedLater(tooLong))},
		{"slow power-on", simulator.MomentPowerOn, late, same(deployed)},
		{"no rack", simulator.MomentRack, fail, map[string]seen{maas34: unavailable, maas35: unreachable, maas37: undone(told, "Error determining BMC task queue for machine abc123")}},
		{"slow rack", simulator.MomentRack, late, same(deployed)},
		{"rack without the image", simulator.MomentImage, fail, map[string]seen{maas34: unavailable, maas35: deployed, maas37: deployed}},
		{"address check fails", simulator.MomentAddressCheck, fail, same(reverted("IP address checks failed after 2 retries."))},
		{"address check hangs", simulator.MomentAddressCheck, stuck, same(failedLater(tooLong))},
		{"workflow does not start", simulator.MomentWorkflow, fail, map[string]seen{maas34: deployed, maas35: deployed, maas37: reverted("BMC unreachable")}},
		{"no worker for the workflow", simulator.MomentWorkflow, stuck, map[string]seen{maas34: deployed, maas35: deployed, maas37: failedLater(tooLong)}},
		{"installer fails", simulator.MomentInstall, simulator.Trouble{Fail: "curtin failed"}, same(failedLater("curtin failed"))},
		{"installer hangs", simulator.MomentInstall, stuck, same(failedLater(tooLong))},
		{"slow installer", simulator.MomentInstall, late, same(deployed)},
		{"system does not boot", simulator.MomentBoot, simulator.Trouble{Fail: "no boot device"}, same(failedLater("no boot device"))},
		{"no request for user data", simulator.MomentBoot, stuck, same(failedLater(tooLong))},
		{"slow boot", simulator.MomentBoot, late, same(deployed)},
		{"other moments", simulator.MomentErase, fail, same(deployed)},
	}
}

func TestWhatGoesWrongInADeploy(t *testing.T) {
	t.Parallel()
	for _, tt := range deployTests() {
		tt.run(t, func(l *lab) error {
			l.must(l.client.Allocate(t.Context(), maas.AllocateParams{SystemID: "abc123"}))
			l.breakAt(tt.moment, tt.trouble)
			_, err := l.client.Deploy(t.Context(), "abc123", maas.DeployParams{UserData: []byte("x"), DistroSeries: "jammy"})
			return err
		})
	}
}

func releaseTests() []hardwareTest {
	fail := simulator.Trouble{Fail: "BMC unreachable"}
	stuck, late := simulator.Trouble{Stuck: true}, simulator.Trouble{Delay: 2 * time.Minute}
	free := seen{now: simulator.StatusReleasing, later: simulator.StatusReady, power: "off"}
	kept := func(text string) seen {
		return seen{kind: told, text: text, now: simulator.StatusDeployed, later: simulator.StatusDeployed, image: noImage}
	}
	failed := seen{now: simulator.StatusReleasing, later: simulator.StatusFailedReleasing, why: tooLong5}
	unreachable := kept("Unable to connect to any rack controller")
	unreachable.power = "unknown"
	scripts := failed
	scripts.why = "release script failed"
	return []hardwareTest{
		{"no power-off", simulator.MomentPowerOff, fail, map[string]seen{maas34: failed, maas35: kept("BMC unreachable"), maas37: kept("BMC unreachable")}},
		{"busy BMC", simulator.MomentPowerOff, simulator.Trouble{Fail: busyBMC}, same(kept(busyBMC))},
		{"stuck power-off", simulator.MomentPowerOff, stuck, same(failed)},
		{"slow power-off", simulator.MomentPowerOff, late, same(free)},
		{"power-off after the deadline", simulator.MomentPowerOff, simulator.Trouble{Delay: 10 * time.Minute}, same(failed)},
		{"no rack", simulator.MomentRack, fail, same(unreachable)},
		{"release fails", simulator.MomentRelease, simulator.Trouble{Fail: "release script failed"}, same(scripts)},
		{"release hangs", simulator.MomentRelease, stuck, same(failed)},
		{"slow release", simulator.MomentRelease, late, same(free)},
	}
}

func TestWhatGoesWrongInARelease(t *testing.T) {
	t.Parallel()
	for _, tt := range releaseTests() {
		tt.run(t, func(l *lab) error {
			l.deploy()
			l.breakAt(tt.moment, tt.trouble)
			_, err := l.client.Release(t.Context(), "abc123", maas.ReleaseParams{})
			return err
		})
	}
}

func TestWhatGoesWrongInAReleaseWithErasing(t *testing.T) {
	t.Parallel()
	const erasing, failed = simulator.StatusDiskErasing, simulator.StatusFailedDiskErasing
	fail := simulator.Trouble{Fail: "BMC unreachable"}
	again := seen{kind: told, text: "BMC unreachable", now: failed, later: failed, image: anImage, why: "Could not start node for disk erasure."}
	tests := []hardwareTest{
		{"erasing fails", simulator.MomentErase, simulator.Trouble{Fail: "disk is read-only"}, same(seen{now: erasing, later: failed, image: anImage, why: "disk is read-only"})},
		{"erasing hangs", simulator.MomentErase, simulator.Trouble{Stuck: true}, same(seen{now: erasing, later: erasing, image: anImage})},
		{"slow erasing", simulator.MomentErase, simulator.Trouble{Delay: 20 * time.Minute}, same(seen{now: erasing, later: simulator.StatusReady})},
		{"no power-on", simulator.MomentPowerOn, fail, map[string]seen{maas34: {now: erasing, later: erasing, image: anImage}, maas35: again, maas37: again}},
		// Nobody waits for the power-off that follows.
		{"no power-off", simulator.MomentPowerOff, fail, map[string]seen{
			maas34: {now: erasing, later: simulator.StatusFailedReleasing, why: tooLong5}, maas35: {now: erasing, later: erasing}, maas37: {now: erasing, later: erasing},
		}},
	}
	for _, tt := range tests {
		tt.run(t, func(l *lab) error {
			l.deploy()
			l.breakAt(tt.moment, tt.trouble)
			_, err := l.client.Release(t.Context(), "abc123", maas.ReleaseParams{Erase: true})
			return err
		})
	}
}

func TestWhatGoesWrongInAnAbort(t *testing.T) {
	t.Parallel()
	fail, stuck := simulator.Trouble{Fail: "BMC unreachable"}, simulator.Trouble{Stuck: true}
	aborted := seen{now: simulator.StatusAllocated, later: simulator.StatusAllocated, image: anImage, power: "on"}
	goesOn := deployed
	goesOn.kind, goesOn.text = told, "BMC unreachable"
	unreachable := seen{kind: told, text: "Unable to connect to any rack", now: simulator.StatusDeploying, later: simulator.StatusDeployed, image: anImage, power: "unknown"}
	tests := []hardwareTest{
		{"no power-off", simulator.MomentPowerOff, fail, map[string]seen{maas34: aborted, maas35: goesOn, maas37: goesOn}},
		{"stuck power-off", simulator.MomentPowerOff, stuck, map[string]seen{maas34: aborted, maas35: deployed, maas37: deployed}},
		{"no rack", simulator.MomentRack, fail, same(unreachable)},
	}
	for _, tt := range tests {
		tt.run(t, func(l *lab) error {
			l.must(l.client.Deploy(t.Context(), "abc123", maas.DeployParams{}))
			l.clock.Advance(time.Minute)
			l.breakAt(tt.moment, tt.trouble)
			_, err := l.client.Abort(t.Context(), "abc123", "")
			return err
		})
	}
}

func TestWhatGoesWrongWithPower(t *testing.T) {
	t.Parallel()
	fail, stuck := simulator.Trouble{Fail: "BMC unreachable"}, simulator.Trouble{Stuck: true}
	as := func(kind maas.Kind, text, power string) seen {
		return seen{kind: kind, text: text, now: simulator.StatusDeployed, later: simulator.StatusDeployed, image: anImage, power: power}
	}
	noRack := as(told, "Unable to connect to any rack controller", "unknown")
	tests := []struct {
		hardwareTest
		on bool
	}{
		{hardwareTest{"not off", simulator.MomentPowerOff, fail, map[string]seen{
			maas34: as("", "", "on"), maas35: as(told, "BMC unreachable", "on"), maas37: as(told, "BMC unreachable", "on"),
		}}, false},
		{hardwareTest{"stuck off", simulator.MomentPowerOff, stuck, same(as("", "", "on"))}, false},
		{hardwareTest{"off without a rack", simulator.MomentRack, fail, same(noRack)}, false},
		{hardwareTest{"not on", simulator.MomentPowerOn, fail, map[string]seen{
			maas34: as("", "", "off"), maas35: as(told, "BMC unreachable", "off"), maas37: as(told, "BMC unreachable", "off"),
		}}, true},
		{hardwareTest{"stuck on", simulator.MomentPowerOn, stuck, same(as("", "", "off"))}, true},
		{hardwareTest{"on without a rack", simulator.MomentRack, fail, same(noRack)}, true},
	}
	for _, tt := range tests {
		tt.run(t, func(l *lab) error {
			l.deploy()
			power := l.client.PowerOff
			if tt.on {
				l.must(l.client.PowerOff(t.Context(), "abc123", ""))
				l.clock.Advance(time.Minute)
				power = l.client.PowerOn
			}
			l.breakAt(tt.moment, tt.trouble)
			_, err := power(t.Context(), "abc123", "")
			return err
		})
	}
}

// lab is a region with one machine whose hardware takes its time.
type lab struct {
	t      *testing.T
	region *simulator.Region
	client *maas.Client
	clock  *simulator.VirtualClock
}

func newLab(t *testing.T, version string) *lab {
	t.Helper()
	region, _, client, clock := start(t, simulator.Config{
		Version: version, Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}},
		Durations: simulator.Durations{
			Install: 3 * time.Minute, Boot: time.Minute, PowerOn: 10 * time.Second, PowerOff: 10 * time.Second,
			Erase: 10 * time.Minute, DeployTimeout: 30 * time.Minute,
		},
	})
	return &lab{t, region, client, clock}
}

func (l *lab) must(_ *maas.Machine, err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) deploy() {
	l.t.Helper()
	l.must(l.client.Deploy(l.t.Context(), "abc123", maas.DeployParams{UserData: []byte("x"), DistroSeries: "jammy"}))
	l.clock.Advance(10 * time.Minute)
	if m := l.machine(); m.Status != simulator.StatusDeployed {
		l.t.Fatalf("the machine is %s", m.StatusName)
	}
}

// breakAt makes one moment go wrong from now on.
func (l *lab) breakAt(moment simulator.Moment, trouble simulator.Trouble) {
	l.region.SetHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == moment {
			return trouble
		}
		return simulator.Trouble{}
	})
}

// machine is what the region holds.
func (l *lab) machine() simulator.MachineSnapshot { return l.region.Snapshot().Machines[0] }

// state is what the client reads.
func (l *lab) state() simulator.Status {
	l.t.Helper()
	m, err := l.client.Machine(l.t.Context(), "abc123")
	if err != nil {
		l.t.Fatal(err)
	}
	return simulator.Status(m.Status)
}

func (tt *hardwareTest) run(t *testing.T, do func(*lab) error) {
	t.Helper()
	for version, want := range tt.want {
		t.Run(tt.name+" in "+version, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, version)
			err := do(l)
			if maas.KindOf(err) != want.kind || (want.text != "" && !strings.Contains(err.Error(), want.text)) {
				t.Errorf("the client gets %q of kind %q, want %q of kind %q", err, maas.KindOf(err), want.text, want.kind)
			}
			if now := l.state(); now != want.now {
				t.Errorf("after the answer the machine is %s, want %s", now, want.now)
			}
			l.clock.Advance(time.Hour)
			if later := l.state(); later != want.later {
				t.Errorf("an hour later the machine is %s, want %s", later, want.later)
			}
			l.holds(want)
		})
	}
}

// holds compares what the region holds at last.
func (l *lab) holds(want seen) {
	l.t.Helper()
	m := l.machine()
	owner, addresses := "admin", 1
	switch {
	case m.Status == simulator.StatusReady:
		owner, addresses = "", 0
	case m.Status == simulator.StatusAllocated && want.kind != "": // a deploy that was undone
		addresses = 0
	}
	if m.Owner != owner || m.Image != want.image || m.Error != want.why || (want.power != "" && m.PowerState != want.power) {
		l.t.Errorf("the region holds owner %q, image %q, error %q, power %q; want %q, %q, %q, %q",
			m.Owner, m.Image, m.Error, m.PowerState, owner, want.image, want.why, want.power)
	}
	if len(m.Addresses) != addresses && want.why != tooLong {
		l.t.Errorf("the region holds addresses %v, want %d", m.Addresses, addresses)
	}
	if want.kind == told && m.Status == simulator.StatusAllocated && want.image != "" && m.StatusMessage != aborting {
		l.t.Errorf("the last event is %q", m.StatusMessage)
	}
}
