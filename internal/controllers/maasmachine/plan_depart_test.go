package maasmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// leftBefore says that the machine left the record some time ago, with the TTL that records of ours have.
func leftBefore(ago time.Duration) func(*observation) {
	return func(o *observation) {
		o.object.Annotations[infrav1.LeftEndpointAnnotation] = departure{at: noon.Add(-ago), keptFor: 10 * time.Second}.String()
	}
}

// waitedFor says for how long Cluster API has done all else.
func waitedFor(d time.Duration) func(*observation) {
	return func(o *observation) {
		o.owner.Status.Deletion = &clusterv1.MachineDeletionStatus{WaitForPreTerminateHookStartTime: metav1.NewTime(noon.Add(-d))}
	}
}

func lettingGo(o *observation) { o.object.Annotations[infrav1.AbandonAnnotation] = "the BMC is dead" }

func unhooked(o *observation) { o.owner.Annotations = nil }

func TestWhenAMachineOfTheControlPlaneLeavesItsRecord(t *testing.T) {
	t.Parallel()
	const left, here = "10.0.0.9", "10.0.0.1" // what the record holds
	pending, forgetting := "wait: DNSAttached DNSDetachPending", "wait: DNSAttached DNSForgetting"
	earlier := func(o *observation) { o.siblings.earlier = "cp0" }
	successor := func(o *observation) { o.siblings.successor = true }
	clusterGoes := func(o *observation) { now := metav1.NewTime(noon); o.cluster.DeletionTimestamp = &now }
	unreadable := func(o *observation) { o.unreadable, o.standing, o.machine = maas.ErrUnavailable, holdsNone, nil }
	for name, test := range map[string]struct {
		o    observation
		want string
	}{
		"what is to join is hooked first":              {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), serves, unhooked), "hook Machine"},
		"so is the first, during its installation":     {seen(deploying, maas.StatusDeploying, controlPlaneOf(), notInitialized, unhooked), "hook Machine"},
		"what is in and has no hook gets it":           {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), unhooked), "hook Machine"},
		"a hook that cannot be set holds up no join":   {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), serves, unhooked, tried(hookMachine{}, maas.ErrForbidden)), "join DNS"},
		"what does not join yet has no hook":           {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), unhooked), "all is well"},
		"a worker has none":                            {seen(keeping, maas.StatusDeployed), "all is well"},
		"nothing joins a hook to a cluster that goes":  {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), unhooked, clusterGoes), "all is well"},
		"it leaves when its Machine is deleted":        {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes), "leave DNS"},
		"what was deleted earlier leaves first":        {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes, earlier), pending},
		"it stays as the last while another is coming": {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, successor), pending},
		"where none is coming it leaves":               {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes), "leave DNS"},
		"it stays though it is held no more":           {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, successor, unhooked), "all is well"},
		"a machine that does not run does not stay":    {seen(keeping, maas.StatusRescueMode, controlPlaneOf(here), ownerGoes, successor, unhooked), "leave DNS"},
		"nor does one whose cluster goes":              {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, successor, unhooked, clusterGoes), "leave DNS"},
		"when it left, that is noted":                  {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes), "note left"},
		"also when it left again":                      {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(time.Minute), func(o *observation) { o.keptFor = time.Minute }), "note left"},
		"then it is held":                              {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(24*time.Second)), forgetting},
		"until TTL and propagation are over":           {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(25*time.Second)), "unhook Machine"},
		"and the name leads there no more": {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(25*time.Second), func(o *observation) {
			o.dns.answered = true
		}), forgetting},
		"or that is an echo": {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(25*time.Second+longestEcho), func(o *observation) {
			o.dns.answered = true
		}), "unhook Machine"},
		"a note that cannot be read counts from the deletion": {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, func(o *observation) {
			o.object.Annotations[infrav1.LeftEndpointAnnotation] = "soon"
			o.now = noon.Add(25 * time.Second)
		}), "unhook Machine"},
		"what came back into the record leaves again":           {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes, leftBefore(time.Minute)), "leave DNS"},
		"a record that cannot be read says nothing":             {seen(keeping, maas.StatusDeployed, controlPlaneOf(), ownerGoes, func(o *observation) { o.dns.err = maas.ErrUnavailable }), pending},
		"a refusal to let it leave holds it":                    {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes, tried(leaveDNS{}, maas.ErrForbidden)), pending},
		"but not for ever":                                      {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes, tried(leaveDNS{}, maas.ErrForbidden), waitedFor(longestHold)), "unhook Machine"},
		"MAAS away ends no hold":                                {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, unreadable, waitedFor(longestHold-time.Second)), "all is well"},
		"until Cluster API waited for long":                     {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, unreadable, waitedFor(longestHold)), "unhook Machine"},
		"what an earlier one waits for is not waited for long":  {seen(keeping, maas.StatusDeployed, controlPlaneOf(here, left), ownerGoes, earlier, waitedFor(longestHold)), "unhook Machine"},
		"nobody waits where the cluster goes":                   {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, clusterGoes), "unhook Machine"},
		"nor where it is gone":                                  {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, func(o *observation) { o.cluster = nil }), "unhook Machine"},
		"nor without a MaasCluster":                             {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, func(o *observation) { o.infra, o.dns = nil, dns{} }), "unhook Machine"},
		"nor at an endpoint of the user's own":                  {seen(keeping, maas.StatusDeployed, controlPlaneOf(), ownerGoes, func(o *observation) { o.dns = dns{external: true} }), "unhook Machine"},
		"nor for a machine that is gone":                        {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, func(o *observation) { o.standing, o.machine = holdsGone, nil }), "unhook Machine"},
		"nor for one of somebody else":                          {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, func(o *observation) { o.standing = holdsForeign }), "unhook Machine"},
		"nor for one that left Deployed":                        {seen(keeping, maas.StatusRescueMode, controlPlaneOf(here), ownerGoes), "unhook Machine"},
		"nor for one that never ran":                            {seen(deploying, maas.StatusDeploying, controlPlaneOf(here), ownerGoes), "unhook Machine"},
		"nor for one that a person lets go":                     {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, lettingGo), "unhook Machine"},
		"nor where the spec contradicts itself":                 {seen(keeping, maas.StatusDeployed, controlPlaneOf(here), ownerGoes, func(o *observation) { o.object.Spec.SystemID = "aaaaa9" }), "unhook Machine"},
		"an object that is deleted lets its Machine go first":   {seen(giveBack, maas.StatusDeployed, controlPlaneOf(here), hookedStill), "unhook Machine"},
		"whatever MAAS says":                                    {seen(giveBack, maas.StatusDeployed, controlPlaneOf(here), hookedStill, unreadable), "unhook Machine"},
		"one that is held by mistake keeps its Machine's hook":  {seen(giveBack, maas.StatusDeployed, controlPlaneOf(here), hookedStill, func(o *observation) { o.owner.DeletionTimestamp = nil }), "wait: Deleting HeldUntilConfirmed"},
		"a Machine that cannot be written to holds nothing up":  {seen(giveBack, maas.StatusDeployed, controlPlaneOf(here), hookedStill, tried(unhookMachine{}, maas.ErrForbidden)), "leave DNS"},
		"nor does one that cannot be written to is let go half": {seen(keeping, maas.StatusDeployed, controlPlaneOf(left), ownerGoes, leftBefore(time.Minute), tried(unhookMachine{}, maas.ErrForbidden)), forgetting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// hookedStill: somebody deleted the object though its Machine waits for us.
func hookedStill(o *observation) {
	o.owner.Annotations = map[string]string{infrav1.EndpointHookAnnotation: ""}
}

func TestTheMachinesOfAControlPlaneLeaveInTheOrderOfTheirDeletion(t *testing.T) {
	t.Parallel()
	machine := func(name string, deleted int) clusterv1.Machine { // so many seconds before noon; 0 is not at all
		m := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if deleted > 0 {
			m.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Duration(deleted) * time.Second)}
		}
		return m
	}
	for name, test := range map[string]struct {
		others []clusterv1.Machine
		want   siblings
	}{
		"alone":                        {nil, siblings{}},
		"others stay":                  {[]clusterv1.Machine{machine("a", 0), machine("c", 0)}, siblings{successor: true}},
		"one was deleted earlier":      {[]clusterv1.Machine{machine("c", 20), machine("a", 0)}, siblings{earlier: "c", successor: true}},
		"one was deleted later":        {[]clusterv1.Machine{machine("a", 5)}, siblings{}},
		"deleted at once: by the name": {[]clusterv1.Machine{machine("a", 10), machine("c", 10)}, siblings{earlier: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := machine("b", 10)
			if got := siblingsOf(&owner, append(test.others, owner)); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
