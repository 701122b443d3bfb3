package maasmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nothingYet is before the first claim.
func nothingYet(change ...func(*observation)) observation {
	return seen("", 0, append([]func(*observation){func(o *observation) {
		o.object.Annotations = nil
		o.candidate = "ccccc3"
	}}, change...)...)
}

func withToken(o *observation) {
	setAnnotation(o.object, infrav1.ClaimAnnotation, token)
}

func attempted(d time.Duration) func(*observation) {
	return func(o *observation) {
		withToken(o)
		o.object.Annotations[infrav1.ClaimAttemptAnnotation] = "ccccc3 " + noon.Add(-d).Format(time.RFC3339)
		o.candidate = ""
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
		"first of all, a claim is written down":              {nothingYet(), "ensure claim"},
		"then, which machine it is made for":                 {nothingYet(withToken), "begin claim ccccc3"},
		"then it is made":                                    {nothingYet(attempted(time.Second)), "claim ccccc3"},
		"nothing fits":                                       {nothingYet(withToken, func(o *observation) { o.candidate = "" }), "wait: MachineAllocated NoMachineAvailable"},
		"the answer was lost: look, and wait":                {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrOutcomeUnknown)), "wait: MachineAllocated Unknown ClaimOutcomeUnknown"},
		"MAAS refuses the request as such":                   {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrInvalid)), "wait: MachineAllocated ClaimRefused"},
		"MAAS refused the request, of which nothing is left": {nothingYet(withToken, tried(claim{"aaaaa1"}, maas.ErrInvalid)), "wait: MachineAllocated ClaimRefused"},
		"the key may not claim":                              {nothingYet(withToken, tried(claim{"aaaaa1"}, maas.ErrForbidden)), "wait: MachineAllocated ClaimRefused"},
		"the machine was taken: the next is asked for":       {nothingYet(withToken, tried(claim{"aaaaa1"}, maas.ErrConflict)), "begin claim ccccc3"},
		"MAAS lacks the image": {nothingYet(withToken, func(o *observation) {
			o.imageless = checks.Finding{Reason: infrav1.ImageNotFoundReason, Message: "no such image"}
		}), "wait: MachineAllocated ImageNotFound"},
		"MAAS went away": {nothingYet(attempted(0), tried(claim{"ccccc3"}, maas.ErrUnavailable)), "wait: MachineAllocated Unknown MAASUnreachable"},
		"an old attempt is repeated on the same machine": {nothingYet(attempted(time.Hour)), "begin claim ccccc3"},
		"once it is written down anew":                   {nothingYet(attempted(time.Hour), tried(beginClaim{"ccccc3"}, nil)), "claim ccccc3"},
		"an attempt of a clock that is ahead":            {nothingYet(attempted(-time.Hour)), "begin claim ccccc3"},
		"an attempt whose claim somebody removed": {nothingYet(attempted(0), func(o *observation) { delete(o.object.Annotations, infrav1.ClaimAnnotation) }),
			"ensure claim"},
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

func noSuchImage() error {
	return &maas.Error{Kind: maas.KindInvalid, Operation: "deploy_machine", StatusCode: 400, Said: true, Message: "distro_series: 'x' is not a valid distro_series"}
}

// notedExtra lets the object list another machine, which carries a claim, or is not ours any more if that is "-".
func notedExtra(claim string) func(*observation) {
	return func(o *observation) {
		o.object.Annotations[infrav1.ExtraMachinesAnnotation] = "bbbbb2"
		if claim != "-" {
			o.extras = []maas.Machine{{SystemID: "bbbbb2", Owner: ourUser, Status: maas.StatusAllocated, Annotations: map[string]string{infrav1.MachineAnnotationClaim: claim}}}
		}
	}
}

// notes lets the object list another machine, which its claim finds.
func notes(systemID string) func(*observation) {
	return func(o *observation) {
		o.object.Annotations[infrav1.ExtraMachinesAnnotation], o.extras = systemID, o.claimed
	}
}

func inAnotherMAAS(o *observation) { o.object.Annotations[infrav1.HostAnnotation] = "old.test" }

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
		"an extra machine of the claim is noted":          {seen(deploying, maas.StatusAllocated, extra(maas.StatusAllocated)), "note extra bbbbb2"},
		"an extra machine that is noted is marked":        {seen(deploying, maas.StatusAllocated, extra(maas.StatusAllocated), notedExtra("")), "annotate bbbbb2"},
		"an extra machine that is marked is let go":       {seen(deploying, maas.StatusAllocated, notedExtra(token)), "release bbbbb2"},
		"an extra machine that is gone is forgotten":      {seen(deploying, maas.StatusAllocated, notedExtra("-")), "drop extra bbbbb2"},
		"an extra machine waits for no other MAAS":        {seen(deploying, maas.StatusAllocated, notedExtra("-"), missing, inAnotherMAAS), "wait: MachineAllocated MachineInAnotherMAAS"},
		"an extra machine holds a deletion":               {seen(giveBack, maas.StatusReady, notedExtra(token), tried(release{"bbbbb2"}, nil)), "wait: Deleting Unknown ReleaseOutcomeUnknown"},
		"no second machine is claimed beside an extra":    {nothingYet(withToken, notedExtra(token), tried(release{"bbbbb2"}, nil)), "wait: MachineAllocated Claiming"},
		"an extra machine that is not Allocated is left":  {seen(deploying, maas.StatusAllocated, extra(maas.StatusDeployed)), "begin deploy aaaaa1"},
		"an extra machine is tried once":                  {seen(deploying, maas.StatusAllocated, notedExtra(token), tried(release{"bbbbb2"}, maas.ErrUnavailable)), "begin deploy aaaaa1"},
		"what is about to be asked for was written down":  {seen(deploying, maas.StatusAllocated, tried(beginDeploy{"aaaaa1"}, nil)), "deploy"},
		"an attempt of a moment ago goes on":              {seen(deploying, maas.StatusAllocated, attempted(time.Second)), "deploy"},
		"an attempt that took effect may do so once more": {seen(deploying, maas.StatusDeploying, attempted(time.Minute)), "wait: MachineDeployed MachineDeploying"},
		"an attempt that can have no effect any more":     {seen(deploying, maas.StatusDeploying, attempted(time.Hour)), "end attempt"},
		"no bootstrap data any more":                      {seen(deploying, maas.StatusAllocated, func(o *observation) { o.bootstrap.ready = false }), "wait: MachineDeployed WaitingForBootstrapData"},
		"the answer was lost, and no effect shows":        {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrOutcomeUnknown)), "wait: MachineDeployed Unknown DeployOutcomeUnknown"},
		"the answer was lost, but it took effect":         {seen(deploying, maas.StatusDeploying, tried(deploy{}, maas.ErrOutcomeUnknown)), "wait: MachineDeployed MachineDeploying"},
		"MAAS says it is deploying already":               {seen(deploying, maas.StatusDeploying, tried(deploy{}, maas.ErrConflict)), "wait: MachineDeployed MachineDeploying"},
		"MAAS does not know the image":                    {seen(deploying, maas.StatusAllocated, tried(deploy{}, noSuchImage())), "wait: MachineDeployed DeployRefused"},
		"the key may not deploy":                          {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrForbidden)), "wait: MachineDeployed DeployRefused"},
		"MAAS went away":                                  {seen(deploying, maas.StatusAllocated, tried(deploy{}, maas.ErrUnavailable)), "wait: MachineDeployed Unknown MAASUnreachable"},
		"the Machine goes: nothing is deployed for it":    {seen(deploying, maas.StatusAllocated, func(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }), "wait: MachineDeployed WaitingForOwnerMachine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
