package chaos

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// cluster is a workload cluster, and the part of Cluster API that cares for it.
type cluster struct {
	w        *world
	plan     clusterPlan
	name     string
	of       *management // where its objects are
	workload *store

	initialized bool
	reached     bool // the management cluster was connected to it when that was looked at last
	lastHost    string
	made        int // Machines, so far
	// wanted is how many machines there are to be of each role, and generation which template they are to be of.
	wanted     map[role]int
	generation map[role]int
	ill        map[string]time.Time // since when a Machine is
	drained    map[string]time.Time // when one that is deleted will be
	moving     bool                 // clusterctl is at it
}

// role is what a machine is for.
type role string

const (
	controlPlane role = "cp"
	worker       role = "w"
)

var roles = []role{controlPlane, worker}

// begins makes a cluster's objects.
func (c *cluster) begins() {
	c.w.tell("user", "makes cluster %s: %+v", c.name, c.plan)
	owner := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: c.name, UID: uid(c.w.uids + 1)}
	labels := map[string]string{clusterv1.ClusterNameLabel: c.name}
	c.of.store.create(&clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: c.name, Finalizers: []string{clusterv1.ClusterFinalizer}},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: c.name,
		}},
	})
	spec := infrav1.MaasClusterSpec{DNSDomain: "maas", FailureDomains: c.plan.zones}
	if !c.plan.managed {
		spec.ControlPlaneEndpointKind, spec.ControlPlaneEndpoint = infrav1.EndpointExternal, infrav1.APIEndpoint{Host: c.name + ".vip.example.com", Port: 6443}
	}
	c.of.store.create(&infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Name: c.name, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}}, Spec: spec,
	})
	for _, r := range roles {
		c.of.store.create(&infrav1.MaasMachineTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: c.name + "-" + string(r), Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec:       infrav1.MaasMachineTemplateSpec{Template: infrav1.MaasMachineTemplateResource{Spec: c.plan.spec(r)}},
		})
	}
}

// ticks is one round of Cluster API, and of the cluster itself.
func (c *cluster) ticks() bool {
	object := c.object()
	if object == nil {
		return false
	}
	c.w.tell("Cluster API", "looks at %s", c.name)
	c.kubelets()
	if reached := c.connected(); reached != c.reached {
		c.reached = reached
		c.of.raises(c, 0)
	}
	if c.moving || object.Spec.Paused != nil && *object.Spec.Paused {
		return true
	}
	c.looksAtInfrastructure(object)
	for _, m := range c.machines("") {
		c.cares(m)
	}
	if !object.DeletionTimestamp.IsZero() {
		c.goes(object)
		return true
	}
	if c.provisioned() && !c.isLost() {
		c.scalesControlPlane()
		c.scalesWorkers()
	}
	return true
}

func (c *cluster) object() *clusterv1.Cluster { return find[*clusterv1.Cluster](c.of.store, c.name) }

func (c *cluster) provisioned() bool {
	p := c.object().Status.Initialization.InfrastructureProvisioned
	return p != nil && *p
}

// has says that an object is the cluster's.
func (c *cluster) has(o metav1.Object) bool {
	return o.GetLabels()[clusterv1.ClusterNameLabel] == c.name
}

// machines lists the Machines of a role, the oldest first; "" is for all.
func (c *cluster) machines(r role) []*clusterv1.Machine {
	var found []*clusterv1.Machine
	for _, m := range all[*clusterv1.Machine](c.of.store) {
		if c.has(m) && (r == "" || roleOf(m) == r) {
			found = append(found, m)
		}
	}
	return found
}

func roleOf(m metav1.Object) role {
	if _, is := m.GetLabels()[clusterv1.MachineControlPlaneLabel]; is {
		return controlPlane
	}
	return worker
}

// leaves says that a MaasMachine's Machine is deleted, or is not there.
func (c *cluster) leaves(o *infrav1.MaasMachine) bool {
	m := find[*clusterv1.Machine](c.of.store, o.Name)
	return m == nil || !m.DeletionTimestamp.IsZero()
}

