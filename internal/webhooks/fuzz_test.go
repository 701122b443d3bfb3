package webhooks

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// Whatever stands in objects: no panic, every refusal names a field, and what must always pass passes.

// specSeeds are pairs of specs, before and after.
func specSeeds() [][2]string {
	return [][2]string{
		{`{"image":"custom/kube","tags":["a","b"]}`, `{"image":"custom/kube","tags":["b","a"],"systemID":"4y3h7n"}`},
		{`{"image":"a b","tags":["a,b",""],"notTags":[""],"storage":"x(","interfaces":";:=,"}`, `{}`},
		{`{"providerID":"maas:///z1/4y3h7n","systemID":"4y3h7n"}`, `{"providerID":"maas:////","systemID":"/"}`},
		{`{"lxd":{"enabled":true},"parent":"abc123"}`, `{"lxd":{"enabled":false},"parent":""}`},
		{`{"minCPU":-1,"minMemory":-2,"minDiskSize":-3,"architecture":"amd64/"}`, `{"subnets":[" "],"resourcePool":" ","failureDomain":"\n"}`},
		{`{"release":{"erase":"Full","scripts":["a"]}}`, `{"release":{"erase":"x","scripts":["a,b","","a","a"]}}`},
		{`{"storage":"root:1(ssd),2","interfaces":"eth0:vid=1;eth1:ip=::1"}`, `{"storage":"))((","interfaces":"a:b=c"}`},
		{`{"lxd":null,"addressFrom":{"subnet":"a"}}`, `{"lxd":[1,{"a":[]}],"addressFrom":{"interface":"eno1"}}`},
	}
}

func FuzzMaasMachines(f *testing.F) {
	for _, seed := range specSeeds() {
		f.Add(seed[0], seed[1], "", "t0ken", "4y3h7n 2026-01-01T00:00:00Z")
		f.Add(seed[1], seed[0], "t0ken", "", "")
	}
	f.Fuzz(func(t *testing.T, specBefore, specNow, claimBefore, claimNow, attempt string) {
		before, now := &infrav1.MaasMachine{}, &infrav1.MaasMachine{}
		if !decoded(specBefore, &before.Spec) || !decoded(specNow, &now.Spec) {
			return
		}
		before.Annotations = map[string]string{infrav1.ClaimAnnotation: claimBefore}
		now.Annotations = map[string]string{infrav1.ClaimAnnotation: claimNow, infrav1.ClaimAttemptAnnotation: attempt}
		expectPaths(t, newMachine(now))
		found := changedMachine(before, now)
		expectPaths(t, found)
		if claimBefore != "" && claimBefore != claimNow && len(found) == 0 {
			t.Error("a claim was changed")
		}
		expectNothing(t, "a machine that does not change", changedMachine(now, now.DeepCopy()))
		now.Finalizers = []string{infrav1.MachineFinalizer}
		expectNothing(t, "a machine that was moved", newMachine(now))
		now.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		expectNothing(t, "a machine that leaves", changedMachine(before, now))
	})
}

func FuzzMaasMachineTemplates(f *testing.F) {
	for _, seed := range specSeeds() {
		f.Add(seed[0], seed[1], "", "t0ken")
		f.Add(seed[1], seed[0], "t0ken", "")
	}
	f.Fuzz(func(t *testing.T, specBefore, specNow, claimBefore, claimNow string) {
		before, now := &infrav1.MaasMachineTemplate{}, &infrav1.MaasMachineTemplate{}
		if !decoded(specBefore, &before.Spec.Template.Spec) || !decoded(specNow, &now.Spec.Template.Spec) {
			return
		}
		before.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.ClaimAnnotation: claimBefore}
		now.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.ClaimAnnotation: claimNow}
		if found := newTemplate(now); len(found) == 0 {
			t.Error("a template with a claim was accepted")
		} else {
			expectPaths(t, found)
		}
		expectPaths(t, changedTemplate(before, now, false))
		expectNothing(t, "a template that does not change", changedTemplate(now, now.DeepCopy(), false))
		now.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		expectNothing(t, "a template that leaves", changedTemplate(before, now, false))
	})
}

func FuzzMaasClusters(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"dnsDomain":"maas"}`, `{"dnsDomain":"maas","controlPlaneEndpoint":{"host":"c1.maas","port":6443},"controlPlaneEndpointKind":"MaasDNS"}`},
		{`{"dnsDomain":"Maas."}`, `{"dnsDomain":".","controlPlaneEndpoint":{"host":"[::1]:1","port":-1},"controlPlaneEndpointKind":"External"}`},
		{`{"failureDomains":["","a","a"]}`, `{"failureDomains":["a","b"],"lxdConfig":{"enabled":true}}`},
		{`{"lxdConfig":{"a":1,"b":2}}`, `{"lxdConfig":{"b":2,"a":1},"controlPlaneEndpoint":{"host":"fe80::1%eth0","port":1}}`},
	} {
		f.Add(seed[0], seed[1], "", "t0ken")
		f.Add(seed[1], seed[0], "t0ken", "")
	}
	f.Fuzz(func(t *testing.T, specBefore, specNow, markBefore, markNow string) {
		before, now := &infrav1.MaasCluster{}, &infrav1.MaasCluster{}
		if !decoded(specBefore, &before.Spec) || !decoded(specNow, &now.Spec) {
			return
		}
		before.Annotations = map[string]string{infrav1.EndpointMarkAnnotation: markBefore}
		now.Annotations = map[string]string{infrav1.EndpointMarkAnnotation: markNow}
		expectPaths(t, newCluster(now))
		found := changedCluster(before, now)
		expectPaths(t, found)
		if host := before.Spec.ControlPlaneEndpoint.Host; host != "" && host != now.Spec.ControlPlaneEndpoint.Host && len(found) == 0 {
			t.Error("a host was changed")
		}
		expectNothing(t, "a cluster that does not change", changedCluster(now, now.DeepCopy()))
		now.Finalizers = []string{infrav1.ClusterFinalizer}
		expectNothing(t, "a cluster that was moved", newCluster(now))
		now.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		expectNothing(t, "a cluster that leaves", changedCluster(before, now))
	})
}

func decoded(text string, into any) bool { return json.Unmarshal([]byte(text), into) == nil }

func expectPaths(t *testing.T, found field.ErrorList) {
	t.Helper()
	for _, each := range found {
		if each.Field == "" || each.Field == "<nil>" || each.Detail == "" && each.Type != field.ErrorTypeDuplicate {
			t.Errorf("a refusal does not say where, or what is wanted: %v", each)
		}
	}
}

func expectNothing(t *testing.T, what string, found field.ErrorList) {
	t.Helper()
	if len(found) > 0 {
		t.Errorf("%s is refused: %v", what, found.ToAggregate())
	}
}
