package maascluster

import (
	"fmt"
	"testing"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	const dns, external = infrav1.EndpointMaasDNS, infrav1.EndpointExternal
	settled := facts{owned: true, storedKind: dns, kind: dns, host: "c1-abc123.maas", port: 6443, token: "tok"}
	with := func(base facts, change func(*facts)) facts {
		change(&base)
		return base
	}
	for name, test := range map[string]struct {
		seen facts
		want step
	}{
		"no owner": {facts{kind: dns}, waitForOwner{}},
		"a new cluster": {facts{owned: true, kind: dns},
			writeChoice{kind: dns, port: 6443, needsToken: true, needsSuffix: true}},
		"a new cluster with a port": {facts{owned: true, kind: dns, apiPort: 8443},
			writeChoice{kind: dns, port: 8443, needsToken: true, needsSuffix: true}},
		"our own port wins over the Cluster's": {facts{owned: true, kind: dns, port: 7443, apiPort: 8443},
			writeChoice{kind: dns, port: 7443, needsToken: true, needsSuffix: true}},
		"all written down":                  {settled, publish{}},
		"a Cluster's endpoint that is ours": {with(settled, func(f *facts) { f.clusterHost, f.clusterPort = f.host, f.port }), publish{}},
		"a record of the provider before this one": {with(settled, func(f *facts) { f.storedKind, f.token = "", "" }),
			writeChoice{kind: dns, host: "c1-abc123.maas", port: 6443, needsToken: true}},
		"a name of the user's for our record": {facts{owned: true, storedKind: dns, kind: dns, host: "k8s.maas"},
			writeChoice{kind: dns, host: "k8s.maas", port: 6443, needsToken: true}},
		"a host of the user's": {facts{owned: true, kind: external, host: "vip"},
			writeChoice{kind: external, host: "vip", port: 6443}},
		"a host of the user's in the Cluster": {facts{owned: true, kind: dns, clusterHost: "vip", clusterPort: 443},
			writeChoice{kind: external, host: "vip", port: 443}},
		"external, and the host is in the Cluster": {facts{owned: true, storedKind: external, kind: external, clusterHost: "vip", clusterPort: 443},
			writeChoice{kind: external, host: "vip", port: 443}},
		"external, and no host":  {facts{owned: true, storedKind: external, kind: external}, waitForHost{}},
		"external, written down": {facts{owned: true, storedKind: external, kind: external, host: "vip", port: 443}, useExternal{}},

		"deleting with machines": {with(settled, func(f *facts) { f.deleting, f.machines = true, []string{"m"} }),
			waitForMachines{names: []string{"m"}}},
		"deleting":                         {with(settled, func(f *facts) { f.deleting = true }), removeRecord{}},
		"deleted by a move, cut short":     {with(settled, func(f *facts) { f.deleting, f.moved, f.machines = true, true, []string{"m"} }), letGo{}},
		"deleting without a Cluster":       {with(settled, func(f *facts) { f.deleting, f.owned = true, false }), removeRecord{}},
		"deleting before anything is made": {facts{deleting: true, kind: dns}, letGo{}},
		"deleting what never had a mark":   {with(settled, func(f *facts) { f.deleting, f.token = true, "" }), letGo{}},
		"deleting with an external host":   {facts{deleting: true, kind: external, host: "vip"}, letGo{}},
		"deleting while MAAS is away":      {with(settled, func(f *facts) { f.deleting, f.region.Err = true, fmt.Errorf("away") }), removeRecord{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := plan(test.seen); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", test.want) {
				t.Errorf("planned %#v, want %#v", got, test.want)
			}
		})
	}
}
