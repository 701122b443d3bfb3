package maascluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func away() error {
	return fmt.Errorf("read: %w", &maas.Error{Kind: maas.KindUnavailable, Operation: "list_domains", Message: "cannot connect"})
}

func TestConditionsOfACluster(t *testing.T) {
	t.Parallel()
	healthy := facts{owned: true, kind: infrav1.EndpointMaasDNS, host: "c1.maas", port: 6443, region: checks.Region{Host: "maas.test", Superuser: true, Version: "3.7.3"}}
	with := func(change func(*facts)) facts {
		f := healthy
		change(&f)
		return f
	}
	forbidden := &maas.Error{Kind: maas.KindForbidden, Operation: "create_dns_record"}
	for name, test := range map[string]struct {
		seen   facts
		done   outcome
		before []metav1.Condition
		want   string // type=status/reason, of those that the case is about
	}{
		"published": {healthy, outcome{step: publish{}}, nil,
			"Ready=True/Ready LoadBalancerReady=True/LoadBalancerReady MAASAvailable=True/MAASAvailable APIServerAvailable=False/APIServerNotReady Deleting=False/NotDeleting"},
		"external": {with(func(f *facts) { f.kind = infrav1.EndpointExternal }), outcome{step: useExternal{}}, nil,
			"Ready=True/Ready LoadBalancerReady=True/LoadBalancerReady"},
		"a plain user's key does for an external endpoint": {with(func(f *facts) { f.kind, f.region.Superuser = infrav1.EndpointExternal, false }),
			outcome{step: useExternal{}}, nil, "Ready=True/Ready MAASAvailable=True/MAASAvailable"},
		"a plain user's key cannot write DNS": {with(func(f *facts) { f.region.Superuser = false }), outcome{step: publish{}, err: forbidden}, nil,
			"Ready=False/MAASKeyLacksRights LoadBalancerReady=False/MAASKeyLacksRights MAASAvailable=False/MAASKeyLacksRights"},
		"no owner": {healthy, outcome{step: waitForOwner{}, waits: true}, nil,
			"Ready=False/WaitForDNSName LoadBalancerReady=False/WaitForDNSName"},
		"no host": {healthy, outcome{step: waitForHost{}, waits: true}, nil, "Ready=False/WaitForDNSName"},
		"MAAS is away from the start": {with(func(f *facts) { f.region.Err = away() }), outcome{step: publish{}, err: away()}, nil,
			"Ready=False/MAASUnreachable LoadBalancerReady=False/MAASUnreachable MAASAvailable=False/MAASUnreachable"},
		"MAAS goes away": {with(func(f *facts) { f.provisioned, f.region.Err = true, away() }), outcome{step: publish{}, err: away()},
			[]metav1.Condition{{Type: "LoadBalancerReady", Status: "True", Reason: "LoadBalancerReady"}},
			"Ready=True/Ready LoadBalancerReady=True/LoadBalancerReady MAASAvailable=False/MAASUnreachable"},
		"the key is refused": {with(func(f *facts) { f.region.Err = &maas.Error{Kind: maas.KindUnauthorized} }), outcome{step: publish{}}, nil,
			"MAASAvailable=False/MAASKeyRefused"},
		"it is not MAAS": {with(func(f *facts) { f.region.Err = &maas.Error{Kind: maas.KindNotMAAS} }), outcome{step: publish{}}, nil,
			"MAASAvailable=False/NotMAAS"},
		"no domain": {healthy, outcome{step: publish{}, err: &endpoint.DomainNotFoundError{Domain: "maas"}}, nil,
			"Ready=False/DomainNotFound LoadBalancerReady=False/DomainNotFound MAASAvailable=True/MAASAvailable"},
		"a domain that is not served": {healthy, outcome{step: publish{}, err: &endpoint.DomainNotAuthoritativeError{Domain: "maas"}}, nil,
			"Ready=False/DomainNotAuthoritative"},
		"somebody else's record": {healthy, outcome{step: publish{}, err: &endpoint.NotOursError{FQDN: "c1.maas"}}, nil,
			"Ready=False/DNSRecordNotOurs LoadBalancerReady=False/DNSRecordNotOurs"},
		"a record of the provider before this one": {with(func(f *facts) { f.published = true }), outcome{step: publish{}, err: &endpoint.NotOursError{FQDN: "c1.maas"}}, nil,
			"Ready=True/Ready LoadBalancerReady=False/DNSRecordNotOurs"},
		"a host that is no name": {healthy, outcome{step: publish{}, err: &invalidHostError{host: "10.0.0.1"}}, nil,
			"LoadBalancerReady=False/LoadBalancerFailed"},
		"the API server answers": {with(func(f *facts) { f.apiConnected = true }), outcome{step: publish{}}, nil, "Ready=True/Ready APIServerAvailable=True/APIServerAvailable"},
		"the API server is gone": {with(func(f *facts) { f.initialized = true }), outcome{step: publish{}}, nil, "Ready=True/Ready APIServerAvailable=False/APIServerNotReady"},
		"waiting for machines":   {with(func(f *facts) { f.deleting = true }), outcome{step: waitForMachines{[]string{"a", "b"}}, waits: true}, nil, "Ready=False/WaitingForMachines Deleting=True/WaitingForMachines"},
		"the record goes":        {with(func(f *facts) { f.deleting = true }), outcome{step: removeRecord{}, err: away()}, nil, "Ready=False/RemovingDNS Deleting=True/RemovingDNS MAASAvailable=False/MAASUnreachable"},
		"the record is gone":     {with(func(f *facts) { f.deleting = true }), outcome{step: removeRecord{}, released: true}, nil, "Deleting=True/DeletionCompleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &infrav1.MaasCluster{Status: infrav1.MaasClusterStatus{Conditions: test.before}}
			if test.seen.deleting {
				object.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			if test.seen.provisioned {
				object.Status.Initialization.Provisioned = &test.seen.provisioned
			}
			setStatus(object, test.seen, test.done, checked{})
			for _, want := range strings.Fields(test.want) {
				kind, state, _ := strings.Cut(want, "=")
				got := "absent"
				if condition := conditions.Get(object, kind); condition != nil {
					got = string(condition.Status) + "/" + condition.Reason
					if condition.Status == metav1.ConditionFalse && condition.Message == "" && kind != "Deleting" {
						t.Errorf("%s is False and does not say why", kind)
					}
				}
				if got != state {
					t.Errorf("%s is %s, want %s", kind, got, state)
				}
			}
		})
	}
}

func TestProvisionedNeverTurnsBack(t *testing.T) {
	t.Parallel()
	object := &infrav1.MaasCluster{}
	seen := facts{owned: true, kind: infrav1.EndpointMaasDNS, host: "c1.maas", zones: []string{"z1"}}
	setStatus(object, seen, outcome{step: publish{}, err: errors.New("no")}, checked{})
	if object.Status.Initialization.Provisioned != nil {
		t.Error("provisioned without a record")
	}
	setStatus(object, seen, outcome{step: publish{}}, checked{})
	if p := object.Status.Initialization.Provisioned; p == nil || !*p || object.Status.Network.DNSName != "c1.maas" {
		t.Errorf("status %+v", object.Status)
	}
	if got := object.Status.FailureDomains; len(got) != 1 || got[0].Name != "z1" || !*got[0].ControlPlane {
		t.Errorf("failure domains %+v", got)
	}
	seen.zones = nil
	setStatus(object, seen, outcome{step: publish{}, err: errors.New("no")}, checked{})
	if p := object.Status.Initialization.Provisioned; p == nil || !*p {
		t.Error("provisioned turned back")
	}
	if object.Status.FailureDomains != nil {
		t.Error("failure domains are published unasked")
	}
}
