package maasremediation

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type changes []func(*observation)

// seen makes an observation of an unhealthy worker whose machine is ours, Deployed and on, and of which nothing was tried.
func seen(change ...func(*observation)) observation {
	o := observation{
		now: noon, maasHost: "maas.test", user: ourUser, standing: ours,
		object: &infrav1.MaasRemediation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: machineName}},
		owner:  &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: machineName, Labels: map[string]string{}, Annotations: map[string]string{}}},
		target: &infrav1.MaasMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: machineName},
			Spec:       infrav1.MaasMachineSpec{SystemID: "aaaaa1", ProviderID: "maas:///z1/aaaaa1"}, Status: infrav1.MaasMachineStatus{Hostname: "node1"},
		},
		machine: &maas.Machine{SystemID: "aaaaa1", Hostname: "node1", Owner: ourUser, Status: maas.StatusDeployed, PowerState: maas.PowerOn},
		tried:   map[string]error{},
	}
	health(metav1.ConditionFalse)(&o)
	for _, c := range change {
		c(&o)
	}
	return o
}

func health(status metav1.ConditionStatus) func(*observation) {
	return func(o *observation) {
		conditions.Set(o.owner, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: status, Reason: "X"})
	}
}

func neverChecked(o *observation) { o.owner.Status.Conditions = nil }

func handed(o *observation) {
	conditions.Set(o.owner, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Reason: "X"})
}

// cycled is a number of power cycles, the last of which began so long ago.
func cycled(n int, ago time.Duration) func(*observation) {
	return func(o *observation) {
		p := o.progress()
		for i := range n {
			p.Cycles = append(p.Cycles, noon.Add(-ago-time.Duration(n-1-i)*time.Hour))
		}
		p.Store(o.target)
	}
}

// on says that the machine was off so long ago, and is to be on since.
func on(ago time.Duration) func(*observation) {
	return func(o *observation) {
		p, at := o.progress(), noon.Add(-ago)
		p.On = &at
		p.Store(o.target)
	}
}

func gaveUp(because remediation.Cause, off bool, ago time.Duration) func(*observation) {
	return func(o *observation) {
		p := o.progress()
		p.GaveUp = &remediation.GaveUp{At: noon.Add(-ago), Because: because, Off: off}
		p.Store(o.target)
	}
}

func power(state maas.PowerState) func(*observation) {
	return func(o *observation) { o.machine.PowerState = state }
}

func status(s maas.Status) func(*observation) { return func(o *observation) { o.machine.Status = s } }

func locked(o *observation) { o.machine.Locked = true }

func inMemory(o *observation) { o.machine.EphemeralDeploy = true }

// askedIntoMemory is inMemory in a MAAS that does not show it.
func askedIntoMemory(o *observation) { o.target.Spec.DeployInMemory = true }

func away(o *observation) { o.unreadable, o.machine, o.standing = maas.ErrUnavailable, nil, unknown }

func gone(o *observation) { o.machine, o.standing = nil, lost }

func doubtful(o *observation) { o.standing = unproven }

func annotated(key string) func(*observation) {
	return func(o *observation) { o.owner.Annotations[key] = "" }
}

func limit(n int32) func(*observation) {
	return func(o *observation) { o.object.Spec.Strategy.RetryLimit = &n }
}

func tried(s step, err error) func(*observation) {
	return func(o *observation) { o.tried[s.key()] = err }
}

func askedBefore(s step, ago time.Duration) func(*observation) {
	return func(o *observation) { o.asked = asked{to: s.key(), when: noon.Add(-ago)} }
}

func deleted(o *observation) { now := metav1.NewTime(noon); o.object.DeletionTimestamp = &now }

func ownerDeleted(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }

func targetDeleted(o *observation) { now := metav1.NewTime(noon); o.target.DeletionTimestamp = &now }

