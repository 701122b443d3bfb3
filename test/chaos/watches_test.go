package chaos

import (
	"encoding/json"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// watches raises the reconciles that the controllers' watches would.
func (g *management) watches(id objectKey, before, after client.Object) {
	m := g.manager
	if m == nil || m.dead() {
		return
	}
	delay := g.lag + g.w.dice.between(0, 500*time.Millisecond)
	raise := func(kind, name string) { m.enqueue(item{kind, name}, delay) }
	object := after
	if object == nil {
		object = before
	}
	switch o := object.(type) {
	case *infrav1.MaasMachine:
		if differs(before, after, ofMachineItself) {
			raise("MaasMachine", o.Name)
		}
		if differs(before, after, ofMachineForCluster) {
			raise("MaasCluster", o.Labels[clusterv1.ClusterNameLabel])
		}
	case *infrav1.MaasCluster:
		raise("MaasCluster", o.Name)
		if differs(before, after, ofMaasCluster) {
			g.raisesOf(o.Name, delay)
		}
	case *infrav1.MaasMachineTemplate:
		raise("MaasMachineTemplate", o.Name)
	case *clusterv1.Machine:
		if differs(before, after, ofOwner) {
			raise("MaasMachine", o.Name)
		}
	case *clusterv1.Cluster:
		if differs(before, after, ofCluster) {
			raise("MaasCluster", o.Name)
			g.raisesOf(o.Name, delay)
			for _, r := range roles {
				raise("MaasMachineTemplate", o.Name+"-"+string(r))
			}
		}
	}
}

// raises reconciles all of a cluster, and raisesMachines its machines.
func (g *management) raises(c *cluster, in time.Duration) {
	if m := g.manager; m != nil && !m.dead() {
		m.enqueue(item{"MaasCluster", c.name}, in)
		g.raisesOf(c.name, in)
	}
}

func (g *management) raisesMachines(c *cluster) {
	if c.connected() {
		g.raisesOf(c.name, 0)
	}
}

func (g *management) raisesOf(cluster string, in time.Duration) {
	m := g.manager
	if m == nil || m.dead() {
		return
	}
	for _, o := range all[*infrav1.MaasMachine](g.store) {
		if o.Labels[clusterv1.ClusterNameLabel] == cluster {
			m.enqueue(item{"MaasMachine", o.Name}, in)
		}
	}
}

// differs says whether something of two versions does.
func differs(before, after client.Object, what func(client.Object) any) bool {
	if before == nil || after == nil {
		return true
	}
	was, err := json.Marshal(what(before))
	is, err2 := json.Marshal(what(after))
	return err != nil || err2 != nil || string(was) != string(is)
}

func ofMachineItself(o client.Object) any {
	m := o.(*infrav1.MaasMachine).DeepCopy()
	delete(m.Annotations, infrav1.ClaimAttemptAnnotation)
	m.ResourceVersion = ""
	return m
}

func ofMachineForCluster(o client.Object) any {
	m := o.(*infrav1.MaasMachine)
	return []any{
		m.DeletionTimestamp, m.Spec.SystemID, m.Status.Addresses, conditions.IsTrue(m, infrav1.MachineDNSAttachedCondition),
		conditions.GetReason(m, infrav1.MachineAllocatedCondition),
	}
}

func ofMaasCluster(o client.Object) any {
	c := o.(*infrav1.MaasCluster)
	return []any{c.Spec, c.DeletionTimestamp}
}

func ofOwner(o client.Object) any {
	m := o.(*clusterv1.Machine)
	return []any{m.Spec, m.Annotations, m.DeletionTimestamp, conditions.IsTrue(m, "APIServerPodHealthy")}
}

func ofCluster(o client.Object) any {
	c := o.(*clusterv1.Cluster)
	return []any{
		c.Spec, c.Annotations, c.DeletionTimestamp, c.Status.Initialization, conditions.IsTrue(c, clusterv1.ClusterControlPlaneInitializedCondition),
	}
}
