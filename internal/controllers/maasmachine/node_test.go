package maasmachine

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestNodeOf(t *testing.T) {
	t.Parallel()
	const ours = "maas:///z1/aaaaa1"
	m := &maas.Machine{SystemID: "aaaaa1", Hostname: "Node-1", FQDN: "Node-1.maas", HardwareUUID: "4C4C4544-0001", IPAddresses: []string{"10.0.0.1", "10.1.0.1"}}
	noAddresses := *m
	noAddresses.IPAddresses = nil
	node := func(name string, change ...func(*corev1.Node)) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(time.Minute))}}
		for _, c := range change {
			c(&n)
		}
		return n
	}
	address := func(ip string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
		}
	}
	uuid := func(id string) func(*corev1.Node) { return func(n *corev1.Node) { n.Status.NodeInfo.SystemUUID = id } }
	old := func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour)) }
	reported := func(d time.Duration) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, LastHeartbeatTime: metav1.NewTime(noon.Add(d))}}
		}
	}
	providerID := func(id string) func(*corev1.Node) { return func(n *corev1.Node) { n.Spec.ProviderID = id } }
	for name, test := range map[string]struct {
		nodes   []corev1.Node
		machine *maas.Machine
		want    string
	}{
		"none":                                    {nil, m, ""},
		"by address, whatever the name":           {[]corev1.Node{node("x"), node("y", address("10.1.0.1"))}, m, "y"},
		"by system UUID, in any case":             {[]corev1.Node{node("x", uuid("4c4c4544-0001")), node("y", uuid("other"))}, m, "x"},
		"a UUID that two Nodes share is nothing":  {[]corev1.Node{node("x", uuid("4c4c4544-0001")), node("y", uuid("4c4c4544-0001"))}, m, "one of x, y"},
		"a UUID with another machine's address":   {[]corev1.Node{node("x", uuid("4c4c4544-0001"), address("10.9.9.9"))}, m, ""},
		"the address beats the UUID":              {[]corev1.Node{node("x", uuid("4c4c4544-0001")), node("y", address("10.0.0.1"))}, m, "y"},
		"the address beats the name":              {[]corev1.Node{node("node-1"), node("y", address("10.0.0.1"))}, m, "y"},
		"by short name, in lower case":            {[]corev1.Node{node("node-1"), node("node-2")}, m, "node-1"},
		"by full name, in lower case":             {[]corev1.Node{node("node-1.maas")}, m, "node-1.maas"},
		"a name that only begins alike":           {[]corev1.Node{node("node-10")}, m, ""},
		"a machine without UUID matches none":     {[]corev1.Node{node("x")}, &maas.Machine{Hostname: "m"}, ""},
		"shared UUID, but the name tells":         {[]corev1.Node{node("x", uuid("4c4c4544-0001")), node("node-1", uuid("4c4c4544-0001"))}, &noAddresses, "node-1"},
		"older than the claim: a previous life":   {[]corev1.Node{node("node-1", address("10.0.0.1"), old, reported(-time.Minute))}, m, ""},
		"registered before, but alive since":      {[]corev1.Node{node("node-1", address("10.0.0.1"), old, reported(time.Minute))}, m, "node-1"},
		"the previous life does not hide the new": {[]corev1.Node{node("dead", address("10.0.0.1"), old), node("new", address("10.0.0.1"))}, m, "new"},
		"two with our address: no evidence":       {[]corev1.Node{node("b", address("10.0.0.1")), node("a", address("10.0.0.1"))}, m, "one of a, b"},
		"with our provider ID, however old":       {[]corev1.Node{node("node-1"), node("z", old, providerID(ours))}, m, "z"},
		"with another provider ID: a conflict":    {[]corev1.Node{node("node-1", address("10.0.0.1"), providerID("maas:///z1/bbbbb2"))}, m, "node-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			n, rivals := nodeOf(test.nodes, test.machine, ours, noon)
			if n != nil {
				got = n.Name
			}
			if len(rivals) > 0 {
				got = "one of " + strings.Join(rivals, ", ")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTokenSaysWhenTheClaimWasMade(t *testing.T) {
	t.Parallel()
	if got := claimedAt(newToken(noon, "ABC")); !got.Equal(noon) {
		t.Errorf("got %s", got)
	}
	for _, other := range []string{"", "capmaas-", "capmaas-x-y", "1772366400-abc", "capmaas-1772366400"} {
		if !claimedAt(other).IsZero() {
			t.Errorf("%q says %s", other, claimedAt(other))
		}
	}
}

func TestAddressThatCounts(t *testing.T) {
	t.Parallel()
	link := func(ip, subnet, cidr string) maas.Link {
		return maas.Link{IPAddress: ip, Subnet: &maas.Subnet{Name: subnet, CIDR: cidr}}
	}
	eno1 := maas.Interface{Name: "eno1", Links: []maas.Link{{}, link("10.0.0.1", "lan", "10.0.0.0/24")}}
	eno2 := maas.Interface{Name: "eno2", Links: []maas.Link{link("10.1.0.1", "storage", "10.1.0.0/24"), link("10.2.0.1", "public", "10.2.0.0/24")}}
	m := &maas.Machine{BootInterface: &eno1, Interfaces: []maas.Interface{eno2, eno1}, IPAddresses: []string{"10.1.0.1", "10.2.0.1", "10.0.0.1"}}
	bonded := &maas.Machine{BootInterface: &maas.Interface{Name: "eno1"}, IPAddresses: []string{"10.3.0.1"}}
	for name, test := range map[string]struct {
		m    *maas.Machine
		from infrav1.AddressSelector
		want string
	}{
		"that of the boot interface":              {m, infrav1.AddressSelector{}, "10.0.0.1"},
		"of the subnet, by name":                  {m, infrav1.AddressSelector{Subnet: "public"}, "10.2.0.1"},
		"of the subnet, by CIDR":                  {m, infrav1.AddressSelector{Subnet: "10.1.0.0/24"}, "10.1.0.1"},
		"of the interface":                        {m, infrav1.AddressSelector{Interface: "eno2"}, "10.1.0.1"},
		"of the interface in the subnet":          {m, infrav1.AddressSelector{Interface: "eno2", Subnet: "public"}, "10.2.0.1"},
		"what was chosen is not there":            {m, infrav1.AddressSelector{Interface: "eno1", Subnet: "public"}, ""},
		"the boot interface is a part of a bond":  {bonded, infrav1.AddressSelector{}, "10.3.0.1"},
		"no address yet":                          {&maas.Machine{BootInterface: &maas.Interface{Links: []maas.Link{{}}}}, infrav1.AddressSelector{}, ""},
		"nothing at all is known of its networks": {&maas.Machine{}, infrav1.AddressSelector{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := addressThatCounts(test.m, test.from); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	all := addressesOf(&maas.Machine{BootInterface: &eno1, IPAddresses: m.IPAddresses, Hostname: "m1", FQDN: "m1.maas"}, infrav1.AddressSelector{})
	if len(all) != 5 || all[0].Address != "10.0.0.1" || all[3].Address != "m1" || all[4].Address != "m1.maas" {
		t.Errorf("%+v", all)
	}
}
