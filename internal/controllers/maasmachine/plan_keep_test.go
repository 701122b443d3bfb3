package maasmachine

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

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
		"off for long, to be deployed to memory, which an old MAAS does not show": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"),
			func(o *observation) { o.object.Spec.DeployInMemory = true }), "all is well"},
		"off for long, and switched on a moment ago": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"),
			func(o *observation) { o.switchedOn = asked{times: 3, since: noon.Add(-119 * time.Second)} }), "all is well"},
		"off for long, and switched on a while ago": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"),
			func(o *observation) { o.switchedOn = asked{times: 3, since: noon.Add(-2 * time.Minute)} }), "power on"},
		"off for long, but on its way out": {seen(keeping, maas.StatusDeployed, power(maas.PowerOff), offSince(time.Hour, "False"), ownerGoes), "all is well"},
		"off for long, but not Deployed": {seen(keeping, maas.StatusBroken, power(maas.PowerOff), offSince(time.Hour, "False")),
			"wait: MachineDeployed MachineLeftDeployed"},
		"off for long, but not deployed by us yet": {seen(deploying, maas.StatusAllocated, power(maas.PowerOff), offSince(time.Hour, "False")), "begin deploy aaaaa1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := say(next(test.o)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// controlPlaneOf makes the machine one of the control plane, whose record has the given addresses. Its Machine waits for us, unless
// Cluster API deleted the object already.
func controlPlaneOf(record ...string) func(*observation) {
	return func(o *observation) {
		o.owner.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
		o.dns = dns{managed: true, addresses: record, attached: strings.Contains(strings.Join(record, " "), "10.0.0.1")}
		o.dns.alone = o.dns.attached && len(record) == 1
		if !o.deleting() {
			o.owner.Annotations = map[string]string{infrav1.EndpointHookAnnotation: ""}
		}
	}
}

func notInitialized(o *observation) { o.cluster.Status.Initialization.ControlPlaneInitialized = nil }

func serves(o *observation) { o.dns.serves = true }

func ownerGoes(o *observation) { now := metav1.NewTime(noon); o.owner.DeletionTimestamp = &now }

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
		"one whose Machine goes leaves, though it was the last":    {seen(keeping, maas.StatusRescueMode, controlPlaneOf("10.0.0.1"), ownerGoes, unhooked), "leave DNS"},
		"one whose Machine goes does not join":                     {seen(keeping, maas.StatusDeployed, controlPlaneOf(), serves, ownerGoes), "note left"},
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
