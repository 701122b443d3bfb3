package maascluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// facts is what is true of a MaasCluster now, as far as decisions depend on it.
type facts struct {
	name       string // of the Cluster, or of the MaasCluster where that is unknown
	owned      bool   // a Cluster owns the object
	deleting   bool
	moved      bool // `clusterctl move` made the object elsewhere, and deletes it here
	dnsDomain  string
	kind       infrav1.EndpointKind // "" where neither the spec nor anything else says
	storedKind infrav1.EndpointKind // what the spec says
	host       string
	port       int32
	token      string // of the record's mark
	published  bool   // the host was published before, by us or by an earlier provider
	zones      []string

	clusterHost string // what the Cluster says of its endpoint
	clusterPort int32
	apiPort     int32 // the port that the Cluster wants its API server on; 0 where it does not say

	machines []string // MaasMachines of the cluster that exist, sorted
	members  endpoint.Members

	provisioned  bool
	initialized  bool // the control plane answered once
	apiConnected bool

	region checks.Region // MAAS, as of about now
	wishes checks.Wishes // what the cluster's objects ask MAAS for
}

// isMoved says that another management cluster has the object now, and its DNS record with it.
func isMoved(object *infrav1.MaasCluster) bool {
	_, is := object.Annotations[clusterctlv1.DeleteForMoveAnnotation]
	return is
}

// observe gathers the facts.
func (r *Reconciler) observe(ctx context.Context, object *infrav1.MaasCluster, cluster *clusterv1.Cluster) (facts, error) {
	spec := object.Spec
	f := facts{
		name:       clusterName(object),
		owned:      cluster != nil,
		deleting:   !object.DeletionTimestamp.IsZero(),
		moved:      isMoved(object),
		dnsDomain:  spec.DNSDomain,
		storedKind: spec.ControlPlaneEndpointKind,
		kind:       endpoint.KindOf(object),
		host:       spec.ControlPlaneEndpoint.Host,
		port:       spec.ControlPlaneEndpoint.Port,
		token:      object.Annotations[infrav1.EndpointMarkAnnotation],
		zones:      spec.FailureDomains,
	}
	if object.Status.Initialization.Provisioned != nil {
		f.provisioned = *object.Status.Initialization.Provisioned
	}
	if f.name == "" {
		f.name = object.Name
	}
	if cluster != nil {
		f.name = cluster.Name
		f.clusterHost, f.clusterPort = cluster.Spec.ControlPlaneEndpoint.Host, cluster.Spec.ControlPlaneEndpoint.Port
		// The Cluster takes the host over once it is provisioned. What `clusterctl move` leaves of statuses is this.
		f.published = f.host != "" && (f.host == object.Status.Network.DNSName || f.host == f.clusterHost)
		f.apiPort = cluster.Spec.ClusterNetwork.APIServerPort
		f.initialized = conditions.IsTrue(cluster, clusterv1.ClusterControlPlaneInitializedCondition)
		connected, err := r.connected(ctx, cluster)
		if err != nil {
			return facts{}, err
		}
		f.apiConnected = connected
		f.members.Unused = !f.initialized
	}
	machines, err := r.machinesOf(ctx, object.Namespace, f.name)
	if err != nil {
		return facts{}, err
	}
	f.count(machines)
	if !f.deleting {
		if f.wishes, err = r.observeWishes(ctx, object, machines, f.name); err != nil {
			return facts{}, err
		}
	}
	f.region = r.Checks.Region(ctx)
	return f, nil
}

// machinesOf lists the MaasMachines of a cluster.
func (r *Reconciler) machinesOf(ctx context.Context, namespace, cluster string) ([]infrav1.MaasMachine, error) {
	list := &infrav1.MaasMachineList{}
	err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster})
	if err != nil {
		return nil, fmt.Errorf("list the cluster's MaasMachines: %w", err)
	}
	return list.Items, nil
}

// count notes which machines exist, and which addresses of them may stand in the record.
func (f *facts) count(machines []infrav1.MaasMachine) {
	f.members.Complete = true
	for i := range machines {
		machine := &machines[i]
		f.machines = append(f.machines, machine.Name)
		if _, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]; !controlPlane || isLost(machine) {
			continue
		}
		if machine.Spec.SystemID == "" {
			continue // it has no machine, so no address either
		}
		f.members.SystemIDs = append(f.members.SystemIDs, machine.Spec.SystemID)
		addresses := addressesOf(machine)
		if len(addresses) == 0 {
			f.members.Complete = false
		}
		f.members.Addresses = append(f.members.Addresses, addresses...)
	}
	slices.Sort(f.machines)
}

// isLost says that the machine behind an object was positively seen to be gone or somebody else's: its address is a stranger's.
func isLost(machine *infrav1.MaasMachine) bool {
	condition := conditions.Get(machine, infrav1.MachineAllocatedCondition)
	return condition != nil && condition.Status == metav1.ConditionFalse &&
		(condition.Reason == infrav1.MachineNotOursReason || condition.Reason == infrav1.MachineNotFoundReason)
}

func addressesOf(machine *infrav1.MaasMachine) []string {
	var addresses []string
	for _, address := range machine.Status.Addresses {
		if address.Type == clusterv1.MachineInternalIP || address.Type == clusterv1.MachineExternalIP {
			addresses = append(addresses, address.Address)
		}
	}
	return addresses
}

// connected says whether Cluster API has a connection to the workload API server.
func (r *Reconciler) connected(ctx context.Context, cluster *clusterv1.Cluster) (bool, error) {
	_, err := r.ClusterCache.GetReader(ctx, client.ObjectKeyFromObject(cluster))
	if errors.Is(err, clustercache.ErrClusterNotConnected) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for the workload cluster: %w", err)
	}
	return true, nil
}

// ownerCluster returns the Cluster that owns the object; nil where there is none, or none any more.
func (r *Reconciler) ownerCluster(ctx context.Context, object *infrav1.MaasCluster) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.Client, object.ObjectMeta)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the owner Cluster: %w", err)
	}
	return cluster, nil
}

// clusterName returns the name of the Cluster that an object belongs to, whether the Cluster exists or not; "" if nothing says.
func clusterName(object client.Object) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Cluster" {
			return owner.Name
		}
	}
	return object.GetLabels()[clusterv1.ClusterNameLabel]
}