// looksAtInfrastructure takes over what the MaasCluster says.
func (c *cluster) looksAtInfrastructure(object *clusterv1.Cluster) {
	infra := find[*infrav1.MaasCluster](c.of.store, c.name)
	if infra == nil || !object.DeletionTimestamp.IsZero() {
		return
	}
	if p := infra.Status.Initialization.Provisioned; p != nil && *p && !c.provisioned() {
		edit(c.of.store, object, func(o *clusterv1.Cluster) {
			o.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: infra.Spec.ControlPlaneEndpoint.Host, Port: infra.Spec.ControlPlaneEndpoint.Port}
		})
		editStatus(c.of.store, object, func(o *clusterv1.Cluster) { o.Status.Initialization.InfrastructureProvisioned = p })
	}
	if is := object.Status.Initialization.ControlPlaneInitialized; c.initialized && (is == nil || !*is) {
		editStatus(c.of.store, object, func(o *clusterv1.Cluster) {
			yes := true
			o.Status.Initialization.ControlPlaneInitialized = &yes
			o.Status.Conditions = []metav1.Condition{{
				Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
				LastTransitionTime: metav1.NewTime(c.w.clock.Now()),
			}}
		})
	}
}

// makes makes a Machine of the present template.
func (c *cluster) makes(r role) {
	w := c.w
	c.made++
	name := c.name + "-" + string(r) + "-" + number(c.made)
	w.tell("Cluster API", "makes Machine %s", name)
	labels := map[string]string{clusterv1.ClusterNameLabel: c.name, generationLabel: number(c.generation[r])}
	m := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Finalizers: []string{clusterv1.MachineFinalizer}},
		Spec: clusterv1.MachineSpec{ClusterName: c.name, InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasMachine", Name: name,
		}},
	}
	if r == controlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
		if len(c.plan.zones) > 0 {
			m.Spec.FailureDomain = c.plan.zones[c.made%len(c.plan.zones)]
		}
	}
	c.of.store.create(m)
	c.of.store.create(&infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: name, UID: m.UID,
		}}},
		Spec: c.plan.spec(r),
	})
}

const generationLabel = "generation"

// cares is what Cluster API does for a Machine.
func (c *cluster) cares(m *clusterv1.Machine) {
	if !m.DeletionTimestamp.IsZero() {
		c.deletes(m)
		return
	}
	infra := find[*infrav1.MaasMachine](c.of.store, m.Name)
	if m.Spec.Bootstrap.DataSecretName == nil && c.mayBootstrap(m) && c.w.dice.chance(60) {
		name := m.Name + "-bootstrap"
		c.of.store.create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: c.name}},
			Data:       map[string][]byte{"value": []byte(bootstrapData(c.name, m.Name)), "format": []byte("cloud-config")},
		})
		edit(c.of.store, m, func(m *clusterv1.Machine) { m.Spec.Bootstrap.DataSecretName = &name })
	}
	if infra == nil {
		return
	}
	if p := infra.Status.Initialization.Provisioned; p != nil && *p && m.Spec.ProviderID != infra.Spec.ProviderID {
		edit(c.of.store, m, func(m *clusterv1.Machine) { m.Spec.ProviderID = infra.Spec.ProviderID })
	}
	c.links(m)
	c.reports(m)
}

// mayBootstrap says that bootstrap data can be made: one machine initialises the cluster, and the others join it.
func (c *cluster) mayBootstrap(m *clusterv1.Machine) bool {
	return c.provisioned() && (c.initialized || roleOf(m) == controlPlane)
}

// links finds the Node of a Machine.
func (c *cluster) links(m *clusterv1.Machine) {
	if m.Status.NodeRef.IsDefined() || m.Spec.ProviderID == "" || !c.connected() {
		return
	}
	for _, node := range all[*corev1.Node](c.workload) {
		if node.Spec.ProviderID == m.Spec.ProviderID {
			c.w.tell("Cluster API", "Machine %s has Node %s", m.Name, node.Name)
			editStatus(c.of.store, m, func(m *clusterv1.Machine) { m.Status.NodeRef = clusterv1.MachineNodeReference{Name: node.Name} })
		}
	}
}

// reports says on a Machine of the control plane whether its API server is well.
func (c *cluster) reports(m *clusterv1.Machine) {
	if !c.plan.reports || roleOf(m) != controlPlane || !c.initialized {
		return
	}
	status := metav1.ConditionFalse
	for _, id := range c.w.machines {
		if t := c.w.tenants[id]; t != nil && t.machine == m.Name && t.node != "" {
			if _, runs := c.w.runs(id); runs {
				status = metav1.ConditionTrue
			}
		}
	}
	if len(m.Status.Conditions) > 0 && m.Status.Conditions[0].Status == status {
		return
	}
	editStatus(c.of.store, m, func(m *clusterv1.Machine) {
		m.Status.Conditions = []metav1.Condition{{
			Type: "APIServerPodHealthy", Status: status, Reason: "Chaos", LastTransitionTime: metav1.NewTime(c.w.clock.Now()),
		}}
	})
}
