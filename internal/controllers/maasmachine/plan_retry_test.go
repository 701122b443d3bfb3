package maasmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// noted changes what stands of the deployment of the machine aaaaa1, which began at noon unless it is said.
func noted(change func(*deployment)) func(*observation) {
	return func(o *observation) { changeDeployment(o.object, "aaaaa1", "m1", noon, change) }
}

// taken is a deployment that MAAS took up so long ago.
func taken(ago time.Duration) func(*observation) {
	return noted(func(d *deployment) { d.Taken, d.Began = true, noon.Add(-ago) })
}

func cameBack(often int, ago time.Duration) func(*observation) {
	return noted(func(d *deployment) { d.PutBack, d.Began = often, noon.Add(-ago) })
}

var gaveUpOn = noted(func(d *deployment) { d.Failed = "failed" })

var endedAtNoon = noted(func(d *deployment) { d.Failed, d.Ended = "failed", noon })

func isAdmin(o *observation) { o.admin = true }

// afterOthers are machines on which the deployment failed before.
func afterOthers(n int) func(*observation) {
	return func(o *observation) {
		for i := range n {
			name := []string{"bbbbb1", "bbbbb2", "bbbbb3"}[i]
			changeDeployment(o.object, name, name, noon, func(d *deployment) { d.Failed, d.GivenBack = "failed", true })
		}
	}
}

func attempts(n int32) func(*observation) {
	return func(o *observation) { o.object.Spec.DeployAttempts = n }
}

func withoutOwnerInMAAS(o *observation) { o.machine.Owner, o.standing = "", holdsForeign }

