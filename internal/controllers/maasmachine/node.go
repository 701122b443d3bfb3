package maasmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// observeNode finds the Node of a deployed machine.
func (r *Reconciler) observeNode(ctx context.Context, o *observation) {
	o.node = nodeLink{}
	if o.cluster == nil || o.standing != holdsOurs || !o.provisioned() || o.deleting() {
		return
	}
	key := client.ObjectKeyFromObject(o.cluster)
	nodes := &corev1.NodeList{}
	workload, err := r.ClusterCache.GetClient(ctx, key)
	if err == nil {
		if err = r.watchNodes(ctx, key); err == nil {
			err = workload.List(ctx, nodes)
		}
	}
	if err != nil {
		o.node.unreachable = true
		return
	}
	o.node.node, o.node.rivals = nodeOf(nodes.Items, o.machine, o.object.Spec.ProviderID, claimedAt(o.token()))
}

// linkNodeOf gives a Node its provider ID. Kubernetes lets it be set once, so nobody else's is overwritten.
func (r *Reconciler) linkNodeOf(ctx context.Context, o *observation) error {
	workload, err := r.ClusterCache.GetClient(ctx, client.ObjectKeyFromObject(o.cluster))
	if errors.Is(err, clustercache.ErrClusterNotConnected) {
		return fmt.Errorf("the workload cluster is not connected: %w", err)
	}
	if err != nil {
		return err
	}
	node := o.node.node.DeepCopy()
	before := client.MergeFrom(o.node.node.DeepCopy())
	node.Spec.ProviderID = o.object.Spec.ProviderID
	if err := workload.Patch(ctx, node, before); err != nil {
		return fmt.Errorf("set the provider ID of Node %s: %w", node.Name, err)
	}
	return nil
}

// nodeOf finds the Node of a machine: by its provider ID, else by address or system UUID, else by name. A Node that showed no
// life since the claim is one that the same hardware, or the same name, had before. Where several match, their names are returned.
func nodeOf(nodes []corev1.Node, m *maas.Machine, providerID string, claimed time.Time) (node *corev1.Node, rivals []string) {
	for i := range nodes {
		if nodes[i].Spec.ProviderID == providerID {
			return &nodes[i], nil
		}
	}
	var alive []*corev1.Node
	for i := range nodes {
		if !lastSignOfLife(&nodes[i]).Before(claimed) {
			alive = append(alive, &nodes[i])
		}
	}
	for _, matches := range []func(*corev1.Node, *maas.Machine) bool{sameAddress, sameUUID, sameName} {
		var found []*corev1.Node
		for _, node := range alive {
			if matches(node, m) {
				found = append(found, node)
			}
		}
		// What several Nodes share is no evidence.
		if len(found) == 1 {
			return found[0], nil
		}
		if rivals == nil {
			for _, node := range found {
				rivals = append(rivals, node.Name)
			}
			slices.Sort(rivals)
		}
	}
	return nil, rivals
}

func sameAddress(node *corev1.Node, m *maas.Machine) bool {
	return slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalIP && slices.Contains(m.IPAddresses, a.Address)
	})
}

// sameUUID compares what the firmware says. Machines of one maker may share a UUID, and containers share their host's: where
// the Node has addresses, of which none is the machine's, the UUID proves nothing.
func sameUUID(node *corev1.Node, m *maas.Machine) bool {
	if m.HardwareUUID == "" || !strings.EqualFold(node.Status.NodeInfo.SystemUUID, m.HardwareUUID) {
		return false
	}
	elsewhere := len(m.IPAddresses) > 0 && slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalIP
	})
	return !elsewhere
}

// sameName compares names as kubelet writes them: in lower case, short or with the domain.
func sameName(node *corev1.Node, m *maas.Machine) bool {
	name := strings.ToLower(node.Name)
	return name != "" && (name == strings.ToLower(m.Hostname) || name == strings.ToLower(m.FQDN))
}

// lastSignOfLife is when a Node registered, or reported last.
func lastSignOfLife(node *corev1.Node) time.Time {
	last := node.CreationTimestamp.Time
	for _, c := range node.Status.Conditions {
		if c.LastHeartbeatTime.After(last) {
			last = c.LastHeartbeatTime.Time
		}
	}
	return last
}

// newToken makes a claim: when it was made, and something that nobody guesses.
func newToken(now time.Time, random string) string {
	return fmt.Sprintf("capmaas-%d-%s", now.Unix(), strings.ToLower(random))
}

// claimedAt is when a claim was made; the zero time if it does not say.
func claimedAt(token string) time.Time {
	rest, ours := strings.CutPrefix(token, "capmaas-")
	seconds, _, found := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if !ours || !found || err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}
