package chaos

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// moves lets `clusterctl move` bring a cluster to the other management cluster. It does so only with one that is provisioned, all of
// whose machines have Nodes.
func (w *world) moves(c *cluster) {
	if !c.provisioned() || !c.initialized || c.isGoing() {
		return
	}
	for _, m := range c.machines("") {
		if !m.Status.NodeRef.IsDefined() {
			return
		}
	}
	to := w.managements[0]
	if c.of == to {
		to = w.managements[1]
	}
	w.tell("clusterctl", "moves %s to %s", c.name, to.name)
	c.moving = true
	c.pause(true)
	w.after(w.dice.between(0, 20*time.Second), func() { w.waitsToMove(c, to, 3) })
}

// waitsToMove waits until nothing blocks the move.
func (w *world) waitsToMove(c *cluster, to *management, times int) {
	for _, o := range c.objects() {
		if _, blocked := o.GetAnnotations()[clusterctlv1.BlockMoveAnnotation]; !blocked {
			continue
		}
		if times == 0 {
			w.tell("clusterctl", "gives up: %s blocks the move", idOf(o))
			c.moving = false
			c.pause(false)
			return
		}
		w.after(10*time.Second, func() { w.waitsToMove(c, to, times-1) })
		return
	}
	if c.isGoing() {
		w.tell("clusterctl", "gives up: something is being deleted")
		c.moving = false
		c.pause(false)
		return
	}
	w.copies(c, to)
	from := c.of
	w.after(w.dice.between(0, 20*time.Second), func() {
		w.deletesSource(c)
		c.of = to
		w.tell("clusterctl", "deleted what was in %s", from.name)
		w.after(w.dice.between(0, 10*time.Second), func() {
			c.moving = false
			c.pause(false)
		})
	})
}

// isGoing says that something of the cluster is being deleted, or that all of it is gone.
func (c *cluster) isGoing() bool {
	if c.object() == nil {
		return true
	}
	for _, o := range c.objects() {
		if o.GetDeletionTimestamp() != nil {
			return true
		}
	}
	return false
}

// objects are all that is moved, owners first.
func (c *cluster) objects() []client.Object {
	var found []client.Object
	add := func(o client.Object) {
		if c.has(o) {
			found = append(found, o)
		}
	}
	found = append(found, c.object())
	for _, o := range all[*infrav1.MaasCluster](c.of.store) {
		add(o)
	}
	for _, o := range all[*infrav1.MaasMachineTemplate](c.of.store) {
		add(o)
	}
	for _, o := range all[*corev1.Secret](c.of.store) {
		add(o)
	}
	for _, o := range all[*clusterv1.Machine](c.of.store) {
		add(o)
	}
	for _, o := range all[*infrav1.MaasMachine](c.of.store) {
		add(o)
	}
	return found
}

// copies makes all objects in the other management cluster: without status, and with other UIDs.
func (w *world) copies(c *cluster, to *management) {
	uids := map[types.UID]types.UID{}
	for _, o := range c.objects() {
		o = o.DeepCopyObject().(client.Object)
		old := o.GetUID()
		o.SetUID("")
		o.SetResourceVersion("")
		var owners []metav1.OwnerReference
		for _, owner := range o.GetOwnerReferences() {
			owner.UID = uids[owner.UID]
			owners = append(owners, owner)
		}
		o.SetOwnerReferences(owners)
		withoutStatus(o)
		to.store.create(o)
		uids[old] = o.GetUID()
		w.tell("clusterctl", "made %s in %s", idOf(o), to.name)
	}
}

func withoutStatus(o client.Object) {
	switch o := o.(type) {
	case *infrav1.MaasMachine:
		o.Status = infrav1.MaasMachineStatus{}
	case *infrav1.MaasCluster:
		o.Status = infrav1.MaasClusterStatus{}
	case *infrav1.MaasMachineTemplate:
		o.Status = infrav1.MaasMachineTemplateStatus{}
	case *clusterv1.Machine:
		o.Status = clusterv1.MachineStatus{}
	case *clusterv1.Cluster:
		o.Status = clusterv1.ClusterStatus{}
	}
}

// deletesSource deletes what was moved, the last made first.
func (w *world) deletesSource(c *cluster) {
	objects := c.objects()
	for i := len(objects) - 1; i >= 0; i-- {
		c.of.store.patch(objects[i], func(o client.Object) {
			annotations := maps.Clone(o.GetAnnotations())
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[clusterctlv1.DeleteForMoveAnnotation] = ""
			o.SetAnnotations(annotations)
			o.SetFinalizers(nil)
		}, false)
		c.of.store.remove(objects[i])
	}
}
