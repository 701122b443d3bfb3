// Package nodenet says what the network of one node must look like, so that the pods of all nodes reach each other: the decisions of
// podroutes. It is apart because its tests then need no client of Kubernetes, which takes a minute to compile.
package nodenet

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Route says through which node's address a pod range is reached.
type Route struct {
	Destination netip.Prefix
	Via         netip.Addr
}

// Plan is what one node's network must look like.
type Plan struct {
	// Conflist is the configuration file of the network plugins.
	Conflist []byte
	// Routes lead to the pods of all other nodes, ordered by destination.
	Routes []Route
	// Rules is an nftables script that masquerades what pods send out of the cluster, and nothing that stays inside.
	Rules string
}

// Compute derives the plan of the node named self from all nodes of the cluster. Nodes that have no IPv4 pod range or
// address yet are left out; if self is one of them, that is an error.
func Compute(self string, nodes []*corev1.Node) (Plan, error) {
	var plan Plan
	var own netip.Prefix
	var inside []string
	for _, node := range nodes {
		pods, hasPods := podRange(node)
		address, hasAddress := internalAddress(node)
		if hasAddress {
			inside = append(inside, address.String())
		}
		if hasPods {
			inside = append(inside, pods.String())
		}
		switch {
		case node.Name == self:
			own = pods
		case hasPods && hasAddress:
			plan.Routes = append(plan.Routes, Route{Destination: pods, Via: address})
		}
	}
	if !own.IsValid() {
		return Plan{}, fmt.Errorf("node %q has no IPv4 pod range yet", self)
	}
	slices.SortFunc(plan.Routes, func(a, b Route) int { return a.Destination.Addr().Compare(b.Destination.Addr()) })
	slices.Sort(inside)
	plan.Rules = masqueradeRules(own, inside)
	var err error
	plan.Conflist, err = conflist(own)
	return plan, err
}

// Differ says whether a change of a node can change the plan of any node.
func Differ(before, after *corev1.Node) bool {
	oldPods, _ := podRange(before)
	newPods, _ := podRange(after)
	oldAddress, _ := internalAddress(before)
	newAddress, _ := internalAddress(after)
	return oldPods != newPods || oldAddress != newAddress
}

func podRange(node *corev1.Node) (netip.Prefix, bool) {
	for _, cidr := range append([]string{node.Spec.PodCIDR}, node.Spec.PodCIDRs...) {
		if prefix, err := netip.ParsePrefix(cidr); err == nil && prefix.Addr().Is4() {
			return prefix.Masked(), true
		}
	}
	return netip.Prefix{}, false
}

func internalAddress(node *corev1.Node) (netip.Addr, bool) {
	for _, address := range node.Status.Addresses {
		if address.Type != corev1.NodeInternalIP {
			continue
		}
		if ip, err := netip.ParseAddr(address.Address); err == nil && ip.Is4() {
			return ip, true
		}
	}
	return netip.Addr{}, false
}

func conflist(pods netip.Prefix) ([]byte, error) {
	type object = map[string]any
	return json.MarshalIndent(object{
		"cniVersion": "1.0.0",
		"name":       "pod-routes",
		"plugins": []object{{
			"type": "ptp",
			"ipam": object{
				"type":   "host-local",
				"ranges": [][]object{{{"subnet": pods.String()}}},
				"routes": []object{{"dst": "0.0.0.0/0"}},
			},
		}, {
			"type":         "portmap",
			"capabilities": object{"portMappings": true},
		}},
	}, "", "  ")
}

// masqueradeRules replaces our own table as a whole; naming it before the delete lets the script pass when there is none.
func masqueradeRules(pods netip.Prefix, inside []string) string {
	return strings.Join([]string{
		"table ip pod-routes",
		"delete table ip pod-routes",
		"table ip pod-routes {",
		"  set inside {",
		"    type ipv4_addr",
		"    flags interval",
		"    auto-merge",
		"    elements = { " + strings.Join(inside, ", ") + " }",
		"  }",
		"  chain postrouting {",
		"    type nat hook postrouting priority srcnat; policy accept;",
		"    ip saddr " + pods.String() + " ip daddr != 224.0.0.0/4 ip daddr != @inside masquerade",
		"  }",
		"}",
		"",
	}, "\n")
}
