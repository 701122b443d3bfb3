package chaos

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// deletes brings the deletion of a Machine one step on: it is drained, hooks are waited for, its MaasMachine goes, then its Node.
func (c *cluster) deletes(m *clusterv1.Machine) {
	w := c.w
	if c.drained[m.Name].IsZero() {
		c.drained[m.Name] = w.clock.Now().Add(w.dice.between(0, 90*time.Second))
	}
	infra := find[*infrav1.MaasMachine](c.of.store, m.Name)
	switch {
	case w.clock.Now().Before(c.drained[m.Name]):
	case isHooked(m):
		c.waitsForHook(m)
	case infra != nil && infra.DeletionTimestamp.IsZero():
		w.tell("Cluster API", "deletes MaasMachine %s", m.Name)
		c.of.store.remove(infra)
	case infra != nil:
	default:
		if node := find[*corev1.Node](c.workload, m.Status.NodeRef.Name); node != nil {
			c.workload.remove(node)
		}
		if data := find[*corev1.Secret](c.of.store, m.Name+"-bootstrap"); data != nil {
			c.of.store.remove(data)
		}
		w.tell("Cluster API", "Machine %s is gone", m.Name)
		letGo(c.of.store, m, clusterv1.MachineFinalizer)
	}
}

// waitsForHook says on the Machine since when.
func (c *cluster) waitsForHook(m *clusterv1.Machine) {
	if m.Status.Deletion != nil {
		return
	}
	editStatus(c.of.store, m, func(m *clusterv1.Machine) {
		m.Status.Deletion = &clusterv1.MachineDeletionStatus{WaitForPreTerminateHookStartTime: metav1.NewTime(c.w.clock.Now())}
	})
}

// isHooked says that somebody holds the end of a Machine.
func isHooked(m *clusterv1.Machine) bool {
	for key := range m.Annotations {
		if strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix) {
			return true
		}
	}
	return false
}

func letGo[T client.Object](s *store, o T, finalizer string) {
	edit(s, o, func(o T) { controllerutil.RemoveFinalizer(o, finalizer) })
}

// deleteMachine deletes a Machine.
func (c *cluster) deleteMachine(m *clusterv1.Machine, why string) {
	if m.DeletionTimestamp.IsZero() {
		c.w.tell("Cluster API", "deletes Machine %s: %s", m.Name, why)
		c.of.store.remove(m)
	}
}

// goes brings the deletion of the cluster one step on: the workers first, then the control plane, then what it is made of.
func (c *cluster) goes(object *clusterv1.Cluster) {
	for _, r := range []role{worker, controlPlane} {
		machines := c.machines(r)
		for _, m := range machines {
			c.deleteMachine(m, "the cluster goes")
		}
		if len(machines) > 0 {
			return
		}
	}
	if infra := find[*infrav1.MaasCluster](c.of.store, c.name); infra != nil {
		c.of.store.remove(infra)
		return
	}
	for _, t := range all[*infrav1.MaasMachineTemplate](c.of.store) {
		if c.has(t) {
			c.of.store.remove(t)
		}
	}
	c.w.tell("Cluster API", "cluster %s is gone", c.name)
	letGo(c.of.store, object, clusterv1.ClusterFinalizer)
}
