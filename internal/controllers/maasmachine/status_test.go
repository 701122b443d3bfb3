package maasmachine

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// told computes what users see after the plan's next step.
func told(t *testing.T, o observation) *infrav1.MaasMachine {
	t.Helper()
	last, waits := next(o).(wait)
	if !waits {
		last = wait{after: time.Second}
	}
	status, err := statusOf(o, last)
	if err != nil {
		t.Fatal(err)
	}
	after := o.object.DeepCopy()
	after.Status = status
	return after
}

func TestReadyTellsTheStory(t *testing.T) {
	t.Parallel()
	failedWith := func(words string) func(*observation) {
		return func(o *observation) {
			o.page = "http://maas.test/MAAS/r/machine/aaaaa1"
			noted(func(d *deployment) { d.Failed = "failed" + saying(words) })(o)
		}
	}
	known := func(o *observation) {
		o.object.Status.Conditions = []metav1.Condition{
			{Type: infrav1.MachineAllocatedCondition, Status: "True", Reason: infrav1.MachineAllocatedReason, LastTransitionTime: metav1.NewTime(noon)},
			{Type: infrav1.MachineDeployedCondition, Status: "True", Reason: infrav1.MachineDeployedReason, LastTransitionTime: metav1.NewTime(noon)},
			{Type: infrav1.MachinePoweredOnCondition, Status: "True", Reason: infrav1.PoweredOnReason, LastTransitionTime: metav1.NewTime(noon)},
		}
	}
	for name, test := range map[string]struct {
		o      observation
		status metav1.ConditionStatus
		reason string
		says   string // a part of the message
	}{
		"deployed": {seen(keeping, maas.StatusDeployed), "True", "Ready", "machine m1 (aaaaa1) in MAAS maas.test"},
		"deployed, and its Node has not registered": {seen(keeping, maas.StatusDeployed, func(o *observation) { o.node.node = nil }), "True", "Ready", ""},
		"deployed, and out of DNS":                  {seen(keeping, maas.StatusDeployed, controlPlaneOf()), "True", "Ready", ""},
		"deployed, and MAAS never knows the power":  {seen(keeping, maas.StatusDeployed, power(maas.PowerUnknown)), "True", "Ready", ""},
		"off, a moment ago":                         {seen(keeping, maas.StatusDeployed, power(maas.PowerOff)), "Unknown", "PoweredOff", "CAPMAAS switches it on if it stays off"},
		"off for long": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "Unknown")),
			"False", "PoweredOff", "is off and is being switched on"},
		"off for long, in memory": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "Unknown"), func(o *observation) { o.machine.EphemeralDeploy = true }),
			"False", "PoweredOff", "deployed to memory"},
		"off for long, and MAAS refuses to switch it on": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "Unknown"), tried(powerOn{}, maas.ErrForbidden)),
			"False", "PoweredOff", "could not be switched on"},
		"left Deployed": {seen(keeping, maas.StatusRescueMode), "False", "MachineLeftDeployed",
			"machine m1 (aaaaa1) in MAAS maas.test is in state Rescue mode (an operator has it in rescue mode): exit rescue mode in MAAS; if you want another machine, delete Machine w1"},
		"somebody else's":                        {seen(keeping, maas.StatusDeployed, foreign), "False", "MachineNotOurs", `belongs to user "bob" now, and is left alone`},
		"gone":                                   {seen(keeping, maas.StatusDeployed, missing), "False", "MachineNotFound", "MAAS maas.test has no machine aaaaa1 any more"},
		"MAAS is away, and the machine was well": {seen(keeping, maas.StatusDeployed, maasAway, known), "True", "Ready", ""},
		"MAAS is away, before the machine is ours": {nothingYet(withToken, maasAway), "Unknown", "MAASUnreachable", "MAAS maas.test is not available"},
		"no machine fits": {nothingYet(withToken, func(o *observation) {
			o.candidate, o.scarcity = "", "no machine available: 2 machines are Ready, all of these are locked (m1, m2): unlock one in MAAS"
		}),
			"False", "NoMachineAvailable", "no machine available: 2 machines are Ready, all of these are locked (m1, m2)"},
		"deploying": {seen(deploying, maas.StatusDeploying), "False", "MachineDeploying", "MAAS is installing the image"},
		"deploying, after another machine failed": {seen(deploying, maas.StatusDeploying, func(o *observation) { delete(o.object.Annotations, infrav1.DeployAttemptsAnnotation) }, afterOthers(1), taken(time.Minute)), "False", "MachineDeploying",
			"(MAAS is installing the image); before, the deployment of machine bbbbb1 (bbbbb1) failed"},
		"the deployment failed, and is given up next": {seen(deploying, maas.StatusReleasing, gaveUpOn), "False", "MachineDeployRetrying",
			"the deployment of machine m1 (aaaaa1) failed: it is given back, and another one is claimed then"},
		"the deployment failed on all machines, for other reasons": {seen(deploying, maas.StatusFailedDeployment, afterOthers(2), failedWith(""), noted(func(d *deployment) { d.Failed = "did not finish within 45m" })), "False", "MachineDeployFailed",
			"the deployment of machine m1 (aaaaa1) in MAAS maas.test did not finish within 45m, and before it on bbbbb1, bbbbb2: look at http://maas.test/MAAS/r/machine/aaaaa1; if it is at fault, mark it broken in MAAS; then delete Machine w1 in Kubernetes to get another"},
		"the deployment failed on all machines alike": {seen(deploying, maas.StatusFailedDeployment, afterOthers(2), failedWith("")), "False", "MachineDeployFailed",
			"failed, and before it on bbbbb1, bbbbb2 alike: look at http://maas.test/MAAS/r/machine/aaaaa1; suspect image u-2404 first, then the machines; then delete Machine w1 in Kubernetes to get another"},
		"the deployment failed": {seen(deploying, maas.StatusFailedDeployment, failedWith("curtin: no disk"), attempts(1)), "False", "MachineDeployFailed",
			"the deployment of machine m1 (aaaaa1) in MAAS maas.test failed (MAAS says: curtin: no disk): look at http://maas.test/MAAS/r/machine/aaaaa1; if it is at fault, mark it broken in MAAS; then delete Machine w1 in Kubernetes to get another"},
		"the deployment failed, and a person wants to look": {seen(deploying, maas.StatusFailedDeployment, failedWith("no disk"), keepsFailed), "False", "MachineDeployFailed",
			"delete Machine w1 in Kubernetes to get another, this one is kept (spec.keepFailed)"},
		"the image is unknown": {seen(deploying, maas.StatusAllocated, tried(deploy{}, &maas.Error{Kind: maas.KindInvalid, Operation: "deploy_machine", Message: "'x' is not a valid distro_series"})),
			"False", "DeployRefused", "'x' is not a valid distro_series"},
		"locked before it was deployed":  {seen(deploying, maas.StatusAllocated, lockedInMAAS), "False", "MachineLocked", "unlock it"},
		"waiting for the bootstrap data": {nothingYet(func(o *observation) { o.bootstrap.ready = false }), "False", "WaitingForBootstrapData", ""},
		"Ignition":                       {nothingYet(func(o *observation) { o.bootstrap.format = "ignition" }), "False", "UnsupportedBootstrapFormat", `"ignition"`},
		"releasing":                      {seen(giveBack, maas.StatusReleasing), "False", "Releasing", "it is being released"},
		"blocked":                        {seen(giveBack, maas.StatusRescueMode), "False", "ReleaseBlocked", "exit rescue mode"},
		"the hardware is gone before it was deployed": {seen(deploying, maas.StatusMissing), "False", "MachineMissing",
			"first commission it again in MAAS, or delete it there; after either, delete Machine w1 in Kubernetes to get another"},
		"being commissioned before it was deployed": {seen(deploying, maas.StatusCommissioning), "False", "MachineGivenBack",
			"first wait for the end of the commissioning; after that, delete Machine w1 in Kubernetes to get another"},
		"going, and the spec names two machines": {seen(giveBack, maas.StatusDeployed, contradicting), "False", "ReleaseBlocked",
			"and the release goes on; or release bbbbb2 (not aaaaa1) in MAAS, and set annotation " + infrav1.AbandonAnnotation + "=<reason>"},
		"going, and the provider ID is another provider's": {seen(giveBack, maas.StatusDeployed, func(o *observation) {
			o.object.Spec.SystemID, o.object.Spec.ProviderID = "bbbbb2", "aws:///z1/i-1"
		}), "False", "ReleaseBlocked", "or release bbbbb2 in MAAS, and"},
		"held": {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner.DeletionTimestamp = nil }), "False", "HeldUntilConfirmed", infrav1.ConfirmDeleteAnnotation},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := told(t, test.o)
			ready := conditions.Get(after, infrav1.MachineReadyCondition)
			if ready == nil || ready.Status != test.status || ready.Reason != test.reason || !strings.Contains(ready.Message, test.says) {
				t.Errorf("Ready is %+v\nwant %s %s %q", ready, test.status, test.reason, test.says)
			}
			if first, rest, _ := strings.Cut(ready.Message, "; "); strings.Contains(rest, first) && first != "" {
				t.Errorf("Ready says twice: %s", first)
			}
			for _, c := range after.Status.Conditions {
				if c.Reason == "" || strings.ContainsAny(c.Message, "\n\r") || strings.HasPrefix(c.Message, "*") {
					t.Errorf("not one line with a reason: %+v", c)
				}
			}
		})
	}
}