// say puts a step into words.
func say(s step) string {
	w, waits := s.(wait)
	if !waits {
		return s.key()
	}
	state := "True"
	switch {
	case w.unknown:
		state = "Unknown"
	case w.stopped:
		state = "False"
	}
	return fmt.Sprintf("wait: %s %s", state, w.reason)
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	skip, wanted := annotated(clusterv1.MachineSkipRemediationAnnotation), annotated(clusterv1.RemediateMachineAnnotation)
	broken := fmt.Errorf("the BMC: %w", maas.ErrOutcomeUnknown)
	const (
		begin, off, isOff, turnOn      = "begin cycle", "power off", "end off", "power on"
		hand, back, goes               = "hand over", "take back", "remove finalizer"
		offNow, onNow, forNode         = "wait: True PoweringOff", "wait: True PoweringOn", "wait: True WaitingForNodeHealth"
		failing, cooling, offForGood   = "wait: True PowerControlFailed", "wait: True CoolingDown", "wait: True SwitchingOff"
		notUnhealthy, skipped, blocked = "wait: False MachineNotUnhealthy", "wait: False RemediationSkipped", "wait: False RemediationBlocked"
		over, noMAAS                   = "wait: False HandedOver", "wait: Unknown MAASUnreachable"
	)
	for name, test := range map[string]struct {
		change changes
		want   string
	}{
		"an unhealthy machine":                          {nil, begin},
		"no health check said anything yet":             {changes{neverChecked}, notUnhealthy},
		"healthy again":                                 {changes{health("True")}, notUnhealthy},
		"nobody can tell its health":                    {changes{health("Unknown")}, notUnhealthy},
		"no Machine":                                    {changes{func(o *observation) { o.owner, o.target = nil, nil }}, blocked},
		"a Machine of another provider":                 {changes{func(o *observation) { o.target = nil }}, blocked},
		"the Machine is being deleted":                  {changes{ownerDeleted}, "wait: False OwnerMachineDeleting"},
		"the MaasMachine is being deleted":              {changes{targetDeleted}, blocked},
		"another MaasRemediation goes first":            {changes{func(o *observation) { o.first = "a" }}, "wait: False RemediationSuperseded"},
		"another machine of the control plane is at it": {changes{func(o *observation) { o.peer = "cp-1" }}, "wait: True WaitingForOtherControlPlaneMachine"},
		"a person wants it left alone":                  {changes{skip}, skipped},
		"a person wants another one":                    {changes{wanted}, "give up: Asked"},
		"never deployed":                                {changes{func(o *observation) { o.target.Spec.ProviderID = "" }}, "give up: NotDeployed"},
		"MAAS is away":                                  {changes{away}, noMAAS},
		"MAAS does not show it":                         {changes{gone}, "give up: Lost"},
		"nothing shows whose it is":                     {changes{doubtful}, blocked},
		"somebody released it":                          {changes{status(maas.StatusReady)}, "give up: NotDeployed"},
		"marked broken":                                 {changes{status(maas.StatusBroken)}, "give up: NotDeployed"},
		"locked":                                        {changes{locked}, "wait: False MachineLocked"},
		"deployed to memory":                            {changes{inMemory}, "give up: InMemory"},
		"deployed to memory, which MAAS does not show":  {changes{askedIntoMemory}, "give up: InMemory"},
		"no power cycle is allowed":                     {changes{limit(0)}, "give up: NotRecovered"},
		"off to begin with":                             {changes{power(maas.PowerOff)}, begin},

		"to go off":                                   {changes{cycled(1, time.Second)}, off},
		"to go off, and MAAS is away":                 {changes{cycled(1, time.Second), away}, noMAAS},
		"to go off, and just asked":                   {changes{cycled(1, time.Second), tried(powerOff{}, nil)}, offNow},
		"to go off, and asked a moment ago":           {changes{cycled(1, time.Minute), askedBefore(powerOff{}, askAgain-time.Second)}, offNow},
		"to go off, and asked some time ago":          {changes{cycled(1, time.Minute), askedBefore(powerOff{}, askAgain)}, off},
		"the power-off fails":                         {changes{cycled(1, time.Minute), tried(powerOff{}, broken)}, failing},
		"off":                                         {changes{cycled(1, time.Minute), power(maas.PowerOff)}, isOff},
		"nobody can tell the power":                   {changes{cycled(1, time.Minute), power(maas.PowerUnknown), tried(powerOff{}, nil)}, offNow},
		"it stays on":                                 {changes{cycled(1, defaultTimeout)}, "give up: PowerStaysOn"},
		"it stays on, and the last try fails":         {changes{cycled(1, defaultTimeout), tried(powerOff{}, broken)}, "give up: PowerStaysOn"},
		"MAAS cannot switch it":                       {changes{cycled(1, time.Second), tried(powerOff{}, errNoPowerControl)}, "give up: NoPowerControl"},
		"to go off, and a person wants it left alone": {changes{cycled(1, time.Minute), power(maas.PowerOff), skip}, isOff},
		"to go off, and it is healthy again":          {changes{cycled(1, time.Minute), power(maas.PowerOff), health("True")}, isOff},
		"to go off, and somebody released it":         {changes{cycled(1, time.Minute), status(maas.StatusReady)}, "give up: NotDeployed"},
		"to go off, and locked":                       {changes{cycled(1, time.Minute), locked}, "wait: False MachineLocked"},

		"to go on": {changes{cycled(1, time.Minute), on(0), power(maas.PowerOff)}, turnOn},
		"to go on, though it went off a moment ago": {changes{cycled(1, time.Minute), on(0), power(maas.PowerOff), askedBefore(powerOff{}, time.Second)}, turnOn},
		"to go on, and just asked":                  {changes{cycled(1, time.Minute), on(0), power(maas.PowerOff), tried(powerOn{}, nil), askedBefore(powerOn{}, 0)}, onNow},
		"the power-on fails":                        {changes{cycled(1, time.Minute), on(0), power(maas.PowerOff), tried(powerOn{}, broken)}, failing},
		"it lost its power again":                   {changes{cycled(1, time.Hour), on(10 * time.Minute), power(maas.PowerOff)}, turnOn},
		"on again":                                  {changes{cycled(1, time.Minute), on(0)}, forNode},
		"on again, and healthy":                     {changes{cycled(1, time.Minute), on(0), health("True")}, forNode},
		"on again, for long":                        {changes{cycled(1, time.Hour), on(defaultTimeout)}, begin},
		"on again, and a person wants another one":  {changes{cycled(1, time.Minute), on(0), wanted}, "give up: Asked"},
		"on again, for long, and cooling down":      {changes{cycled(1, 25*time.Minute), on(defaultTimeout)}, cooling},
		"on again, and skipped since":               {changes{cycled(1, time.Hour), on(defaultTimeout), skip}, skipped},
		"as often as allowed":                       {changes{cycled(2, time.Hour), on(defaultTimeout)}, "give up: NotRecovered"},
		"as often as allowed, and still time":       {changes{cycled(2, time.Hour), on(defaultTimeout - time.Second)}, forNode},
		"as often as allowed, days ago":             {changes{cycled(2, 72*time.Hour), on(71 * time.Hour)}, begin},

		"given up":                                   {changes{gaveUp(remediation.NotRecovered, true, 0)}, off},
		"given up, and just asked":                   {changes{gaveUp(remediation.NotRecovered, true, 0), tried(powerOff{}, nil)}, offForGood},
		"given up, and the power-off fails":          {changes{gaveUp(remediation.NotRecovered, true, 0), tried(powerOff{}, broken)}, offForGood},
		"given up, and not to be switched off":       {changes{gaveUp(remediation.NotRecovered, true, 0), tried(powerOff{}, errNoPowerControl)}, hand},
		"given up, and off":                          {changes{gaveUp(remediation.NotRecovered, true, 0), power(maas.PowerOff)}, hand},
		"given up, and on for long":                  {changes{gaveUp(remediation.NotRecovered, true, offPatience)}, hand},
		"given up, and MAAS is away":                 {changes{gaveUp(remediation.NotRecovered, true, 0), away}, noMAAS},
		"given up, and MAAS is away for long":        {changes{gaveUp(remediation.NotRecovered, true, offPatience), away}, hand},
		"given up, and somebody else's":              {changes{gaveUp(remediation.NotRecovered, true, 0), gone}, hand},
		"given up, and locked":                       {changes{gaveUp(remediation.NotRecovered, true, 0), locked}, hand},
		"given up, and left on":                      {changes{gaveUp(remediation.Lost, false, 0)}, hand},
		"given up, and handed over":                  {changes{gaveUp(remediation.Lost, false, 0), handed}, over},
		"given up, and healthy":                      {changes{gaveUp(remediation.Lost, false, 0), health("True")}, notUnhealthy},
		"given up, and a person wants it left alone": {changes{gaveUp(remediation.NotRecovered, true, 0), skip}, skipped},

		"deleted, with nothing done":                      {changes{deleted}, goes},
		"deleted while it is to go off":                   {changes{deleted, cycled(1, time.Minute)}, back},
		"deleted while it is to go off, and MAAS is away": {changes{deleted, cycled(1, time.Minute), away}, back},
		"deleted, and to go on":                           {changes{deleted, cycled(1, time.Minute), on(0), power(maas.PowerOff)}, turnOn},
		"deleted, and switched on":                        {changes{deleted, cycled(1, time.Minute), on(0), power(maas.PowerOff), tried(powerOn{}, nil)}, goes},
		"deleted, and not to be switched on":              {changes{deleted, cycled(1, time.Minute), on(0), power(maas.PowerOff), tried(powerOn{}, broken)}, goes},
		"deleted, and on":                                 {changes{deleted, cycled(1, time.Minute), on(0)}, goes},
		"deleted, and MAAS is away":                       {changes{deleted, cycled(1, time.Minute), on(0), away}, goes},
		"deleted, and somebody else's":                    {changes{deleted, cycled(1, time.Minute), on(0), gone}, goes},
		"deleted, off and locked":                         {changes{deleted, cycled(1, time.Minute), on(0), power(maas.PowerOff), locked}, goes},
		"deleted, off and lost from memory":               {changes{deleted, on(0), power(maas.PowerOff), inMemory}, goes},
		"the same, which MAAS does not show":              {changes{deleted, on(0), power(maas.PowerOff), askedIntoMemory}, goes},
		"deleted after it was given up":                   {changes{deleted, gaveUp(remediation.NotRecovered, true, 0)}, back},
		"deleted with its Machine":                        {changes{deleted, ownerDeleted, gaveUp(remediation.NotRecovered, true, 0)}, goes},
		"deleted after its Machine":                       {changes{deleted, func(o *observation) { o.owner, o.target = nil, nil }}, goes},
		"deleted, and it was not the first":               {changes{deleted, cycled(1, time.Minute), func(o *observation) { o.first = "a" }}, goes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(seen(test.change...))); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestWhatBecomesOfAMachineThatIsGivenUp(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	ofControlPlane := func(o *observation) { o.owner.Labels[clusterv1.MachineControlPlaneLabel] = "" }
	marks := func(mark *bool) func(*observation) {
		return func(o *observation) { o.object.Spec.Strategy.MarkBroken = mark }
	}
	release := func(erase infrav1.Erase, scripts ...string) func(*observation) {
		return func(o *observation) { o.target.Spec.Release = infrav1.ReleasePolicy{Erase: erase, Scripts: scripts} }
	}
	for name, test := range map[string]struct {
		because     remediation.Cause
		change      changes
		off, broken bool
	}{
		"it did not recover":                {remediation.NotRecovered, nil, true, true},
		"of a control plane":                {remediation.NotRecovered, changes{ofControlPlane}, false, true},
		"not to be marked":                  {remediation.NotRecovered, changes{marks(&no)}, true, false},
		"its disks are to be erased":        {remediation.NotRecovered, changes{release(infrav1.EraseQuick)}, true, false},
		"its disks are to stay as they are": {remediation.NotRecovered, changes{release(infrav1.EraseNone)}, true, true},
		"scripts are to run":                {remediation.NotRecovered, changes{release("", "reset-bios")}, true, false},
		"to be erased, and marked":          {remediation.NotRecovered, changes{release(infrav1.EraseFull), marks(&yes)}, true, true},
		"it stays on":                       {remediation.PowerStaysOn, nil, false, true},
		"MAAS cannot switch it":             {remediation.NoPowerControl, changes{marks(&yes)}, false, false},
		"in memory":                         {remediation.InMemory, changes{marks(&yes)}, true, false},
		"gone":                              {remediation.Lost, changes{gone, marks(&yes)}, false, false},
		"released":                          {remediation.NotDeployed, changes{status(maas.StatusReady), marks(&yes)}, false, false},
		"another one is wanted":             {remediation.Asked, changes{marks(&yes)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := seen(test.change...)
			if off, broken := o.staysOff(test.because), o.marksBroken(test.because); off != test.off || broken != test.broken {
				t.Errorf("off: %t, marked broken: %t", off, broken)
			}
			if text := explain(o, test.because); text == explain(o, "?") {
				t.Errorf("it is not explained: %s", text)
			}
		})
	}
}

func TestStatusIsMadeOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	o := seen(cycled(2, time.Hour))
	status := statusOf(o, wait{reason: "A", message: "a"})
	if status.RetryCount != 2 || !status.LastRemediated.Time.Equal(noon.Add(-time.Hour)) {
		t.Errorf("got %+v", status)
	}
	for want, last := range map[metav1.ConditionStatus]wait{"True": {reason: "A"}, "False": {reason: "A", stopped: true}, "Unknown": {reason: "A", unknown: true}} {
		o.object.Status = statusOf(o, last)
		if c := conditions.Get(o.object, infrav1.RemediationRemediatingCondition); c == nil || c.Status != want || c.Reason != "A" {
			t.Errorf("%+v is shown as %+v", last, c)
		}
		if after := statusOf(o, wait{}); len(after.Conditions) != 1 || after.Conditions[0].Status != want {
			t.Errorf("what was told before is gone: %+v", after)
		}
	}
}
