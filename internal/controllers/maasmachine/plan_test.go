package maasmachine

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const token = "capmaas-1772366400-abc"

// phase is where in its life a MaasMachine is.
type phase string

const (
	claiming  phase = "claim"   // nothing is stored; a machine carries the claim
	deploying phase = "deploy"  // the system ID is stored
	keeping   phase = "keep"    // so is the provider ID: it was deployed
	giveBack  phase = "release" // and the object is being deleted
)

// seen makes an observation in which nothing is amiss: a worker, whose machine m1 is ours and carries the claim.
func seen(p phase, status maas.Status, change ...func(*observation)) observation {
	yes := true
	m := maas.Machine{
		SystemID: "aaaaa1", Hostname: "m1", Owner: ourUser, Status: status, PowerState: maas.PowerOn, Zone: maas.Zone{Name: "z1"},
		IPAddresses: []string{"10.0.0.1"},
		Annotations: map[string]string{infrav1.MachineAnnotationClaim: token, infrav1.MachineAnnotationMachine: "default.w1", infrav1.MachineAnnotationCluster: "default.c1"},
	}
	o := observation{
		now: noon, maasHost: "maas.test", user: ourUser, bootstrap: bootstrap{ready: true},
		object: &infrav1.MaasMachine{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "w1", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"},
			Annotations: map[string]string{infrav1.ClaimAnnotation: token, infrav1.HostAnnotation: "maas.test", infrav1.UserAnnotation: ourUser},
		}, Spec: infrav1.MaasMachineSpec{Image: "u-2404"}},
		owner: &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w1"}},
		cluster: &clusterv1.Cluster{Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{
			InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes,
		}}},
		infra: &infrav1.MaasCluster{},
		tried: map[string]error{},
	}
	switch p {
	case claiming:
		o.claimed = []maas.Machine{m}
	case deploying, keeping, giveBack:
		o.object.Spec.SystemID, o.machine, o.standing = "aaaaa1", &m, holdsOurs
	}
	if p == keeping || p == giveBack {
		o.object.Spec.ProviderID = "maas:///z1/aaaaa1"
		o.node.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m1"}, Spec: corev1.NodeSpec{ProviderID: "maas:///z1/aaaaa1"}}
	}
	if p == deploying && status == maas.StatusDeploying {
		taken(time.Minute)(&o)
	}
	if p == giveBack {
		deleted(&o)
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

func deleted(o *observation) {
	now := metav1.NewTime(noon)
	o.object.DeletionTimestamp, o.owner.DeletionTimestamp = &now, &now
}

// say puts a step into words.
func say(s step) string {
	switch s := s.(type) {
	case wait:
		if s.reason == "" {
			return "all is well"
		}
		text := fmt.Sprintf("wait: %s %s", s.condition, s.reason)
		if s.unknown {
			text = fmt.Sprintf("wait: %s Unknown %s", s.condition, s.reason)
		}
		return text
	case removeFinalizer:
		return "let go: " + string(s.because)
	}
	return s.key()
}

// TestNextStep is the table of MAAS's states: what is done in each, in each phase of a machine's life.
func TestNextStep(t *testing.T) {
	t.Parallel()
	const (
		adopts    = "adopt aaaaa1"
		gaveUp    = "give up aaaaa1"
		toBeFree  = "wait: MachineAllocated Claiming"
		left      = "wait: MachineDeployed MachineLeftDeployed"
		releases  = "release aaaaa1"
		blocked   = "wait: Deleting ReleaseBlocked"
		free      = "let go: released"
		givenBack = "wait: MachineDeployed MachineGivenBack"
		rescue    = "wait: MachineDeployed MachineInRescueMode"
	)
	table := []struct {
		status                       maas.Status
		claim, deploy, keep, release string
	}{
		{maas.StatusNew, toBeFree, givenBack, left, free},
		{maas.StatusCommissioning, toBeFree, givenBack, left, blocked},
		{maas.StatusFailedCommissioning, toBeFree, givenBack, left, blocked},
		{maas.StatusMissing, adopts, "wait: MachineDeployed MachineMissing", left, blocked},
		{maas.StatusReady, toBeFree, givenBack, left, free},
		{maas.StatusReserved, adopts, "wait: MachineDeployed MachineReserved", left, releases},
		{maas.StatusDeployed, adopts, "set provider ID", "all is well", releases},
		{maas.StatusRetired, adopts, "wait: MachineDeployed MachineRetired", left, blocked},
		{maas.StatusBroken, adopts, gaveUp, left, blocked}, // its power is on; see below
		{maas.StatusDeploying, adopts, "wait: MachineDeployed MachineDeploying", left, releases},
		{maas.StatusAllocated, adopts, "begin deploy aaaaa1", left, releases},
		{maas.StatusFailedDeployment, adopts, gaveUp, left, releases},
		{maas.StatusReleasing, toBeFree, gaveUp, left, "wait: Deleting Releasing"},
		{maas.StatusFailedReleasing, toBeFree, gaveUp, left, releases},
		{maas.StatusDiskErasing, toBeFree, gaveUp, left, "wait: Deleting ErasingDisks"},        // for a while; see below
		{maas.StatusFailedDiskErasing, toBeFree, gaveUp, left, "wait: Deleting ReleaseFailed"}, // nothing says whether to erase them; see below
		{maas.StatusRescueMode, adopts, rescue, left, blocked},
		{maas.StatusEnteringRescueMode, adopts, rescue, left, blocked},
		{maas.StatusFailedEnteringRescueMode, adopts, rescue, left, blocked},
		{maas.StatusExitingRescueMode, adopts, rescue, left, blocked},
		{maas.StatusFailedExitingRescueMode, adopts, rescue, left, blocked},
		{maas.StatusTesting, adopts, "wait: MachineDeployed MachineTesting", left, blocked},
		{maas.StatusFailedTesting, adopts, "wait: MachineDeployed MachineFailedTesting", left, blocked},
	}
	rows := map[maas.Status]bool{}
	for _, row := range table {
		rows[row.status] = true
		for p, want := range map[phase]string{claiming: row.claim, deploying: row.deploy, keeping: row.keep, giveBack: row.release} {
			t.Run(fmt.Sprintf("%s, phase %s", row.status, p), func(t *testing.T) {
				t.Parallel()
				if got := say(next(seen(p, row.status))); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
	for _, status := range maas.AllStatuses() {
		if !rows[status] {
			t.Errorf("no row for %s", status)
		}
	}
}

func TestStatesTableIsWhole(t *testing.T) {
	t.Parallel()
	for i, status := range maas.AllStatuses() {
		s := states[i]
		if s.status != status {
			t.Errorf("row %d is for %s, want %s", i, s.status, status)
		}
		if s.means == "" || s.reason == "" {
			t.Errorf("%s has no words", status)
		}
		if (s.release == waitsForPerson || s.release == handedBack) != (s.todo != "") {
			t.Errorf("%s: a person is told what to do where, and only where, one has to act", status)
		}
	}
	unknown := stateOf(&maas.Machine{Status: 99})
	if unknown.deploy != comesBack || unknown.release != waitsForPerson {
		t.Errorf("an unknown state is acted on: %+v", unknown)
	}
}

// Changes of an observation, for the tables below.
func lockedInMAAS(o *observation) { o.machine.Locked = true }

func withoutAnnotations(o *observation) {
	o.machine.Annotations = nil
	o.claimed = []maas.Machine{*o.machine}
}

func foreign(o *observation) {
	o.machine.Owner, o.machine.Annotations, o.standing = otherUser, nil, holdsForeign
}

func missing(o *observation) { o.machine, o.standing = nil, holdsGone }

func unproven(o *observation) {
	o.standing = holdsUnproven
	delete(o.object.Annotations, infrav1.ClaimAnnotation)
}

func maasAway(o *observation) {
	o.unreadable = maas.ErrUnavailable
	o.standing, o.machine, o.claimed = holdsNone, nil, nil
}

func power(p maas.PowerState) func(*observation) {
	return func(o *observation) { o.machine.PowerState = p }
}

func contradicting(o *observation) {
	o.object.Spec.SystemID, o.object.Spec.ProviderID = "bbbbb2", "maas:///z1/aaaaa1"
}

// TestNextStepWhateverTheState holds for every one of MAAS's states.
func TestNextStepWhateverTheState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*observation)
		want   map[phase]string
	}{
		"not ours: it is never touched": {foreign, map[phase]string{
			deploying: "give up aaaaa1", keeping: "wait: MachineAllocated MachineNotOurs", giveBack: "let go: not ours"}},
		"gone from MAAS": {missing, map[phase]string{
			deploying: "give up aaaaa1", keeping: "wait: MachineAllocated MachineNotFound", giveBack: "let go: gone"}},
		"never claimed by us, though its owner is our user": {unproven, map[phase]string{
			deploying: "wait: MachineAllocated MachineNotOurs", keeping: "wait: MachineAllocated MachineNotOurs", giveBack: "wait: Deleting ReleaseBlocked"}},
		"MAAS cannot be read: nothing is concluded": {maasAway, map[phase]string{
			claiming: "wait: MachineAllocated Unknown MAASUnreachable", deploying: "wait: MachineAllocated Unknown MAASUnreachable",
			keeping: "all is well", giveBack: "wait: Deleting Unknown MAASUnreachable"}},
		"the spec contradicts itself": {contradicting, map[phase]string{
			deploying: "wait: MachineAllocated InvalidClaim", keeping: "wait: MachineAllocated InvalidClaim", giveBack: "wait: Deleting ReleaseBlocked"}},
	} {
		for _, status := range maas.AllStatuses() {
			for p, want := range test.want {
				if got := say(next(seen(p, status, test.change))); got != want {
					t.Errorf("%s (%s, phase %s)\ngot  %s\nwant %s", name, status, p, got, want)
				}
			}
		}
	}
}

// TestLockedMachinesAreNotActedOn: MAAS refuses, and says nothing but 403.
func TestLockedMachinesAreNotActedOn(t *testing.T) {
	t.Parallel()
	for _, p := range []phase{deploying, keeping, giveBack} {
		for _, status := range maas.AllStatuses() {
			for name, o := range map[string]observation{
				"annotated":     seen(p, status, lockedInMAAS),
				"not annotated": seen(p, status, withoutAnnotations, lockedInMAAS),
				"off":           seen(p, status, lockedInMAAS, power(maas.PowerOff), offSince(time.Hour, "False")),
			} {
				switch next(o).(type) {
				case wait, setProviderID, giveUp, removeFinalizer:
				default:
					t.Errorf("%s, phase %s, %s: %s", status, p, name, say(next(o)))
				}
			}
		}
	}
	if got := say(next(seen(deploying, maas.StatusAllocated, lockedInMAAS))); got != "wait: MachineDeployed MachineLocked" {
		t.Error(got)
	}
	if got := say(next(seen(giveBack, maas.StatusDeployed, lockedInMAAS))); got != "wait: Deleting ReleaseBlocked" {
		t.Error(got)
	}
}

// TestNothingIsDoneToForeignMachines: whatever else is true, no step touches a machine that is not ours.
func TestNothingIsDoneToForeignMachines(t *testing.T) {
	t.Parallel()
	for _, p := range []phase{deploying, keeping, giveBack} {
		for _, status := range maas.AllStatuses() {
			for _, lost := range []func(*observation){foreign, missing, unproven} {
				for _, also := range []func(*observation){func(*observation) {}, abandonedBecause("x"), controlPlaneOf("10.0.0.1")} {
					switch s := next(seen(p, status, lost, also)).(type) {
					case wait, removeFinalizer, giveUp, leaveDNS: // the record is ours
					default:
						t.Errorf("%s, phase %s: %s", status, p, say(s))
					}
				}
			}
		}
	}
}
