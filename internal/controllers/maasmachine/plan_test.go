package maasmachine

import (
	"errors"
	"fmt"
	"strings"
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
			Annotations: map[string]string{infrav1.ClaimAnnotation: token},
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
		toBeFree  = "wait: MachineAllocated Claiming"
		left      = "wait: MachineDeployed MachineLeftDeployed"
		releases  = "release aaaaa1"
		blocked   = "wait: Deleting ReleaseBlocked"
		free      = "let go: released"
		givenBack = "wait: MachineDeployed MachineGivenBack"
		released  = "wait: MachineDeployed MachineBeingReleased"
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
		{maas.StatusBroken, adopts, "wait: MachineDeployed MachineBroken", left, blocked}, // its power is on; see below
		{maas.StatusDeploying, adopts, "wait: MachineDeployed MachineDeploying", left, releases},
		{maas.StatusAllocated, adopts, "deploy", left, releases},
		{maas.StatusFailedDeployment, adopts, "wait: MachineDeployed MachineDeployFailed", left, releases},
		{maas.StatusReleasing, toBeFree, released, left, "wait: Deleting Releasing"},
		{maas.StatusFailedReleasing, toBeFree, released, left, releases},
		{maas.StatusDiskErasing, toBeFree, released, left, free},
		{maas.StatusFailedDiskErasing, toBeFree, released, left, releases},
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
		if (s.release == waitsForMen || s.release == handedBack) != (s.todo != "") {
			t.Errorf("%s: a person is told what to do where, and only where, one has to act", status)
		}
	}
	unknown := stateOf(&maas.Machine{Status: 99})
	if unknown.deploy != comesBack || unknown.release != waitsForMen {
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
			deploying: "wait: MachineAllocated MachineNotOurs", keeping: "wait: MachineAllocated MachineNotOurs", giveBack: "let go: not ours"}},
		"gone from MAAS": {missing, map[phase]string{
			deploying: "wait: MachineAllocated MachineNotFound", keeping: "wait: MachineAllocated MachineNotFound", giveBack: "let go: gone"}},
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
				case wait, setProviderID, removeFinalizer:
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
					case wait, removeFinalizer, leaveDNS: // the record is ours
					default:
						t.Errorf("%s, phase %s: %s", status, p, say(s))
					}
				}
			}
		}
	}
}

func offSince(d time.Duration, status metav1.ConditionStatus) func(*observation) {
	return func(o *observation) {
		o.object.Status.Conditions = []metav1.Condition{{
			Type: infrav1.MachinePoweredOnCondition, Status: status, Reason: infrav1.PoweredOffReason, LastTransitionTime: metav1.NewTime(noon.Add(-d)),
		}}
	}
}

