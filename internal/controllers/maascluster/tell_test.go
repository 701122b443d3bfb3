package maascluster

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// warnings are the reasons of all warnings since the last time, sorted.
func (w *world) warnings() string {
	w.Helper()
	var reasons []string
	for _, e := range w.told("Warning ") {
		reasons = append(reasons, strings.Fields(e)[1])
	}
	slices.Sort(reasons)
	return strings.Join(reasons, " ")
}

func TestOneCauseMakesOneWarning(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config simulator.Config
		fault  simulator.Fault
		want   string
	}{
		"MAAS is away":       {fault: simulator.Fault{Status: http.StatusServiceUnavailable}, want: "MAASUnavailable"},
		"the key is refused": {fault: simulator.Fault{Status: http.StatusUnauthorized, ContentType: "text/html", Body: "Authorization Error: 'Invalid API key.'"}, want: "MAASUnavailable"},
		"no rights":          {config: simulator.Config{Users: []simulator.User{{Name: "capi", APIKey: "a:b:c"}}}, want: "MAASUnavailable"},
		"no domain":          {config: simulator.Config{Domains: []simulator.Domain{{Name: "other"}}}, want: "EndpointFailed"},
		"a dark domain":      {config: simulator.Config{Domains: []simulator.Domain{{Name: "other"}, {Name: "maas", Unserved: true}}}, want: "EndpointFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.config)
			if test.fault.Status != 0 {
				w.region.SetIntercept(func(simulator.Request) simulator.Fault { return test.fault })
			}
			w.settle()
			if got := w.warnings(); got != test.want {
				t.Errorf("warnings: %s, want %s", got, test.want)
			}
		})
	}
}

func TestADomainThatIsLostIsToldOnce(t *testing.T) {
	t.Parallel()
	condition := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: "no"}
	}
	served, published := infrav1.ClusterDomainServedCondition, infrav1.ClusterEndpointReadyCondition
	for name, test := range map[string]struct {
		before []metav1.Condition
		now    []metav1.Condition
		want   int
	}{
		"both at a time":                   {nil, []metav1.Condition{condition(served, "DomainNotFound"), condition(published, "DomainNotFound")}, 1},
		"the check comes after the record": {[]metav1.Condition{condition(published, "DomainNotFound")}, []metav1.Condition{condition(served, "DomainNotFound"), condition(published, "DomainNotFound")}, 0},
		"the record comes after the check": {[]metav1.Condition{condition(served, "DomainNotFound")}, []metav1.Condition{condition(served, "DomainNotFound"), condition(published, "DomainNotFound")}, 0},
		"the check alone":                  {nil, []metav1.Condition{condition(served, "DomainNotAuthoritative")}, 1},
		"two causes":                       {nil, []metav1.Condition{condition(served, "DomainNotAuthoritative"), condition(published, "DNSRecordNotOurs")}, 2},
	} {
		recorder := events.NewFakeRecorder(10)
		before, now := &infrav1.MaasCluster{}, &infrav1.MaasCluster{}
		for _, c := range test.before {
			conditions.Set(before, c)
		}
		for _, c := range test.now {
			conditions.Set(now, c)
		}
		(&Reconciler{Recorder: recorder}).tell(now, before, outcome{})
		if got := len(recorder.Events); got != test.want {
			t.Errorf("%s: %d events, want %d", name, got, test.want)
		}
	}
}

// Events of one object with the same reason and action are shown as one, with the note of the first.
func TestEveryConditionHasEventsOfItsOwn(t *testing.T) {
	t.Parallel()
	of := map[[2]string]string{}
	for _, change := range turns {
		series := [2]string{change.reason, change.action}
		if other, taken := of[series]; taken && other != change.condition {
			t.Errorf("%s and %s both raise %s with the action %s", other, change.condition, change.reason, change.action)
		}
		of[series] = change.condition
	}
}