// TestStatusIsStable: what did not change is not written again.
func TestStatusIsStable(t *testing.T) {
	t.Parallel()
	for _, p := range []phase{claiming, deploying, keeping, giveBack} {
		for _, status := range maas.AllStatuses() {
			o := seen(p, status)
			first := told(t, o)
			o.object, o.now = first, o.now.Add(10*time.Minute)
			second := told(t, o)
			for i := range first.Status.Conditions {
				if a, b := first.Status.Conditions[i], second.Status.Conditions[i]; a != b {
					t.Errorf("%s, phase %s: %+v became %+v", status, p, a, b)
				}
			}
		}
	}
}

func TestEveryConditionIsSetOnTheFirstVisit(t *testing.T) {
	t.Parallel()
	after := told(t, nothingYet(func(o *observation) { o.owner = nil }))
	for _, conditionType := range []string{infrav1.MachineReadyCondition, infrav1.MachineAllocatedCondition, infrav1.MachineDeployedCondition,
		infrav1.MachineNodeLinkedCondition, infrav1.MachineDeletingCondition} {
		if !conditions.Has(after, conditionType) {
			t.Errorf("%s is not set", conditionType)
		}
	}
}

func TestPowerOffCountsFromWhenItWasSeen(t *testing.T) {
	t.Parallel()
	o := seen(keeping, maas.StatusDeployed, power(maas.PowerUnknown))
	o.object = told(t, o) // PoweredOn is Unknown since noon
	o.now, o.machine.PowerState = noon.Add(time.Hour), maas.PowerOff
	o.object = told(t, o)
	if got := conditions.GetLastTransitionTime(o.object, infrav1.MachinePoweredOnCondition); !got.Time.Equal(o.now) {
		t.Errorf("off since %s, want %s", got, o.now)
	}
	if got := say(next(o)); got != "all is well" {
		t.Errorf("%s, though it was seen off just now", got)
	}
}

