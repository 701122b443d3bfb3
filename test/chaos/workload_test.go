package chaos

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// workloads is Cluster API's cache of workload clusters, for one manager.
type workloads struct{ m *manager }

var _ clustercache.ClusterCache = workloads{}

func (c workloads) of(key client.ObjectKey) (client.Client, error) {
	for _, cluster := range c.m.w.clusters {
		if cluster.name == key.Name && cluster.of == c.m.of && cluster.connected() {
			return c.m.client(cluster.workload), nil
		}
	}
	return nil, clustercache.ErrClusterNotConnected
}

// GetClient implements clustercache.ClusterCache.
func (c workloads) GetClient(_ context.Context, key client.ObjectKey) (client.Client, error) {
	return c.of(key)
}

// GetReader implements clustercache.ClusterCache.
func (c workloads) GetReader(_ context.Context, key client.ObjectKey) (client.Reader, error) {
	return c.of(key)
}

// GetUncachedClient implements clustercache.ClusterCache.
func (c workloads) GetUncachedClient(_ context.Context, key client.ObjectKey) (client.Client, error) {
	return c.of(key)
}

// GetRESTConfig implements clustercache.ClusterCache.
func (workloads) GetRESTConfig(context.Context, client.ObjectKey) (*rest.Config, error) {
	return nil, clustercache.ErrClusterNotConnected
}

// Watch implements clustercache.ClusterCache: changes of Nodes always raise what they should.
func (c workloads) Watch(_ context.Context, key client.ObjectKey, _ clustercache.Watcher) error {
	_, err := c.of(key)
	return err
}

// GetHealthCheckingState implements clustercache.ClusterCache.
func (workloads) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	return clustercache.HealthCheckingState{}
}

// GetClusterSource implements clustercache.ClusterCache.
func (workloads) GetClusterSource(string, func(context.Context, client.Object) []ctrl.Request, ...clustercache.GetClusterSourceOption) source.Source {
	return nil
}

// tenant is what runs on a machine.
type tenant struct {
	cluster, machine string // the Machine that the bootstrap data is of
	node             string // the name that its kubelet registered with
	since            time.Time
}

// bootstrapData is what a Machine's secret holds.
func bootstrapData(cluster, machine string) string {
	return "#cloud-config\n# " + cluster + " " + machine + "\n# " + secret + "\n{}\n"
}

// deployed remembers what a machine will run.
func (w *world) deployed(systemID, data string) {
	fields := strings.Fields(data)
	w.tenants[systemID] = &tenant{cluster: fields[2], machine: fields[3]}
}

// runs is the machine, if it runs what a cluster's bootstrap data told it to.
func (w *world) runs(systemID string) (simulator.MachineSnapshot, bool) {
	t := w.tenants[systemID]
	m, there := w.region.Machine(systemID)
	switch {
	case t == nil:
		return m, false
	case !there || m.Owner != ourUser || m.Status != simulator.StatusDeployed && m.Status != simulator.StatusDeploying:
		delete(w.tenants, systemID)
		return m, false
	}
	return m, m.Status == simulator.StatusDeployed && m.PowerState == "on" && len(m.Addresses) > 0
}

// kubelets let the machines that run join their clusters, and the cluster know which run.
func (c *cluster) kubelets() {
	w := c.w
	for _, id := range w.machines {
		m, runs := w.runs(id)
		t := w.tenants[id]
		if !runs || t.cluster != c.name {
			continue
		}
		if t.since.IsZero() {
			t.since = w.clock.Now()
		}
		if t.node != "" && find[*corev1.Node](c.workload, t.node) == nil {
			t.node = "" // somebody deleted the Node, perhaps as that of the machine's former life: kubelet registers again
		}
		if t.node == "" && c.mayJoin(t) {
			t.node = m.Hostname
			c.registers(m)
		}
	}
	for _, node := range all[*corev1.Node](c.workload) {
		c.beats(node)
	}
}

// mayJoin says that kubeadm gets through: it needs the name of the control plane, and but for the first machine somebody who answers there.
func (c *cluster) mayJoin(t *tenant) bool {
	machine := find[*clusterv1.Machine](c.of.store, t.machine)
	if machine == nil || !machine.DeletionTimestamp.IsZero() || len(c.w.record(c.host())) == 0 && c.plan.managed {
		return false
	}
	_, isControlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
	if !c.initialized {
		return isControlPlane
	}
	return c.serves()
}

// registers makes a machine's Node, or takes over one that has its name.
func (c *cluster) registers(m simulator.MachineSnapshot) {
	c.w.tell("kubelet", "Node %s of %s registers", m.Hostname, c.name)
	if find[*corev1.Node](c.workload, m.Hostname) == nil {
		c.workload.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Hostname}})
	}
	editStatus(c.workload, find[*corev1.Node](c.workload, m.Hostname), func(n *corev1.Node) {
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: m.Addresses[0]}, {Type: corev1.NodeHostName, Address: m.Hostname}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.NewTime(c.w.clock.Now())}}
	})
	if !c.initialized {
		c.initialized = true
		c.w.tell("Cluster API", "the control plane of %s is initialised", c.name)
	}
}

// beats brings a Node's Ready condition up to date.
func (c *cluster) beats(node *corev1.Node) {
	status := corev1.ConditionUnknown
	if c.machineOf(node.Name) != "" {
		status = corev1.ConditionTrue
	}
	if node.Status.Conditions[0].Status != status {
		c.w.tell("kubelet", "Node %s of %s is ready: %s", node.Name, c.name, status)
		editStatus(c.workload, node, func(n *corev1.Node) {
			n.Status.Conditions[0].Status, n.Status.Conditions[0].LastHeartbeatTime = status, metav1.NewTime(c.w.clock.Now())
		})
	}
}

// machineOf is the machine that runs as a Node; "" if none does.
func (c *cluster) machineOf(node string) string {
	for _, id := range c.w.machines {
		if t := c.w.tenants[id]; t != nil && t.cluster == c.name && t.node == node {
			if _, runs := c.w.runs(id); runs {
				return id
			}
		}
	}
	return ""
}

// serves says that an API server of the cluster answers.
func (c *cluster) serves() bool {
	for _, id := range c.w.machines {
		if t := c.w.tenants[id]; t != nil && t.cluster == c.name && t.node != "" && strings.Contains(t.machine, "-cp-") {
			if _, runs := c.w.runs(id); runs {
				return true
			}
		}
	}
	return false
}

// connected says that the management cluster reaches it.
func (c *cluster) connected() bool { return c.initialized && !c.w.weather.cut && c.serves() }

// probe says whether an API server answers at an address.
func (w *world) probe(_ context.Context, address string, _ int32) bool {
	for _, id := range w.machines {
		t := w.tenants[id]
		if m, runs := w.runs(id); runs && t.node != "" && strings.Contains(t.machine, "-cp-") && m.Addresses[0] == address {
			return true
		}
	}
	return false
}

// host is the name of the control plane; "" while there is none.
func (c *cluster) host() string {
	if o := find[*infrav1.MaasCluster](c.of.store, c.name); o != nil {
		c.lastHost = o.Spec.ControlPlaneEndpoint.Host
	}
	return c.lastHost
}
