package follow

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// Glance is a table of all machines that MAAS has, with the MaasMachines that claimed them and what the Nodes say. gone
// says that the sandbox's cluster does not exist, which the table's end tells too.
func Glance(ctx context.Context, l host.Layout) (text string, gone bool, err error) {
	snapshot, err := management.NewControl(l).Snapshot(ctx)
	if err != nil {
		return "", false, err
	}
	claims, gone, trouble := claimed(ctx, l)
	nodes := nodesOf(ctx, l)
	sort.Slice(snapshot.Machines, func(i, j int) bool { return snapshot.Machines[i].Hostname < snapshot.Machines[j].Hostname })
	var failures string
	cells := [][]string{{"HOST", "SYSTEM ID", "ZONE", "STATE", "POWER", "ADDRESS", "MAASMACHINE", "NODE READY", "WAITING FOR"}}
	for _, m := range snapshot.Machines {
		line := []string{m.Hostname, m.SystemID, m.Zone, m.StatusName, m.PowerState, strings.Join(m.Addresses, ","), "", cmp.Or(nodes[m.SystemID], nodes[m.Hostname]), ""}
		if claim, ok := claims[m.SystemID]; ok {
			line[6], line[8] = claim.Name, waitsFor(claim, m)
		}
		if words := machines.BootstrapFailure(l.Disk(m.SystemID)); len(words) > 0 && m.PowerState == "on" {
			line[8] = "cloud-init failed, see below"
			failures += fmt.Sprintf("cloud-init failed in %s (more: %s):\n  %s\n", m.Hostname, l.Command("logs", m.Hostname), strings.Join(words, "\n  "))
		}
		cells = append(cells, line)
	}
	out := strings.Join(layOut(cells), "\n") + "\n"
	for _, r := range snapshot.DNSResources {
		out += fmt.Sprintf("DNS  %s -> %s\n", r.FQDN, orDash(strings.Join(r.Addresses, " ")))
	}
	out += failures
	if gone {
		out += fmt.Sprintf("there is no cluster %s; make it with: make sandbox\n", ClusterName)
	}
	if trouble != nil {
		out += fmt.Sprintf("the management cluster does not answer: %s\n", trouble)
	}
	return out, gone, nil
}

// claimed are the MaasMachines by system ID. gone says that the sandbox's cluster does not exist.
func claimed(ctx context.Context, l host.Layout) (out map[string]infrav1.MaasMachine, gone bool, err error) {
	out = map[string]infrav1.MaasMachine{}
	scheme, err := newScheme()
	if err != nil {
		return out, false, err
	}
	c, err := connect(l.ManagementKubeconfig(), scheme, 5*time.Second)
	if err != nil {
		return out, false, err
	}
	err = c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: ClusterName}, &clusterv1.Cluster{})
	gone = apierrors.IsNotFound(err)
	if err != nil && !gone {
		return out, false, err
	}
	list := &infrav1.MaasMachineList{}
	if err := c.List(ctx, list); err != nil {
		return out, gone, err
	}
	for _, m := range list.Items {
		if m.Spec.SystemID != "" {
			out[m.Spec.SystemID] = m
		}
	}
	return out, gone, nil
}

// nodesOf says of the Nodes whether they are Ready, by name; nothing when the workload cluster does not answer.
func nodesOf(ctx context.Context, l host.Layout) map[string]string {
	out := map[string]string{}
	scheme, err := newScheme()
	if err != nil {
		return out
	}
	c, err := connect(l.WorkloadKubeconfig(ClusterName), scheme, 3*time.Second)
	if err != nil {
		return out
	}
	list := &corev1.NodeList{}
	if err := c.List(ctx, list, client.Limit(500)); err != nil {
		return out
	}
	for _, node := range list.Items {
		out[node.Name] = string(nodeReady(node))
		if id, ok := infrav1.SystemIDOf(node.Spec.ProviderID); ok {
			out[id] = out[node.Name]
		}
	}
	return out
}
