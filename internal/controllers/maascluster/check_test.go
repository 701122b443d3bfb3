package maascluster

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// world is a management cluster with the cluster c1, a region, and a reconciler that remembers. Time is the test's.
type world struct {
	*testing.T
	client     client.Client
	request    ctrl.Request
	region     *simulator.Region
	operator   *maas.Client
	reconciler *Reconciler
	events     *events.FakeRecorder
	now        time.Time
	resolves   []string
	looked     int // up
}

func newWorld(t *testing.T, config simulator.Config) *world {
	t.Helper()
	w := &world{T: t, events: events.NewFakeRecorder(1000), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	config.Clock = simulator.NewVirtualClock(w.now)
	if w.region, err = simulator.New(config); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.region.Handler())
	t.Cleanup(func() { server.Close(); w.region.Close() })
	now := func() time.Time { return w.now }
	key := simulator.DefaultAPIKey
	if len(config.Users) > 0 {
		key = config.Users[0].APIKey
	}
	if w.operator, err = maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: key, Now: now}); err != nil {
		t.Fatal(err)
	}
	w.client, w.request = stored(t)
	user, publisher := identity.New(w.operator), endpoint.NewPublisher(w.operator)
	publisher.Now = now
	w.reconciler = &Reconciler{
		Client: w.client, Endpoint: publisher, Identity: user, Recorder: w.events,
		Checks:       checks.New(checks.Config{MAAS: w.operator, Identity: user, Now: now}),
		Names:        checks.NewNames(func(context.Context, string) ([]string, error) { w.looked++; return w.resolves, nil }, now),
		ClusterCache: clustercache.NewFakeEmptyClusterCache(),
	}
	return w
}

func (w *world) reconcile() ctrl.Result {
	w.Helper()
	result, err := w.reconciler.Reconcile(w.Context(), w.request)
	if err != nil {
		w.Fatal(err)
	}
	return result
}

// settle reconciles until the endpoint is chosen, and once more.
func (w *world) settle() {
	w.Helper()
	for range 6 {
		w.reconcile()
	}
}

func (w *world) object() *infrav1.MaasCluster {
	w.Helper()
	object := &infrav1.MaasCluster{}
	if err := w.client.Get(w.Context(), w.request.NamespacedName, object); err != nil {
		w.Fatal(err)
	}
	return object
}

// edit changes the MaasCluster as a user would.
func (w *world) edit(change func(*infrav1.MaasClusterSpec)) {
	w.Helper()
	object := w.object()
	change(&object.Spec)
	if err := w.client.Update(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

func (w *world) create(object client.Object) {
	w.Helper()
	if err := w.client.Create(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// expect checks conditions, written as type=status/reason.
func (w *world) expect(want string) {
	w.Helper()
	object := w.object()
	for _, want := range strings.Fields(want) {
		kind, state, _ := strings.Cut(want, "=")
		got := "absent"
		if c := conditions.Get(object, kind); c != nil {
			got = string(c.Status) + "/" + c.Reason
		}
		if got != state {
			w.Errorf("%s is %s, want %s: %+v", kind, got, state, conditions.Get(object, kind))
		}
	}
}

func (w *world) message(kind string) string {
	w.Helper()
	return conditions.GetMessage(w.object(), kind)
}

// told returns the events since the last time that are about something.
func (w *world) told(reason string) (told []string) {
	for {
		select {
		case e := <-w.events.Events:
			if strings.Contains(e, reason) {
				told = append(told, e)
			}
		default:
			return told
		}
	}
}

func template(name string, spec infrav1.MaasMachineSpec) *infrav1.MaasMachineTemplate {
	t := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "uid"},
	}}}
	t.Spec.Template.Spec = spec
	return t
}

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
		`make it in MAAS, or name another one there`, host)
	if got := w.message("ZonesAndPoolsFound"); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	want = fmt.Sprintf(`MAAS %s has no image custom/debian-12 for amd64, which spec.template.spec.image of MaasMachineTemplate default/workers asks for: `+
		`upload it, or name another one there`, host)
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
	// What the identity remembers of the failure is of the real time.
	w.reconciler.Identity = identity.New(w.operator)
	w.reconciler.Checks = checks.New(checks.Config{MAAS: w.operator, Identity: w.reconciler.Identity, Now: func() time.Time { return w.now }})
	w.reconcile()
	w.expect(allFine)
	if got := w.told("CheckMended"); len(got) != 0 {
		t.Errorf("told of what was never broken: %q", got)
	}
	w.region.SetIntercept(away)
	w.reconciler.Identity = identity.New(w.operator)
	w.reconciler.Checks = checks.New(checks.Config{MAAS: w.operator, Identity: w.reconciler.Identity, Now: func() time.Time { return w.now }})
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
			w.now = w.now.Add(time.Second)
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
	w.now = w.now.Add(time.Hour)
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