// TestFailedDeployments is what is done about a deployment that fails or is late: one machine is given back, wholly, before another is
// claimed.
func TestFailedDeployments(t *testing.T) {
	t.Parallel()
	const (
		retries = "wait: MachineDeployed MachineDeployRetrying"
		ends    = "wait: MachineDeployed MachineDeployFailed"
	)
	refusal := &maas.Error{Kind: maas.KindInvalid, Operation: "deploy_machine", StatusCode: 400, Said: true, Message: "network: Node must be configured to use a network"}
	failure := &maas.Error{Kind: maas.KindOutcomeUnknown, Operation: "deploy_machine", StatusCode: 500, Said: true, Message: "the BMC is on fire"}
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"it failed: that is written down first":        {seen(deploying, maas.StatusFailedDeployment, taken(time.Minute)), "give up aaaaa1"},
		"it is on time":                                {seen(deploying, maas.StatusDeploying, taken(44*time.Minute)), "wait: MachineDeployed MachineDeploying"},
		"it is late":                                   {seen(deploying, maas.StatusDeploying, taken(45*time.Minute)), "give up aaaaa1"},
		"it is late, by the spec":                      {seen(deploying, maas.StatusDeploying, taken(10*time.Minute), func(o *observation) { o.object.Spec.DeployTimeout = &metav1.Duration{Duration: 10 * time.Minute} }), "give up aaaaa1"},
		"it is late, and it succeeded":                 {seen(deploying, maas.StatusDeployed, taken(time.Hour)), "set provider ID"},
		"it succeeded after it was given up":           {seen(deploying, maas.StatusDeployed, gaveUpOn), "set provider ID"},
		"an operator has it: the time does not count":  {seen(deploying, maas.StatusRescueMode, taken(time.Hour)), "wait: MachineDeployed MachineInRescueMode"},
		"MAAS refused alone: that is not late":         {seen(deploying, maas.StatusAllocated, noted(func(d *deployment) { d.Began = noon.Add(-time.Hour) })), "begin deploy aaaaa1"},
		"MAAS put it back: that is counted":            {seen(deploying, maas.StatusAllocated, taken(time.Minute)), "note return aaaaa1"},
		"and it is tried again":                        {seen(deploying, maas.StatusAllocated, cameBack(1, time.Minute)), "begin deploy aaaaa1"},
		"MAAS put it back often, but not for long":     {seen(deploying, maas.StatusAllocated, cameBack(3, 9*time.Minute)), "begin deploy aaaaa1"},
		"MAAS put it back often":                       {seen(deploying, maas.StatusAllocated, cameBack(3, 10*time.Minute)), "give up aaaaa1"},
		"MAAS put it back, and time is up":             {seen(deploying, maas.StatusAllocated, cameBack(1, 45*time.Minute)), "give up aaaaa1"},
		"MAAS refuses this machine: that is counted":   {seen(deploying, maas.StatusAllocated, tried(deploy{}, refusal)), "note return aaaaa1"},
		"MAAS failed at this machine: that is counted": {seen(deploying, maas.StatusAllocated, tried(deploy{}, failure)), "note return aaaaa1"},
		"and told": {seen(deploying, maas.StatusAllocated, cameBack(1, time.Minute), tried(deploy{}, failure), tried(noteReturn{"aaaaa1"}, nil)), "wait: MachineDeployed DeployRefused"},
		"what was counted often is not counted on":       {seen(deploying, maas.StatusAllocated, cameBack(3, time.Minute), tried(deploy{}, failure)), "wait: MachineDeployed DeployRefused"},
		"the image is not there: no machine is to blame": {seen(deploying, maas.StatusAllocated, tried(deploy{}, noSuchImage())), "wait: MachineDeployed DeployRefused"},
		"the key may not deploy: no machine is to blame": {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrForbidden)), "wait: MachineDeployed DeployRefused"},
		"it goes on though it was given up: it is ended": {seen(deploying, maas.StatusDeploying, gaveUpOn), "abort aaaaa1"},
		"it cannot be ended: its release ends it":        {seen(deploying, maas.StatusDeploying, gaveUpOn, tried(abort{"aaaaa1"}, failure)), "release aaaaa1"},
		"it is given back":                                       {seen(deploying, maas.StatusFailedDeployment, gaveUpOn), "release aaaaa1"},
		"it was ended, and is given back":                        {seen(deploying, maas.StatusAllocated, gaveUpOn), "release aaaaa1"},
		"first, it leaves DNS":                                   {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, controlPlaneOf("10.0.0.1"), func(o *observation) { o.dns.attached = true }), "leave DNS"},
		"it is not given back while it is in DNS":                {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, func(o *observation) { o.dns.attached = true }, tried(leaveDNS{}, maas.ErrUnavailable)), retries},
		"nor while a request to deploy it may still be taken up": {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, attempted(time.Minute)), retries},
		"its release is refused":                                 {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, tried(release{"aaaaa1"}, refusal)), retries},
		"it is locked":                                           {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, lockedInMAAS), retries},
		"it is being released":                                   {seen(deploying, maas.StatusReleasing, gaveUpOn), retries},
		"its disks are being erased":                             {seen(deploying, maas.StatusDiskErasing, gaveUpOn), "wait: MachineDeployed ErasingDisks"},
		"its disks have been erased for long: it is given back": {seen(deploying, maas.StatusDiskErasing, gaveUpOn, func(o *observation) {
			o.object.Status.Conditions = []metav1.Condition{{Type: infrav1.MachineDeployedCondition, Status: "False", Reason: infrav1.ErasingDisksReason,
				LastTransitionTime: metav1.NewTime(noon.Add(-eraseSettles))}}
		}), "forget machine aaaaa1"},
		"it is given back: it is forgotten":                     {seen(deploying, maas.StatusReady, gaveUpOn, withoutOwnerInMAAS), "forget machine aaaaa1"},
		"it is given back, and somebody else's already":         {seen(deploying, maas.StatusAllocated, gaveUpOn, foreign), "forget machine aaaaa1"},
		"it is gone from MAAS":                                  {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, missing), "forget machine aaaaa1"},
		"it is not forgotten while a late request may get it":   {seen(deploying, maas.StatusReady, gaveUpOn, withoutOwnerInMAAS, attempted(time.Minute)), retries},
		"it is not forgotten while MAAS is away":                {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, maasAway), "wait: MachineAllocated Unknown MAASUnreachable"},
		"it is not forgotten because the key is another user's": {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, func(o *observation) { o.machine.Owner, o.standing = otherUser, holdsForeign }), "wait: MachineAllocated MachineOfAnotherUser"},
		"the second of three":                                   {seen(deploying, maas.StatusFailedDeployment, afterOthers(1), gaveUpOn), "release aaaaa1"},
		"the last of three is reported":                         {seen(deploying, maas.StatusFailedDeployment, afterOthers(2), gaveUpOn), ends},
		"the last of three was late: it is ended":               {seen(deploying, maas.StatusDeploying, afterOthers(2), gaveUpOn), "abort aaaaa1"},
		"and reported":                                      {seen(deploying, maas.StatusAllocated, afterOthers(2), gaveUpOn), ends},
		"one attempt is all":                                {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, attempts(1)), ends},
		"more attempts than there were":                     {seen(deploying, maas.StatusFailedDeployment, afterOthers(2), gaveUpOn, attempts(4)), "release aaaaa1"},
		"one that is to be kept stays ours":                 {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, keepsFailed), ends},
		"one that is to be kept is not ended":               {seen(deploying, maas.StatusDeploying, gaveUpOn, keepsFailed), ends},
		"the Machine goes: nothing else is tried":           {seen(deploying, maas.StatusFailedDeployment, gaveUpOn, ownerGoes), retries},
		"it was marked broken, and has no owner":            {seen(deploying, maas.StatusBroken, taken(time.Minute), withoutOwnerInMAAS), "give up aaaaa1"},
		"it was marked broken, and is given back":           {seen(deploying, maas.StatusBroken, gaveUpOn, power(maas.PowerOff)), "forget machine aaaaa1"},
		"it was marked broken, and still runs":              {seen(deploying, maas.StatusBroken, gaveUpOn), retries},
		"an operator released it":                           {seen(deploying, maas.StatusReady, taken(time.Minute), withoutOwnerInMAAS), "give up aaaaa1"},
		"an operator releases it":                           {seen(deploying, maas.StatusReleasing, taken(time.Minute)), "give up aaaaa1"},
		"an operator deleted it":                            {seen(deploying, maas.StatusDeploying, taken(time.Minute), missing), "give up aaaaa1"},
		"somebody else got it":                              {seen(deploying, maas.StatusDeployed, taken(time.Minute), foreign), "give up aaaaa1"},
		"somebody else got it before it was to be deployed": {seen(deploying, maas.StatusAllocated, foreign), "give up aaaaa1"},
		"somebody else got the last of three":               {seen(deploying, maas.StatusAllocated, afterOthers(2), gaveUpOn, foreign), "wait: MachineAllocated MachineNotOurs"},
		"our user has it, and it carries no claim of ours":  {seen(deploying, maas.StatusAllocated, foreign, func(o *observation) { o.machine.Owner = ourUser }), "wait: MachineAllocated MachineNotOurs"},
		"another MaasMachine got it": {seen(deploying, maas.StatusAllocated, foreign, func(o *observation) {
			o.machine.Owner, o.machine.Annotations = ourUser, map[string]string{infrav1.MachineAnnotationMachine: "default.w2"}
		}), "give up aaaaa1"},
		"somebody else got it, and it was to be kept":              {seen(deploying, maas.StatusAllocated, foreign, keepsFailed), "wait: MachineAllocated MachineNotOurs"},
		"somebody else got it, and the Machine goes":               {seen(deploying, maas.StatusAllocated, foreign, ownerGoes), "wait: MachineAllocated MachineNotOurs"},
		"one that ran is never tried elsewhere":                    {seen(keeping, maas.StatusFailedDeployment, gaveUpOn), "wait: MachineDeployed MachineLeftDeployed"},
		"claimed again, a machine that failed before begins anew":  {seen(deploying, maas.StatusAllocated, gaveUpOn, noted(func(d *deployment) { d.GivenBack = true })), "begin deploy aaaaa1"},
		"an annotation that nobody can read is that of a new one":  {seen(deploying, maas.StatusAllocated, func(o *observation) { o.object.Annotations[infrav1.DeployAttemptsAnnotation] = "[{" }), "begin deploy aaaaa1"},
		"a deployment without a note, such as of an older version": {seen(deploying, maas.StatusDeploying, func(o *observation) { delete(o.object.Annotations, infrav1.DeployAttemptsAnnotation) }), "deployment taken aaaaa1"},
		"it is marked before it is given back":                     {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin), "avoid aaaaa1"},
		"and before it is ended":                                   {seen(deploying, maas.StatusDeploying, endedAtNoon, isAdmin), "avoid aaaaa1"},
		"the last one is marked, too":                              {seen(deploying, maas.StatusFailedDeployment, afterOthers(2), endedAtNoon, isAdmin), "avoid aaaaa1"},
		"it is marked already":                                     {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin, func(o *observation) { o.machine.Tags = []string{avoidance.TagName(noon.Add(avoidance.Period))} }), "release aaaaa1"},
		"it cannot be marked":                                      {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin, tried(avoid{"aaaaa1", noon}, maas.ErrUnavailable)), "release aaaaa1"},
		"that it failed is long ago":                               {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin, func(o *observation) { o.now = noon.Add(avoidance.Period) }), "release aaaaa1"},
		"one that is to be kept is not marked":                     {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin, keepsFailed), ends},
		"one that is locked is not marked":                         {seen(deploying, maas.StatusFailedDeployment, endedAtNoon, isAdmin, lockedInMAAS), retries},
		"somebody else's is not marked":                            {seen(deploying, maas.StatusAllocated, endedAtNoon, isAdmin, foreign), "forget machine aaaaa1"},
		"it is deleted meanwhile, and marked first":                {seen(giveBack, maas.StatusFailedDeployment, func(o *observation) { o.object.Spec.ProviderID = "" }, endedAtNoon, isAdmin), "avoid aaaaa1"},
		"an operator aborted it: that is a failure":                {seen(deploying, maas.StatusAllocated, taken(time.Minute), func(o *observation) { o.abortedBy = "alice" }), "give up aaaaa1"},
		"it is deleted meanwhile":                                  {seen(giveBack, maas.StatusFailedDeployment, func(o *observation) { o.object.Spec.ProviderID = "" }, gaveUpOn), "release aaaaa1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestDeploymentsAreBounded(t *testing.T) {
	t.Parallel()
	m := &infrav1.MaasMachine{}
	for range 3 * maxDeployments {
		changeDeployment(m, "aaaaa1", "m1", noon, func(d *deployment) { d.GivenBack = true })
	}
	if n := len(deploymentsOf(m)); n != maxDeployments {
		t.Errorf("%d entries", n)
	}
}

func TestDurationsInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{45 * time.Minute: "45m", 90 * time.Minute: "1h30m", 2 * time.Hour: "2h", 90 * time.Second: "1m30s", 10 * time.Second: "10s"} {
		if got := inWords(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
