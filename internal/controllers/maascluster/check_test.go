package maascluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const allFine = "Ready=True/Ready MAASAvailable=True/MAASAvailable DomainServed=True/DomainServed " +
	"ZonesAndPoolsFound=True/ZonesAndPoolsFound ImagesFound=True/ImagesFound EndpointResolves=Unknown/NoAddressPublished"

func TestAClusterAtRestTakesOneRequestInFiveMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.create(template("workers", infrav1.MaasMachineSpec{Image: "ubuntu/jammy", ResourcePool: "default"}))
	w.edit(func(s *infrav1.MaasClusterSpec) { s.FailureDomains = []string{"default"} })
	w.settle()
	w.expect(allFine)
	before := len(w.region.Requests())
	result := w.reconcile()
	if after := result.RequeueAfter; after < 4*time.Minute || after > 6*time.Minute {
		t.Errorf("the next look is after %v", after)
	}
	requests := w.region.Requests()[before:]
	if len(requests) != 1 || requests[0].Path != "/MAAS/api/2.0/dnsresources/" || requests[0].Method != "GET" {
		t.Errorf("a look takes %d requests: %+v", len(requests), requests)
	}
}

func TestWhatIsMissingIsToldAndMendedSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.create(template("workers", infrav1.MaasMachineSpec{Image: "debian-12", ResourcePool: "gpu", Architecture: "amd64"}))
	foreign := template("other", infrav1.MaasMachineSpec{Image: "nothing", ResourcePool: "nowhere"})
	foreign.OwnerReferences = nil
	w.create(foreign)
	w.edit(func(s *infrav1.MaasClusterSpec) { s.FailureDomains = []string{"z9"} })
	w.settle()
	host := w.operator.Host()
	w.expect("Ready=True/Ready ZonesAndPoolsFound=False/ZoneNotFound ImagesFound=False/ImageNotFound")
	want := fmt.Sprintf(`MAAS %[1]s has no zone "z9", which spec.failureDomains of this MaasCluster asks for: make it in MAAS, or name another one there; `+
		`MAAS %[1]s has no resource pool "gpu", which spec.template.spec.resourcePool of MaasMachineTemplate default/workers asks for: `+
		`make it in MAAS, or name another one in a new MaasMachineTemplate`, host)
	if got := w.message("ZonesAndPoolsFound"); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	want = fmt.Sprintf(`MAAS %s has no image custom/debian-12 for amd64, which spec.template.spec.image of MaasMachineTemplate default/workers asks for: `+
		`upload it, or name another one in a new MaasMachineTemplate`, host)
	if got := w.message("ImagesFound"); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if got := w.told("CheckFailed"); len(got) != 2 {
		t.Errorf("told %q", got)
	}
	if after := w.reconcile().RequeueAfter; after > 40*time.Second {
		t.Errorf("the next look is after %v", after)
	}
	if got := w.told("CheckFailed"); len(got) != 0 {
		t.Errorf("told again %q", got)
	}
	// The user corrects what can be corrected, and the templates.
	w.edit(func(s *infrav1.MaasClusterSpec) { s.FailureDomains = []string{"default"} })
	if err := w.client.Delete(t.Context(), template("workers", infrav1.MaasMachineSpec{})); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	w.expect(allFine)
	if got := w.told("CheckMended"); len(got) != 2 {
		t.Errorf("told %q", got)
	}
}

func TestADomainThatIsMissingHoldsANewClusterUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Domains: []simulator.Domain{{Name: "other"}}})
	w.settle()
	w.expect("Ready=False/DomainNotFound LoadBalancerReady=False/DomainNotFound DomainServed=False/DomainNotFound")
	if got := w.message("DomainServed"); !strings.Contains(got, `has no DNS domain "maas"`) {
		t.Errorf("said %q", got)
	}
}

func TestMAASAwayLeavesWhatWasKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	away := func(simulator.Request) simulator.Fault { return simulator.Fault{Status: 503} }
	w.region.SetIntercept(away)
	w.settle()
	w.expect("Ready=False/MAASUnreachable LoadBalancerReady=False/MAASUnreachable MAASAvailable=False/MAASUnreachable DomainServed=Unknown/NotChecked " +
		"ZonesAndPoolsFound=Unknown/NotChecked ImagesFound=Unknown/NotChecked EndpointResolves=absent")
	w.region.SetIntercept(nil)
	w.clock.Advance(time.Minute)
	w.reconcile()
	w.expect(allFine)
	if got := w.told("CheckMended"); len(got) != 0 {
		t.Errorf("told of what was never broken: %q", got)
	}
	w.region.SetIntercept(away)
	w.clock.Advance(15 * time.Minute)
	w.reconcile()
	w.expect(strings.Replace(allFine, "MAASAvailable=True/MAASAvailable", "MAASAvailable=False/MAASUnreachable", 1))
}

func TestTheNameOfAnEndpointIsWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.settle()
	record, ok := endpoint.RecordOf(w.object())
	if !ok {
		t.Fatal("there is no record")
	}
	w.create(&infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cp-1", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: ""}},
		Spec:       infrav1.MaasMachineSpec{Image: "ubuntu/jammy", SystemID: "abc123"},
		Status:     infrav1.MaasMachineStatus{Addresses: []clusterv1.MachineAddress{{Type: clusterv1.MachineInternalIP, Address: "10.20.1.7"}}},
	})
	if _, err := w.reconciler.Endpoint.Join(t.Context(), record, "10.20.1.7"); err != nil {
		t.Fatal(err)
	}
	raised := 0
	w.reconciler.Names.Changed = func(client.ObjectKey) { raised++ }
	w.reconcile()
	w.expect("EndpointResolves=Unknown/EndpointNotLookedUp")
	pass := func() {
		for range 60 {
			w.clock.Advance(time.Second)
			w.reconciler.Names.Round(t.Context())
		}
		w.reconcile()
	}
	pass()
	w.expect("EndpointResolves=False/EndpointNotResolved Ready=True/Ready")
	if got := w.told("CheckFailed"); len(got) != 1 || !strings.Contains(got[0], "forward the domain maas to MAAS") {
		t.Errorf("told %q", got)
	}
	w.resolves = []string{"10.20.1.7"}
	pass()
	w.expect("EndpointResolves=True/EndpointResolves")
	if got := w.told("CheckMended"); len(got) != 1 || raised != 2 {
		t.Errorf("told %q, raised %d times", got, raised)
	}
	// Of a cluster that goes, nobody asks any more.
	if err := w.client.Delete(t.Context(), w.object()); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	looked := w.looked
	w.clock.Advance(time.Hour)
	w.reconciler.Names.Round(t.Context())
	if w.looked != looked {
		t.Error("the name of a cluster that goes is looked up")
	}
}

func TestAnExternalEndpointNeedsNoDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Domains: []simulator.Domain{{Name: "other"}}})
	w.edit(func(s *infrav1.MaasClusterSpec) {
		s.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "192.0.2.10", Port: 6443}
	})
	w.settle()
	w.expect("Ready=True/Ready DomainServed=absent EndpointResolves=True/EndpointResolves")
}

func TestAKeyWithoutRightsIsToldFromAWrongOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Users: []simulator.User{{Name: "capi", APIKey: "a:b:c"}}})
	w.settle()
	w.expect("Ready=False/MAASKeyLacksRights LoadBalancerReady=False/MAASKeyLacksRights MAASAvailable=False/MAASKeyLacksRights DomainServed=True/DomainServed")
}

func TestOnlyDeletionMakesAProvisionedClusterUnready(t *testing.T) {
	t.Parallel()
	provisioned := true
	for name, err := range map[string]error{
		"somebody else's record": &endpoint.NotOursError{FQDN: "c1.maas"},
		"no domain":              &endpoint.DomainNotFoundError{Domain: "maas"},
		"no right":               &maas.Error{Kind: maas.KindForbidden, Operation: "create_dns_record"},
		"MAAS away":              away(),
	} {
		object := &infrav1.MaasCluster{}
		object.Status.Initialization.Provisioned = &provisioned
		seen := facts{owned: true, provisioned: true, kind: infrav1.EndpointMaasDNS, host: "c1.maas"}
		setStatus(object, seen, outcome{step: publish{}, err: err}, checked{})
		ready := conditions.Get(object, infrav1.ClusterReadyCondition)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.Message == "" {
			t.Errorf("%s: %+v", name, ready)
		}
		seen.deleting = true
		setStatus(object, seen, outcome{step: removeRecord{}, err: err}, checked{})
		if ready := conditions.Get(object, infrav1.ClusterReadyCondition); ready.Status != metav1.ConditionFalse {
			t.Errorf("%s, while it is deleted: %+v", name, ready)
		}
	}
}
