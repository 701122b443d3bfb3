package killpoints

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	namespace = "default"
	cluster   = "prod"
	machine   = "prod-0" // the name of the Machine, its MaasMachine and its Node
	host      = "prod-abc123.maas"
	ourUser   = "capmaas"
	ourKey    = "kkkkkkkkkkkkkkkkk1:tttttttttttttttttt:sssssssssssssssssssssssssssssss1"
	otherUser = "alice"

	bystanderOfOther = "bbbbb1" // another user's, Deployed
	bystanderOfUs    = "bbbbb2" // allocated by hand under our own user
)

// role is what kind of machine lives.
type role string

const (
	worker       role = "worker"
	controlPlane role = "control-plane"
	stuck        role = "stuck"   // a worker whose first installation does not end
	unlucky      role = "unlucky" // a worker whose first installation fails, and the first erasing of its disks
)

// isDetour says that a life is a worker's with something in its way.
func (r role) isDetour() bool { return r == stuck || r == unlucky }

// world is a management cluster, a workload cluster, a MAAS region and at most one manager, in one process and in virtual time.
type world struct {
	judge
	role     role
	clock    *simulator.VirtualClock
	region   *simulator.Region
	server   *httptest.Server
	stored   client.WithWatch
	workload client.WithWatch
	mutation mutation
	manager  *manager
	managers int // that were started

	mu        sync.Mutex // requests come on goroutines of the server
	counts    map[string]int
	calls     []call
	blow      blow
	struck    int // how often
	afterBlow int // where in calls the first blow is over
	held      *held
	rules     rules
	methods   map[string]bool // of package maas's client that were called, and by whom
	told      []string
	born      bool // the machine's objects were made
	joined    bool // the control plane's machine was in its record
	leaving   bool // its Machine was deleted
}

// newWorld has a cluster and three free machines. Whoever gets it closes it.
func newWorld(j judge, r role, b blow) *world {
	j.Helper()
	return newMutant(j, r, b, mutation{})
}

// newMutant is a world in which the managers have a bug.
func newMutant(j judge, r role, b blow, bug mutation) *world {
	j.Helper()
	w := &world{
		judge: j, role: r, blow: b, mutation: bug, counts: map[string]int{}, methods: map[string]bool{},
		clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
	}
	allocated, deployed := simulator.StatusAllocated, simulator.StatusDeployed
	version := ""
	if r == unlucky {
		version = "3.4.10" // which tells why something failed in its event log alone
	}
	var err error
	w.region, err = simulator.New(simulator.Config{
		Version: version,
		Clock:   w.clock, PublicURL: "http://maas.example.com/MAAS",
		Users:  []simulator.User{{Name: ourUser, APIKey: ourKey, Admin: true}, {Name: otherUser, APIKey: "a:b:c"}},
		Images: []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/u-2404"}},
		Machines: []simulator.Machine{
			{Hostname: "node1", SystemID: "aaaaa1"}, {Hostname: "node2", SystemID: "aaaaa2"}, {Hostname: "node3", SystemID: "aaaaa3"},
			{Hostname: "hers", SystemID: bystanderOfOther, Status: &deployed, PowerState: "on"},
			{Hostname: "by-hand", SystemID: bystanderOfUs, Status: &allocated},
		},
		Durations: simulator.Durations{Install: time.Minute, Boot: 20 * time.Second, PowerOn: 5 * time.Second, PowerOff: 15 * time.Second},
	})
	w.must(err)
	w.must(w.region.SetOwner(bystanderOfOther, otherUser))
	w.must(w.region.SetOwner(bystanderOfUs, ourUser))
	handler := w.region.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		answer.Header().Set("Date", w.clock.Now().UTC().Format(http.TimeFormat)) // else the server would tell the real time
		handler.ServeHTTP(answer, r)
	}))
	w.server = server

	scheme := runtime.NewScheme() // a small one, for the fake clients walk through all of it
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		w.must(add(scheme))
	}
	w.workload = fake.NewClientBuilder().WithScheme(scheme).Build()
	w.stored = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&infrav1.MaasMachine{}, &infrav1.MaasCluster{}, &clusterv1.Machine{}, &clusterv1.Cluster{}).
		WithObjects(w.clusterObject(), w.maasClusterObject()).Build()
	w.rules.begin(w)
	w.region.AddIntercept(w.arrives)
	w.starts()
	return w
}

// close ends a world. It is no cleanup of the test's, for those are kept, with all that they know, until all tests are over.
func (w *world) close() {
	w.land()
	w.manager.kill()
	w.server.Close()
	w.region.Close()
}

func (w *world) clusterObject() *clusterv1.Cluster {
	c := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster, UID: "cluster"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: cluster,
		}},
	}
	if w.role != controlPlane { // whose life is not about its cluster
		yes := true
		c.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}
	}
	return c
}

// maasClusterObject has its host chosen, which would be random, but not the mark of its record.
func (w *world) maasClusterObject() *infrav1.MaasCluster {
	return &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: cluster, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster, UID: "cluster"}},
		},
		Spec: infrav1.MaasClusterSpec{
			DNSDomain: "maas", ControlPlaneEndpointKind: infrav1.EndpointMaasDNS,
			ControlPlaneEndpoint: infrav1.APIEndpoint{Host: host, Port: 6443},
		},
	}
}

