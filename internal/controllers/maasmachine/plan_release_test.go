package maasmachine

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func abandonedBecause(reason string) func(*observation) {
	return func(o *observation) {
		if o.object.Annotations == nil {
			o.object.Annotations = map[string]string{}
		}
		o.object.Annotations[infrav1.AbandonAnnotation] = reason
	}
}

func keepsFailed(o *observation) { o.object.Spec.KeepFailed = true }

func TestRelease(t *testing.T) {
	t.Parallel()
	deletedAlone := func(o *observation) { o.owner.DeletionTimestamp = nil }
	refusal := errors.New("it is on fire")
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"nothing was ever claimed":                             {nothingYet(deleted), "let go: nothing was claimed"},
		"a claim, but no machine":                              {nothingYet(withToken, deleted), "let go: nothing was claimed"},
		"a claim whose outcome is unknown may still come true": {nothingYet(attempted(time.Minute), deleted), "wait: Deleting ClaimOutcomeUnknown"},
		"a claim whose outcome is unknown, long ago":           {nothingYet(attempted(claimSettles), deleted), "let go: nothing was claimed"},
		"a claim whose outcome is unknown, and whose time somebody edited away": {nothingYet(attempted(time.Minute), deleted, func(o *observation) {
			o.object.Annotations[infrav1.ClaimAttemptAnnotation] = "aaaaa1 yesterday"
			o.now = noon.Add(claimSettles)
		}), "let go: nothing was claimed"},
		"found by the claim though no system ID was ever stored": {seen(claiming, maas.StatusAllocated, deleted), "adopt aaaaa1"},
		"found by the claim, not annotated yet":                  {seen(claiming, maas.StatusAllocated, deleted, func(o *observation) { o.claimed[0].Annotations = nil }), "adopt aaaaa1"},
		"another machine of the claim is released too": {seen(giveBack, maas.StatusReady, func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusDeployed
			o.claimed = []maas.Machine{m}
		}, notes("bbbbb2")), "release bbbbb2"},
		"one waits, the other is released": {seen(giveBack, maas.StatusReleasing, func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusDeployed
			o.claimed = []maas.Machine{m}
		}, notes("bbbbb2")), "release bbbbb2"},
		"asked for, and not seen to begin":                            {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, nil)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"the answer was lost":                                         {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, maas.ErrOutcomeUnknown)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"MAAS refuses":                                                {seen(giveBack, maas.StatusDeployed, tried(release{"aaaaa1"}, refusal)), "wait: Deleting ReleaseFailed"},
		"broken and still on: it runs":                                {seen(giveBack, maas.StatusBroken), "wait: Deleting ReleaseBlocked"},
		"broken and off: it was handed back":                          {seen(giveBack, maas.StatusBroken, power(maas.PowerOff)), "let go: released"},
		"broken, and MAAS cannot tell its power":                      {seen(giveBack, maas.StatusBroken, power(maas.PowerUnknown)), "let go: released"},
		"deleted without its Machine":                                 {seen(giveBack, maas.StatusDeployed, deletedAlone), "wait: Deleting HeldUntilConfirmed"},
		"held, whatever became of the machine":                        {seen(giveBack, maas.StatusReady, deletedAlone), "wait: Deleting HeldUntilConfirmed"},
		"deleted without its Machine, and confirmed":                  {seen(giveBack, maas.StatusDeployed, deletedAlone, func(o *observation) { o.object.Annotations[infrav1.ConfirmDeleteAnnotation] = "" }), "release aaaaa1"},
		"deleted without its Machine, whose Cluster goes":             {seen(giveBack, maas.StatusDeployed, deletedAlone, func(o *observation) { now := metav1.NewTime(noon); o.cluster.DeletionTimestamp = &now }), "release aaaaa1"},
		"its Machine is gone":                                         {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner = nil }), "release aaaaa1"},
		"nothing else is left":                                        {seen(giveBack, maas.StatusDeployed, func(o *observation) { o.owner, o.cluster, o.infra, o.bootstrap = nil, nil, nil, bootstrap{} }), "release aaaaa1"},
		"abandoned: it says so on the machine":                        {seen(giveBack, maas.StatusDeployed, abandonedBecause("burnt")), "mark abandoned aaaaa1"},
		"abandoned, and out of DNS first":                             {seen(giveBack, maas.StatusDeployed, controlPlaneOf("10.0.0.1"), abandonedBecause("burnt")), "leave DNS"},
		"abandoned, whatever MAAS answers":                            {seen(giveBack, maas.StatusDeployed, abandonedBecause("burnt"), tried(markAbandoned{"aaaaa1"}, maas.ErrForbidden)), "let go: abandoned"},
		"abandoned while MAAS is away":                                {seen(giveBack, maas.StatusDeployed, maasAway, abandonedBecause("burnt")), "let go: abandoned"},
		"abandoned though locked":                                     {seen(giveBack, maas.StatusDeployed, lockedInMAAS, abandonedBecause("burnt")), "let go: abandoned"},
		"abandoned though held":                                       {seen(giveBack, maas.StatusDeployed, deletedAlone, abandonedBecause("burnt")), "mark abandoned aaaaa1"},
		"abandoned, but never deleted: nothing happens":               {seen(keeping, maas.StatusDeployed, abandonedBecause("burnt")), "all is well"},
		"failed to deploy":                                            {seen(deploying, maas.StatusFailedDeployment, deleted), "release aaaaa1"},
		"failed to deploy, and to be kept: it says so on the machine": {seen(deploying, maas.StatusFailedDeployment, deleted, keepsFailed), "mark kept aaaaa1"},
		"kept, and marked":                                            {seen(deploying, maas.StatusFailedDeployment, deleted, keepsFailed, tried(markKept{"aaaaa1"}, nil)), "let go: kept"},
		"to be kept, and MAAS does not take the mark": {seen(deploying, maas.StatusFailedDeployment, deleted, keepsFailed, tried(markKept{"aaaaa1"}, maas.ErrOutcomeUnknown)),
			"wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"to be kept, though locked":                   {seen(deploying, maas.StatusFailedDeployment, deleted, keepsFailed, lockedInMAAS), "let go: kept"},
		"to be kept if it fails, and it did not":      {seen(giveBack, maas.StatusDeployed, keepsFailed), "release aaaaa1"},
		"to be kept, and somebody released it before": {seen(deploying, maas.StatusReady, deleted, keepsFailed), "let go: released"},
		"kept, and another machine of the claim is not": {seen(deploying, maas.StatusFailedDeployment, deleted, keepsFailed, tried(markKept{"aaaaa1"}, nil), func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusAllocated
			o.claimed = []maas.Machine{m}
		}, notes("bbbbb2")), "release bbbbb2"},
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