func TestDNSCondition(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		o      observation
		status metav1.ConditionStatus // "" for none
		reason string
	}{
		"a worker":            {seen(keeping, maas.StatusDeployed), "", ""},
		"in the record":       {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.1")), "True", infrav1.DNSAttachedReason},
		"not yet":             {seen(keeping, maas.StatusDeployed, controlPlaneOf()), "False", infrav1.DNSAttachPendingReason},
		"the user's endpoint": {seen(keeping, maas.StatusDeployed, controlPlaneOf(), func(o *observation) { o.dns = dns{external: true} }), "True", infrav1.DNSNotManagedReason},
		"going, still in":     {seen(keeping, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), ownerGoes), "False", infrav1.DNSDetachPendingReason},
		"going, and known":    {seen(keeping, maas.StatusDeployed, controlPlaneOf(), ownerGoes, leftBefore(time.Second)), "False", infrav1.DNSForgettingReason},
		"going, and out":      {seen(keeping, maas.StatusDeployed, controlPlaneOf(), ownerGoes, unhooked), "False", infrav1.DNSDetachedReason},
		"unreadable":          {seen(keeping, maas.StatusDeployed, controlPlaneOf(), func(o *observation) { o.dns.err = maas.ErrUnavailable }), "Unknown", infrav1.DNSAttachPendingReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := conditions.Get(told(t, test.o), infrav1.MachineDNSAttachedCondition)
			if test.status == "" {
				if c != nil {
					t.Errorf("got %+v", c)
				}
				return
			}
			if c == nil || c.Status != test.status || c.Reason != test.reason {
				t.Errorf("got %+v, want %s %s", c, test.status, test.reason)
			}
		})
	}
}