// addMachine makes a Machine, its bootstrap data and its MaasMachine.
func (w *world) addMachine() {
	w.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: cluster}
	if w.role == controlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	data, spec := machine+"-bootstrap", infrav1.MaasMachineSpec{Image: "custom/u-2404"}
	switch w.role {
	case stuck:
		spec.DeployTimeout = &metav1.Duration{Duration: 4 * time.Minute}
		w.badLuck(simulator.MomentInstall, simulator.Trouble{Stuck: true})
	case unlucky:
		spec.Release.Erase = infrav1.EraseSecure
		w.badLuck(simulator.MomentInstall, simulator.Trouble{Fail: "no disk"})
		w.badLuck(simulator.MomentErase, simulator.Trouble{Fail: "sda: frozen"})
	}
	for _, o := range []client.Object{
		&clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: machine, Labels: labels, UID: "uid", Finalizers: []string{clusterv1.MachineFinalizer}},
			Spec:       clusterv1.MachineSpec{ClusterName: cluster, Bootstrap: clusterv1.Bootstrap{DataSecretName: &data}},
		},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: data}, Data: map[string][]byte{
			"value": []byte("#cloud-config\n{}\n"), "format": []byte("cloud-config"),
		}},
		&infrav1.MaasMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: machine, Labels: labels, OwnerReferences: []metav1.OwnerReference{
				{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: machine, UID: "uid"},
			}},
			Spec: spec,
		},
	} {
		w.must(w.stored.Create(context.Background(), o))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.born = true
}

// badLuck is trouble that comes once.
func (w *world) badLuck(at simulator.Moment, trouble simulator.Trouble) {
	happened := false
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment != at || happened {
			return simulator.Trouble{}
		}
		happened = true
		return trouble
	})
}

// object reads the MaasMachine; it is empty while there is none.
func (w *world) object() *infrav1.MaasMachine {
	w.Helper()
	m := &infrav1.MaasMachine{}
	w.must(client.IgnoreNotFound(w.stored.Get(context.Background(), key(machine), m)))
	return m
}

// infra reads the MaasCluster; it is empty once it is gone.
func (w *world) infra() *infrav1.MaasCluster {
	w.Helper()
	c := &infrav1.MaasCluster{}
	w.must(client.IgnoreNotFound(w.stored.Get(context.Background(), key(cluster), c)))
	return c
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

// ours are the machines of our user, but for the one that somebody allocated by hand.
func (w *world) ours() []simulator.MachineSnapshot {
	var all []simulator.MachineSnapshot
	for _, id := range []string{"aaaaa1", "aaaaa2", "aaaaa3"} {
		if m, _ := w.region.Machine(id); m.Owner == ourUser {
			all = append(all, m)
		}
	}
	return all
}

// record is what the control plane's name resolves to.
func (w *world) record() []string {
	for _, r := range w.region.Snapshot().DNSResources {
		if r.FQDN == host {
			return r.Addresses
		}
	}
	return nil
}

// resolve answers for MAAS's DNS.
func (w *world) resolve(_ context.Context, name string) ([]string, error) {
	if addresses := w.record(); name == host && len(addresses) > 0 {
		return addresses, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// clusterAPI does what Cluster API would: it tells the Cluster what its infrastructure says.
func (w *world) clusterAPI() {
	w.Helper()
	object := &clusterv1.Cluster{}
	w.must(w.stored.Get(context.Background(), key(cluster), object))
	p := w.infra().Status.Initialization.Provisioned
	if p != nil && *p && object.Status.Initialization.InfrastructureProvisioned == nil {
		object.Status.Initialization.InfrastructureProvisioned = p
		w.must(w.stored.Status().Update(context.Background(), object))
	}
}

// kubelet lets a deployed machine's Node register, once. The control plane is initialised then.
func (w *world) kubelet() {
	w.Helper()
	ours := w.ours()
	if len(ours) == 0 || len(ours[0].Addresses) == 0 {
		w.stops("the object is provisioned, and no machine of ours runs")
	}
	m := ours[0]
	w.must(w.workload.Create(context.Background(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: m.Hostname, CreationTimestamp: metav1.NewTime(w.clock.Now())},
		Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: m.Addresses[0]}}},
	}))
	object, yes := &clusterv1.Cluster{}, true
	w.must(w.stored.Get(context.Background(), key(cluster), object))
	object.Status.Initialization.ControlPlaneInitialized = &yes
	object.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized", LastTransitionTime: metav1.NewTime(w.clock.Now()),
	}}
	w.must(w.stored.Status().Update(context.Background(), object))
}

// linked says that the machine's Node has its provider ID.
func (w *world) linked() bool {
	w.Helper()
	nodes := &corev1.NodeList{}
	w.must(w.workload.List(context.Background(), nodes))
	id := w.object().Spec.ProviderID
	return id != "" && slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool { return n.Spec.ProviderID == id })
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Eventf records. It is client-go's EventRecorder.
func (w *world) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("manager %d: %s %s: %s", w.managers, kind, reason, fmt.Sprintf(note, args...)))
}

// story is what can be seen at the end, for failures.
func (w *world) story() string {
	text := &strings.Builder{}
	for _, conditions := range [][]metav1.Condition{w.object().Status.Conditions, w.infra().Status.Conditions} {
		for _, c := range conditions {
			fmt.Fprintf(text, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	object := w.object()
	fmt.Fprintf(text, "\n  spec %+v\n  annotations %v", object.Spec, object.Annotations)
	for _, m := range w.region.Snapshot().Machines {
		fmt.Fprintf(text, "\n  %s %s owner=%q agent=%q power=%s %v", m.SystemID, m.StatusName, m.Owner, m.AgentName, m.PowerState, m.Annotations)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.told {
		fmt.Fprintf(text, "\n  %s", line)
	}
	from := max(0, len(w.calls)-60)
	for _, c := range w.calls[from:] {
		fmt.Fprintf(text, "\n  %s manager %d: %s", c.at.Format(time.TimeOnly), c.manager, c.point)
	}
	return text.String()
}
