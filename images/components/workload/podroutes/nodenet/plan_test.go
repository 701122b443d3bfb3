package nodenet

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func node(name, address string, podCIDRs ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if address != "" {
		n.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeHostName, Address: name},
			{Type: corev1.NodeInternalIP, Address: address},
		}
	}
	if len(podCIDRs) > 0 {
		n.Spec.PodCIDR = podCIDRs[0]
		n.Spec.PodCIDRs = podCIDRs
	}
	return n
}

func TestRoutesLeadToEveryOtherNodeThatIsReady(t *testing.T) {
	t.Parallel()
	to := func(prefix, via string) Route {
		return Route{Destination: netip.MustParsePrefix(prefix), Via: netip.MustParseAddr(via)}
	}
	self := node("a", "10.0.0.1", "10.244.0.0/24")
	for name, test := range map[string]struct {
		others []*corev1.Node
		want   []Route
	}{
		"alone": {},
		"two others, in the order of their ranges": {
			others: []*corev1.Node{node("c", "10.0.0.3", "10.244.2.0/24"), node("b", "10.0.0.2", "10.244.1.0/24")},
			want:   []Route{to("10.244.1.0/24", "10.0.0.2"), to("10.244.2.0/24", "10.0.0.3")},
		},
		"one without a pod range":               {others: []*corev1.Node{node("b", "10.0.0.2")}},
		"one without an address":                {others: []*corev1.Node{node("b", "", "10.244.1.0/24")}},
		"one with an address of version 6":      {others: []*corev1.Node{node("b", "fd00::2", "10.244.1.0/24")}},
		"one with ranges of both IP versions":   {others: []*corev1.Node{node("b", "10.0.0.2", "fd00:1::/64", "10.244.1.0/24")}, want: []Route{to("10.244.1.0/24", "10.0.0.2")}},
		"one whose range has host bits set":     {others: []*corev1.Node{node("b", "10.0.0.2", "10.244.1.7/24")}, want: []Route{to("10.244.1.0/24", "10.0.0.2")}},
		"one whose range cannot be read at all": {others: []*corev1.Node{node("b", "10.0.0.2", "nonsense")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := Compute("a", append(test.others, self))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(plan.Routes, test.want) {
				t.Errorf("routes %v, want %v", plan.Routes, test.want)
			}
		})
	}
}

func TestANodeWithoutAPodRangeHasNoPlan(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string][]*corev1.Node{
		"not there":    {node("b", "10.0.0.2", "10.244.1.0/24")},
		"no range yet": {node("a", "10.0.0.1")},
	} {
		if _, err := Compute("a", nodes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestConflistGivesOutTheNodesOwnRange(t *testing.T) {
	t.Parallel()
	plan, err := Compute("a", []*corev1.Node{node("a", "10.0.0.1", "10.244.3.0/24")})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Plugins []struct {
			Type string
			IPAM struct{ Ranges [][]struct{ Subnet string } }
		}
	}
	if err := json.Unmarshal(plan.Conflist, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Plugins) != 2 || list.Plugins[0].Type != "ptp" || list.Plugins[1].Type != "portmap" {
		t.Fatalf("plugins %+v", list.Plugins)
	}
	if got := list.Plugins[0].IPAM.Ranges[0][0].Subnet; got != "10.244.3.0/24" {
		t.Errorf("subnet %s", got)
	}
}

func TestRulesKeepTrafficInsideTheClusterAsItIs(t *testing.T) {
	t.Parallel()
	plan, err := Compute("a", []*corev1.Node{node("a", "10.0.0.1", "10.244.0.0/24"), node("b", "10.0.0.2", "10.244.1.0/24")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"elements = { 10.0.0.1, 10.0.0.2, 10.244.0.0/24, 10.244.1.0/24 }",
		"ip saddr 10.244.0.0/24 ip daddr != 224.0.0.0/4 ip daddr != @inside masquerade",
	} {
		if !strings.Contains(plan.Rules, want) {
			t.Errorf("%q is not in\n%s", want, plan.Rules)
		}
	}
}

func TestOnlyChangesOfRangeOrAddressMakeNodesDiffer(t *testing.T) {
	t.Parallel()
	before := node("a", "10.0.0.1", "10.244.0.0/24")
	labelled := before.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	for name, test := range map[string]struct {
		after *corev1.Node
		want  bool
	}{
		"a label":        {labelled, false},
		"an address":     {node("a", "10.0.0.9", "10.244.0.0/24"), true},
		"a pod range":    {node("a", "10.0.0.1", "10.244.9.0/24"), true},
		"no pod range":   {node("a", "10.0.0.1"), true},
		"nothing at all": {before, false},
	} {
		if got := Differ(before, test.after); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
