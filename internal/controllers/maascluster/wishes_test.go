package maascluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func TestWishesOfACluster(t *testing.T) {
	t.Parallel()
	yes, now := true, metav1.Now()
	object := &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"},
		Spec:       infrav1.MaasClusterSpec{DNSDomain: "maas", FailureDomains: []string{"z1", "z2"}},
	}
	machine := func(name string, change func(*infrav1.MaasMachine)) infrav1.MaasMachine {
		m := infrav1.MaasMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{
			{Kind: "Machine", Name: "owner-of-" + name},
		}}}
		m.Spec = infrav1.MaasMachineSpec{Image: "i-" + name, FailureDomain: "z-" + name}
		if change != nil {
			change(&m)
		}
		return m
	}
	wishes := wishesOf(object,
		[]infrav1.MaasMachineTemplate{
			*template("b", infrav1.MaasMachineSpec{Image: "i-b", ResourcePool: "p-b", Architecture: "arm64"}),
			*template("a", infrav1.MaasMachineSpec{Image: "i-a", FailureDomain: "z-a"}),
		},
		[]infrav1.MaasMachine{
			machine("waits", nil),
			machine("placed", nil),
			machine("runs", func(m *infrav1.MaasMachine) { m.Status.Initialization.Provisioned = &yes }),
			machine("goes", func(m *infrav1.MaasMachine) { m.DeletionTimestamp = &now }),
		},
		map[string]clusterv1.Machine{
			"owner-of-waits":  {},
			"owner-of-placed": {ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner-of-placed"}, Spec: clusterv1.MachineSpec{FailureDomain: "z-owner"}},
		})
	var got []string
	for _, w := range wishes.Zones {
		got = append(got, w.Name+" "+w.By+", "+w.In)
	}
	for _, w := range wishes.Pools {
		got = append(got, w.Name+" "+w.By+", "+w.In)
	}
	for _, w := range wishes.Images {
		got = append(got, strings.TrimSpace(w.Name+" "+w.By+", "+w.In+" "+w.Architecture))
	}
	want := []string{
		"z1 spec.failureDomains of this MaasCluster, there",
		"z2 spec.failureDomains of this MaasCluster, there",
		"z-a spec.template.spec.failureDomain of MaasMachineTemplate default/a, in a new MaasMachineTemplate",
		"z-owner spec.failureDomain of Machine default/owner-of-placed, in its MachineDeployment",
		"z-waits spec.failureDomain of MaasMachine default/waits, in a new MaasMachineTemplate",
		"p-b spec.template.spec.resourcePool of MaasMachineTemplate default/b, in a new MaasMachineTemplate",
		"i-a spec.template.spec.image of MaasMachineTemplate default/a, in a new MaasMachineTemplate",
		"i-b spec.template.spec.image of MaasMachineTemplate default/b, in a new MaasMachineTemplate arm64",
		"i-placed spec.image of MaasMachine default/placed, in a new MaasMachineTemplate",
		"i-waits spec.image of MaasMachine default/waits, in a new MaasMachineTemplate",
	}
	if !slices.Equal(got, want) {
		t.Errorf("wishes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	domain := func(host string, kind infrav1.EndpointKind) string {
		object.Spec.ControlPlaneEndpoint.Host, object.Spec.ControlPlaneEndpointKind = host, kind
		return wishesOf(object, nil, nil, nil).Domain
	}
	if got := fmt.Sprint(domain("", ""), " ", domain("c1-abc.k8s.example", infrav1.EndpointMaasDNS), " ", domain("api.example", infrav1.EndpointExternal)); got != "maas k8s.example " {
		t.Errorf("domains %q", got)
	}
}