func TestPower(t *testing.T) {
	t.Parallel()
	unknownSince := func(o *observation) {
		o.object.Status.Conditions = []metav1.Condition{{
			Type: infrav1.MachinePoweredOnCondition, Status: "Unknown", Reason: infrav1.PowerUnknownReason, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour)),
		}}
	}
	inMemory := func(o *observation) { o.machine.EphemeralDeploy = true }
	ownerGoes := func(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"on":                               {seen(keeping, maas.StatusDeployed), "all is well"},
		"MAAS cannot tell":                 {seen(keeping, maas.StatusDeployed, power(maas.PowerUnknown), offSince(time.Hour, "False")), "all is well"},
		"MAAS failed to ask":               {seen(keeping, maas.StatusDeployed, power(maas.PowerError), offSince(time.Hour, "False")), "all is well"},
		"off, seen for the first time":     {seen(keeping, maas.StatusDeployed, power(maas.PowerOff)), "all is well"},
		"off since a moment ago":           {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(powerGrace-time.Second, "Unknown")), "all is well"},
		"off for as long as the grace":     {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(powerGrace, "Unknown")), "power on"},
		"off now, unknown for an hour":     {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), unknownSince), "all is well"},
		"off for long, deployed to memory": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"), inMemory), "all is well"},
		"off for long, but on its way out": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"), ownerGoes), "all is well"},
		"off for long, but not Deployed": {seen(keeping, maas.StatusBroken, power(maas.PowerOff), offSince(time.Hour, "False")),
			"wait: MachineDeployed MachineLeftDeployed"},
		"off for long, but not deployed by us yet": {seen(deploying, maas.StatusAllocated, power(maas.PowerOff), offSince(time.Hour, "False")), "deploy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// nothingYet is before the first claim.
func nothingYet(change ...func(*observation)) observation {
	return seen("", 0, append([]func(*observation){func(o *observation) {
		o.object.Annotations = nil
		o.candidates = []maas.Machine{{SystemID: "ccccc3"}, {SystemID: "ddddd4"}}
	}}, change...)...)
}

func withToken(o *observation) {
	o.object.Annotations = map[string]string{infrav1.ClaimAnnotation: token}
}
func attempted(d time.Duration) func(*observation) {
	return func(o *observation) {
		withToken(o)
		o.object.Annotations[infrav1.ClaimAttemptAnnotation] = "ccccc3 " + noon.Add(-d).Format(time.RFC3339)
		o.candidates = nil
	}
}
func tried(s step, err error) func(*observation) {
	return func(o *observation) { o.tried[s.key()] = err }
}

func TestClaim(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"no Machine owns the object": {nothingYet(func(o *observation) { o.owner = nil }), "wait: MachineAllocated WaitingForOwnerMachine"},
		"no Cluster":                 {nothingYet(func(o *observation) { o.cluster = nil }), "wait: MachineAllocated WaitingForClusterInfrastructure"},
		"the infrastructure is not provisioned": {nothingYet(func(o *observation) { o.cluster.Status.Initialization.InfrastructureProvisioned = nil }),
			"wait: MachineAllocated WaitingForClusterInfrastructure"},
		"no bootstrap data": {nothingYet(func(o *observation) { o.bootstrap.ready = false }), "wait: MachineAllocated WaitingForBootstrapData"},
		"bootstrap data in a format nobody reads": {nothingYet(func(o *observation) { o.bootstrap.format = "ignition" }),
			"wait: MachineAllocated UnsupportedBootstrapFormat"},
		"the Machine goes": {nothingYet(func(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }),
			"wait: MachineAllocated WaitingForOwnerMachine"},
		"the Cluster goes": {nothingYet(func(o *observation) { now := metav1.NewTime(noon); o.cluster.DeletionTimestamp = &now }),
			"wait: MachineAllocated WaitingForOwnerMachine"},
		"first of all, a claim is written down":            {nothingYet(), "ensure claim"},
		"then, which machine it is made for":               {nothingYet(withToken), "begin claim ccccc3"},
		"then it is made":                                  {nothingYet(attempted(time.Second)), "claim ccccc3"},
		"nothing fits":                                     {nothingYet(withToken, func(o *observation) { o.candidates = nil }), "wait: MachineAllocated NoMachineAvailable"},
		"the answer was lost: look, and wait":              {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrOutcomeUnknown)), "wait: MachineAllocated Unknown ClaimOutcomeUnknown"},
		"MAAS refuses the request as such":                 {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrInvalid)), "wait: MachineAllocated ClaimRefused"},
		"MAAS went away":                                   {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrUnavailable)), "wait: MachineAllocated Unknown MAASUnreachable"},
		"an old attempt is repeated on the same machine":   {nothingYet(attempted(time.Hour)), "claim ccccc3"},
		"an old attempt is not repeated for one that goes": {nothingYet(attempted(time.Hour), func(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }), "wait: MachineAllocated WaitingForOwnerMachine"},
		"an old attempt succeeded":                         {seen(claiming, maas.StatusAllocated, attempted(time.Hour)), "adopt aaaaa1"},
		"what is claimed is adopted even without bootstrap data": {seen(claiming, maas.StatusAllocated, func(o *observation) { o.bootstrap.ready = false }),
			"adopt aaaaa1"},
		"several carry the claim: the most advanced is adopted": {seen(claiming, maas.StatusAllocated, func(o *observation) {
			o.claimed = append(o.claimed, maas.Machine{SystemID: "bbbbb2", Status: maas.StatusDeploying}, maas.Machine{SystemID: "ccccc3", Status: maas.StatusBroken})
		}), "adopt bbbbb2"},
		"several are equally advanced: always the same is adopted": {seen(claiming, maas.StatusAllocated, func(o *observation) {
			o.claimed = append([]maas.Machine{{SystemID: "bbbbb2", Status: maas.StatusAllocated}}, o.claimed...)
		}), "adopt aaaaa1"},
		"the claim is a copy of another object's": {nothingYet(withToken, func(o *observation) { o.strangers = "default.other" }), "wait: MachineAllocated InvalidClaim"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestDeploy(t *testing.T) {
	t.Parallel()
	extra := func(status maas.Status) func(*observation) {
		return func(o *observation) {
			o.claimed = []maas.Machine{*o.machine, {SystemID: "bbbbb2", Owner: ourUser, Status: status}}
		}
	}
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"before anything else the machine is annotated": {seen(deploying, maas.StatusAllocated, withoutAnnotations), "annotate aaaaa1"},
		"without annotation nothing is deployed": {seen(deploying, maas.StatusAllocated, withoutAnnotations, tried(annotate{"aaaaa1"}, maas.ErrOutcomeUnknown)),
			"wait: MachineAllocated Unknown ClaimOutcomeUnknown"},
		"an extra machine of the claim is let go":        {seen(deploying, maas.StatusAllocated, extra(maas.StatusAllocated)), "release extra bbbbb2"},
		"an extra machine that is not Allocated is left": {seen(deploying, maas.StatusAllocated, extra(maas.StatusDeployed)), "deploy"},
		"an extra machine is tried once":                 {seen(deploying, maas.StatusAllocated, extra(maas.StatusAllocated), tried(releaseExtra{"bbbbb2"}, maas.ErrUnavailable)), "deploy"},
		"no bootstrap data any more":                     {seen(deploying, maas.StatusAllocated, func(o *observation) { o.bootstrap.ready = false }), "wait: MachineDeployed WaitingForBootstrapData"},
		"the answer was lost, and no effect shows":       {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrOutcomeUnknown)), "wait: MachineDeployed Unknown DeployOutcomeUnknown"},
		"the answer was lost, but it took effect":        {seen(deploying, maas.StatusDeploying, tried(deploy{}, maas.ErrOutcomeUnknown)), "wait: MachineDeployed MachineDeploying"},
		"MAAS says it is deploying already":              {seen(deploying, maas.StatusDeploying, tried(deploy{}, maas.ErrConflict)), "wait: MachineDeployed MachineDeploying"},
		"MAAS does not know the image":                   {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrInvalid)), "wait: MachineDeployed DeployRefused"},
		"the key may not deploy":                         {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrForbidden)), "wait: MachineDeployed DeployRefused"},
		"MAAS went away":                                 {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrUnavailable)), "wait: MachineDeployed Unknown MAASUnreachable"},
		"the Machine goes: nothing is deployed for it":   {seen(deploying, maas.StatusAllocated, func(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }), "wait: MachineDeployed WaitingForOwnerMachine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// controlPlaneOf makes the machine one of the control plane, whose record has the given addresses.
func controlPlaneOf(record ...string) func(*observation) {
	return func(o *observation) {
		o.owner.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
		o.dns = dns{managed: true, addresses: record, attached: strings.Contains(strings.Join(record, " "), "10.0.0.1")}
	}
}
func notInitialized(o *observation) { o.cluster.Status.Initialization.ControlPlaneInitialized = nil }
func serves(o *observation)         { o.dns.serves = true }
func ownerGoes(o *observation)      { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }

func TestDNS(t *testing.T) {
	t.Parallel()
	noAddress := func(o *observation) { o.machine.IPAddresses = nil }
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"a worker has no business in DNS":             {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, func(o *observation) { o.owner.Labels = nil }), "all is well"},
		"the first joins while it is still installed": {seen(deploying, maas.StatusDeploying, controlPlaneOf(), notInitialized), "join DNS"},
		"but not before it has an address": {seen(deploying, maas.StatusDeploying, controlPlaneOf(), notInitialized, noAddress),
			"wait: MachineDeployed MachineDeploying"},
		"a second waits, even before the first is up":   {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.9"), notInitialized), "all is well"},
		"a later one waits for its own API server":      {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.9")), "all is well"},
		"a later one joins when its API server serves":  {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.9"), serves), "join DNS"},
		"a later one joins a record that lost all":      {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves), "join DNS"},
		"one that is in stays, whatever its API server": {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.1")), "all is well"},
		"one that is in stays when its power flickers":  {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), power(maas.PowerOff)), "all is well"},
		"one that is in stays when it left Deployed":    {seen(keeping, maas.StatusRescueMode, controlPlaneOf("10.0.0.1")), "wait: MachineDeployed MachineLeftDeployed"},
		"a join that failed is not repeated at once":    {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, tried(joinDNS{}, maas.ErrForbidden)), "all is well"},
		"a failed join holds up nothing else": {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, tried(joinDNS{}, maas.ErrForbidden), func(o *observation) {
			o.node.node.Spec.ProviderID = ""
		}), "link Node"},
		"a record that cannot be read is not written": {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, func(o *observation) { o.dns.err = maas.ErrUnavailable }), "all is well"},
		"an endpoint of the user's own is left alone": {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, func(o *observation) {
			o.dns.managed, o.dns.external = false, true
		}), "all is well"},
		"one whose Machine goes leaves at once":                    {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), ownerGoes), "leave DNS"},
		"one whose Machine goes leaves, though it was the last":    {seen(keeping, maas.StatusRescueMode, controlPlaneOf("10.0.0.1"), ownerGoes), "leave DNS"},
		"one whose Machine goes does not join":                     {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, ownerGoes), "all is well"},
		"deleted, it leaves before it is released":                 {seen(giveBack, maas.StatusDeployed, controlPlaneOf("10.0.0.1")), "leave DNS"},
		"when it left, it is released":                             {seen(giveBack, maas.StatusDeployed, controlPlaneOf("10.0.0.9")), "release aaaaa1"},
		"when it cannot leave, it is not released":                 {seen(giveBack, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), tried(leaveDNS{}, maas.ErrForbidden)), "wait: Deleting LeavingDNS"},
		"without a MaasCluster it is released":                     {seen(giveBack, maas.StatusDeployed, controlPlaneOf(), func(o *observation) { o.infra, o.dns = nil, dns{} }), "release aaaaa1"},
		"deleted, and the record cannot be read: leaving is tried": {seen(giveBack, maas.StatusDeployed, controlPlaneOf(), func(o *observation) { o.dns.err = maas.ErrUnavailable }), "leave DNS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for key, err := range test.o.tried {
				if key == (joinDNS{}).key() {
					test.o.tried[joinDNS{test.o.address()}.key()] = err
				}
			}
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func abandonedBecause(reason string) func(*observation) {
	return func(o *observation) {
		if o.object.Annotations == nil {
			o.object.Annotations = map[string]string{}
		}
		o.object.Annotations[infrav1.AbandonAnnotation] = reason
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	deletedAlone := func(o *observation) { o.owner.DeletionTimestamp = nil }
	refusal := errors.New("it is on fire")
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"nothing was ever claimed":                               {nothingYet(deleted), "let go: nothing was claimed"},
		"a claim, but no machine":                                {nothingYet(withToken, deleted), "let go: nothing was claimed"},
		"a claim whose outcome is unknown may still come true":   {nothingYet(attempted(time.Minute), deleted), "wait: Deleting ClaimOutcomeUnknown"},
		"a claim whose outcome is unknown, long ago":             {nothingYet(attempted(claimSettles), deleted), "let go: nothing was claimed"},
		"found by the claim though no system ID was ever stored": {seen(claiming, maas.StatusAllocated, deleted), "release aaaaa1"},
		"found by the claim, not annotated yet":                  {seen(claiming, maas.StatusAllocated, deleted, func(o *observation) { o.claimed[0].Annotations = nil }), "annotate aaaaa1"},
		"another machine of the claim is released too": {seen(giveBack, maas.StatusReady, func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusDeployed
			o.claimed = []maas.Machine{m}
		}), "release bbbbb2"},
		"one waits, the other is released": {seen(giveBack, maas.StatusReleasing, func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusDeployed
			o.claimed = []maas.Machine{m}
		}), "release bbbbb2"},
		"asked for, and not seen to begin":                           {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, nil)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"the answer was lost":                                        {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, maas.ErrOutcomeUnknown)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"MAAS refuses":                                               {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, refusal)), "wait: Deleting ReleaseFailed"},
		"broken and still on: it runs":                               {seen(giveBack, maas.StatusBroken), "wait: Deleting ReleaseBlocked"},
		"broken and off: it was handed back":                         {seen(giveBack, maas.StatusBroken, power(maas.PowerOff)), "let go: released"},
		"broken, and MAAS cannot tell its power":                     {seen(giveBack, maas.StatusBroken, power(maas.PowerUnknown)), "let go: released"},
		"deleted without its Machine":                                {seen(giveBack, maas.StatusDeployed, deletedAlone), "wait: Deleting HeldUntilConfirmed"},
		"held, whatever became of the machine":                       {seen(giveBack, maas.StatusReady, deletedAlone), "wait: Deleting HeldUntilConfirmed"},
		"deleted without its Machine, and confirmed":                 {seen(giveBack, maas.StatusDeployed, deletedAlone, func(o *observation) { o.object.Annotations[infrav1.ConfirmDeleteAnnotation] = "" }), "release aaaaa1"},
		"deleted without its Machine, whose Cluster goes":            {seen(giveBack, maas.StatusDeployed, deletedAlone, func(o *observation) { now := metav1.NewTime(noon); o.cluster.DeletionTimestamp = &now }), "release aaaaa1"},
		"its Machine is gone":                                        {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner = nil }), "release aaaaa1"},
		"nothing else is left":                                       {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner, o.cluster, o.infra, o.bootstrap = nil, nil, nil, bootstrap{} }), "release aaaaa1"},
		"abandoned: it says so on the machine":                       {seen(giveBack, maas.StatusDeployed, abandonedBecause("burnt")), "mark abandoned aaaaa1"},
		"abandoned, and out of DNS first":                            {seen(giveBack, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), abandonedBecause("burnt")), "leave DNS"},
		"abandoned, whatever MAAS answers":                           {seen(giveBack, maas.StatusDeployed, abandonedBecause("burnt"), tried(markAbandoned{"aaaaa1"}, maas.ErrForbidden)), "let go: abandoned"},
		"abandoned while MAAS is away":                               {seen(giveBack, maas.StatusDeployed, maasAway, abandonedBecause("burnt")), "let go: abandoned"},
		"abandoned though locked":                                    {seen(giveBack, maas.StatusDeployed, lockedInMAAS, abandonedBecause("burnt")), "let go: abandoned"},
		"abandoned though held":                                      {seen(giveBack, maas.StatusDeployed, deletedAlone, abandonedBecause("burnt")), "mark abandoned aaaaa1"},
		"abandoned, but never deleted: nothing happens":              {seen(keeping, maas.StatusDeployed, abandonedBecause("burnt")), "all is well"},
		"of the provider before: its user is ours, the claim is not": {seen(giveBack, maas.StatusDeployed, unproven), "wait: Deleting ReleaseBlocked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		systemID, providerID, want string
		wrong                      bool
	}{
		"nothing stored":                {},
		"the system ID alone":           {systemID: "aaaaa1", want: "aaaaa1"},
		"the provider ID alone":         {providerID: "maas:///z1/aaaaa1", want: "aaaaa1"},
		"a provider ID without a zone":  {providerID: "maas:////aaaaa1", want: "aaaaa1"},
		"both":                          {systemID: "aaaaa1", providerID: "maas:///z1/aaaaa1", want: "aaaaa1"},
		"they differ":                   {systemID: "bbbbb2", providerID: "maas:///z1/aaaaa1", wrong: true},
		"another provider's ID":         {providerID: "aws:///z1/i-1", wrong: true},
		"no zone part":                  {providerID: "maas:///aaaaa1", wrong: true},
		"no system ID":                  {providerID: "maas:///z1/", wrong: true},
		"too many parts":                {providerID: "maas:///z1/x/aaaaa1", wrong: true},
		"too few slashes at the prefix": {providerID: "maas://z1/aaaaa1", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, contradiction := identify(infrav1.MaasMachineSpec{SystemID: test.systemID, ProviderID: test.providerID})
			if got != test.want || (contradiction != "") != test.wrong {
				t.Errorf("got %q, %q", got, contradiction)
			}
		})
	}
}