func TestNodeCondition(t *testing.T) {
	t.Parallel()
	node := func(providerID string) func(*observation) {
		return func(o *observation) {
			o.node.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m1"}, Spec: corev1.NodeSpec{ProviderID: providerID}}
		}
	}
	for name, test := range map[string]struct {
		o      observation
		status metav1.ConditionStatus
		reason string
	}{
		"linked":               {seen(keeping, maas.StatusDeployed), "True", infrav1.NodeProviderIDSetReason},
		"none has registered":  {seen(keeping, maas.StatusDeployed, func(o *observation) { o.node.node = nil }), "False", infrav1.WaitingForNodeReason},
		"the cluster is away":  {seen(keeping, maas.StatusDeployed, func(o *observation) { o.node = nodeLink{unreachable: true} }), "Unknown", infrav1.WorkloadClusterUnreachableReason},
		"another provider ID":  {seen(keeping, maas.StatusDeployed, node("aws:///z/i")), "False", infrav1.NodeProviderIDConflictReason},
		"about to be linked":   {seen(keeping, maas.StatusDeployed, node("")), "False", infrav1.WaitingForNodeReason},
		"not deployed yet":     {seen(deploying, maas.StatusDeploying), "False", infrav1.WaitingForNodeReason},
		"not our machine":      {seen(keeping, maas.StatusDeployed, foreign), "False", infrav1.WaitingForNodeReason},
		"the patch was denied": {seen(keeping, maas.StatusDeployed, node(""), tried(linkNode{}, maas.ErrForbidden)), "False", infrav1.WaitingForNodeReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := conditions.Get(told(t, test.o), infrav1.MachineNodeLinkedCondition)
			if c == nil || c.Status != test.status || c.Reason != test.reason {
				t.Errorf("got %+v, want %s %s", c, test.status, test.reason)
			}
		})
	}
}

func TestProvisionedIsRebuiltAfterAMoveAndNeverTurnsBack(t *testing.T) {
	t.Parallel()
	if p := told(t, seen(keeping, maas.StatusDeployed)).Status.Initialization.Provisioned; p == nil || !*p {
		t.Error("not rebuilt from spec and MAAS")
	}
	if p := told(t, seen(deploying, maas.StatusDeployed)).Status.Initialization.Provisioned; p != nil {
		t.Error("set before the provider ID was written")
	}
	if p := told(t, seen(keeping, maas.StatusRescueMode, func(o *observation) { o.object.Status.Initialization.Provisioned = ptr(true) })).Status.Initialization.Provisioned; p == nil || !*p {
		t.Error("it turned back")
	}
}
