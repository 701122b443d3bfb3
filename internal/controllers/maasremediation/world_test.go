package maasremediation

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	namespace   = "default"
	machineName = "prod-md-0" // of the Machine, its MaasMachine and its MaasRemediation
	ourUser     = "capmaas"
	ourKey      = "consumer:token:secret"
	token       = "capmaas-1772366400-abc"
	boots       = 3 * time.Minute // until a Node is healthy after its machine was switched on
)

// world is a management cluster with a MachineHealthCheck, a MAAS region and at most one manager, in one process and in virtual time.
type world struct {
	*testing.T
	clock    *simulator.VirtualClock
	region   *simulator.Region
	server   *httptest.Server
	stored   client.WithWatch
	manager  *manager
	managers int
	strategy infrav1.RemediationStrategy
	beat     time.Duration // from one look to the next

	// heals is how many times the machine has to be switched on before its Node is healthy; 0 means that it is.
	heals int
	// stubborn says that the owner of the Machine does not replace it.
	stubborn bool
	// noHealthCheck says that there is no MachineHealthCheck.
	noHealthCheck bool

	mu       sync.Mutex
	started  map[string]time.Time // when machines were switched on last
	ons      map[string]int       // how often
	told     []string
	blow     blow
	writes   int // to MAAS and to Kubernetes, of the managers
	struckAt string
	read     map[string]bool // machines that the reconcile under way has read
	broken   []string        // rules
}

// newWorld has a cluster with a worker that is deployed as aaaaa1.
func newWorld(t *testing.T, change ...func(*simulator.Config)) *world {
	t.Helper()
	w := &world{
		T: t, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		beat:    20 * time.Second,
		started: map[string]time.Time{}, ons: map[string]int{}, read: map[string]bool{},
	}
	deployed := simulator.StatusDeployed
	cfg := simulator.Config{
		Clock: w.clock, PublicURL: "http://maas.example.com/MAAS",
		Users:     []simulator.User{{Name: ourUser, APIKey: ourKey, Admin: true}, {Name: "alice", APIKey: "a:b:c"}},
		Images:    []simulator.Image{{Name: "custom/u-2404"}},
		Machines:  []simulator.Machine{{Hostname: "node1", SystemID: "aaaaa1", Status: &deployed, PowerState: "on"}, {Hostname: "node2", SystemID: "aaaaa2", Status: &deployed, PowerState: "on"}},
		Durations: simulator.Durations{Boot: 20 * time.Second, PowerOn: 5 * time.Second, PowerOff: 15 * time.Second},
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	w.region, err = simulator.New(cfg)
	w.must(err)
	w.region.AddIntercept(w.judge)
	w.server = httptest.NewServer(w.region.Handler())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		w.must(add(scheme))
	}
	yes := true
	w.stored = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&infrav1.MaasMachine{}, &infrav1.MaasCluster{}, &infrav1.MaasRemediation{}, &clusterv1.Machine{}, &clusterv1.Cluster{}).
		WithObjects(&clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "prod"},
			Status:     clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}},
		}).Build()
	w.addMachine(machineName, "aaaaa1")
	w.starts()
	return w
}

// close ends a world.
func (w *world) close() {
	w.manager.kill()
	w.server.Close()
	w.region.Close()
}

// addMachine makes a Machine and a MaasMachine that has a deployed machine.
func (w *world) addMachine(name, systemID string, labels ...string) {
	w.Helper()
	all := map[string]string{clusterv1.ClusterNameLabel: "prod"}
	for _, label := range labels {
		all[label] = ""
	}
	w.must(w.region.SetOwner(systemID, ourUser))
	w.must(w.region.SetAnnotations(systemID, map[string]string{
		infrav1.MachineAnnotationClaim: token, infrav1.MachineAnnotationMachine: namespace + "." + name, infrav1.MachineAnnotationCluster: namespace + ".prod",
	}))
	w.must(w.stored.Create(context.Background(), &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: all, UID: "uid", Finalizers: []string{clusterv1.MachineFinalizer}},
		Spec: clusterv1.MachineSpec{ClusterName: "prod", InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasMachine", Name: name,
		}},
	}))
	w.must(w.stored.Create(context.Background(), &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: all, Finalizers: []string{infrav1.MachineFinalizer},
			Annotations:     map[string]string{infrav1.ClaimAnnotation: token, infrav1.UserAnnotation: ourUser},
			OwnerReferences: ownedBy(name),
		},
		Spec: infrav1.MaasMachineSpec{Image: "u-2404", SystemID: systemID, ProviderID: "maas:///default/" + systemID},
	}))
}

func ownedBy(machine string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: machine, UID: "uid"}}
}

func controlPlane(w *world) {
	w.editMachine(func(m *clusterv1.Machine) { m.Labels[clusterv1.MachineControlPlaneLabel] = "" })
	w.editTarget(func(m *infrav1.MaasMachine) { m.Labels[clusterv1.MachineControlPlaneLabel] = "" })
}

// writesToMAAS lists what was asked of MAAS, but for looks.
func (w *world) writesToMAAS() []string {
	var all []string
	for _, r := range w.region.Requests() {
		if r.Method != "GET" {
			all = append(all, r.Operation)
		}
	}
	return all
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

// find reads an object; false says that there is none.
func (w *world) find(name string, into client.Object) bool {
	w.Helper()
	err := w.stored.Get(context.Background(), key(name), into)
	w.must(client.IgnoreNotFound(err))
	return err == nil
}

// change writes an object as somebody else than the manager would; it is the metadata and the spec.
func change[T client.Object](w *world, object T, do func(T)) {
	w.Helper()
	if w.find(object.GetName(), object) {
		do(object)
		w.must(w.stored.Update(context.Background(), object))
	}
}

func (w *world) editMachine(do func(*clusterv1.Machine)) {
	w.Helper()
	change(w, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machineName}}, do)
}

func (w *world) editTarget(do func(*infrav1.MaasMachine)) {
	w.Helper()
	change(w, &infrav1.MaasMachine{ObjectMeta: metav1.ObjectMeta{Name: machineName}}, do)
}

// says changes the conditions of a Machine.
func (w *world) says(name string, do func(*clusterv1.Machine)) {
	w.Helper()
	m := &clusterv1.Machine{}
	if w.find(name, m) {
		do(m)
		w.must(w.stored.Status().Update(context.Background(), m))
	}
}

func (w *world) inMAAS(systemID string) simulator.MachineSnapshot {
	m, _ := w.region.Machine(systemID)
	return m
}

// healthy says that the Node of a machine is: it was switched on often enough, and had the time to boot.
func (w *world) healthy(systemID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heals == 0 && w.ons[systemID] == 0 {
		return true
	}
	return w.inMAAS(systemID).PowerState == "on" && w.ons[systemID] >= w.heals && w.clock.Now().Sub(w.started[systemID]) >= boots
}

// clusterAPI does what Cluster API would: its MachineHealthCheck, the owner of the Machines, and the deletion of one.
func (w *world) clusterAPI() {
	w.Helper()
	machines := &clusterv1.MachineList{}
	w.must(w.stored.List(context.Background(), machines))
	for i := range machines.Items {
		m := &machines.Items[i]
		if !w.noHealthCheck {
			w.checkHealth(m.Name)
		}
		if conditions.IsFalse(m, clusterv1.MachineHealthCheckSucceededCondition) && conditions.IsFalse(m, clusterv1.MachineOwnerRemediatedCondition) &&
			!w.stubborn && m.DeletionTimestamp.IsZero() {
			w.must(w.stored.Delete(context.Background(), m))
		}
		w.deletes(m.Name)
	}
}

// checkHealth makes a MaasRemediation for an unhealthy Machine, also for one that is being deleted, and deletes that of a healthy one.
func (w *world) checkHealth(name string) {
	target, object, machine := &infrav1.MaasMachine{}, &infrav1.MaasRemediation{}, &clusterv1.Machine{}
	if !w.find(name, machine) || !w.find(name, target) {
		return
	}
	if _, skip := machine.Annotations[clusterv1.MachineSkipRemediationAnnotation]; skip {
		return
	}
	_, wanted := machine.Annotations[clusterv1.RemediateMachineAnnotation]
	there := w.find(name, object)
	if w.healthy(target.Spec.SystemID) && !wanted {
		if there && object.DeletionTimestamp.IsZero() {
			w.must(w.stored.Delete(context.Background(), object))
		}
		w.says(name, func(m *clusterv1.Machine) {
			conditions.Set(m, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionTrue, Reason: "Healthy"})
			conditions.Delete(m, clusterv1.MachineOwnerRemediatedCondition)
		})
		return
	}
	if !there {
		w.request(name, name)
	}
	w.says(name, func(m *clusterv1.Machine) {
		conditions.Set(m, metav1.Condition{Type: clusterv1.MachineHealthCheckSucceededCondition, Status: metav1.ConditionFalse, Reason: "UnhealthyNode"})
	})
}

// request makes a MaasRemediation.
func (w *world) request(name, machine string) {
	w.Helper()
	w.must(w.stored.Create(context.Background(), &infrav1.MaasRemediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: "prod"}, OwnerReferences: ownedBy(machine)},
		Spec:       infrav1.MaasRemediationSpec{Strategy: w.strategy},
	}))
}

// deletes goes on with the deletion of a Machine, and collects what it leaves.
func (w *world) deletes(name string) {
	machine, target, object := &clusterv1.Machine{}, &infrav1.MaasMachine{}, &infrav1.MaasRemediation{}
	if w.find(name, machine) {
		if machine.DeletionTimestamp.IsZero() {
			return
		}
		if w.find(name, target) {
			if target.DeletionTimestamp.IsZero() {
				w.must(w.stored.Delete(context.Background(), target))
			}
			return
		}
		machine.Finalizers = nil
		w.must(w.stored.Update(context.Background(), machine))
	}
	if w.find(name, object) && object.DeletionTimestamp.IsZero() {
		w.must(w.stored.Delete(context.Background(), object))
	}
}

// tick lets everybody look once.
func (w *world) tick() {
	w.Helper()
	w.clusterAPI()
	w.manages()
	w.clock.Advance(w.beat)
}

// until ticks until done, for at most so much virtual time.
func (w *world) until(limit time.Duration, done func() bool) {
	w.Helper()
	for end := w.clock.Now().Add(limit); !done(); w.tick() {
		if w.clock.Now().After(end) {
			w.Fatalf("not within %s%s", limit, w.story())
		}
	}
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); w.tick() {
	}
}

// at says that a MaasRemediation says so.
func (w *world) at(reason string) func() bool {
	return func() bool {
		object := &infrav1.MaasRemediation{}
		return w.find(machineName, object) && conditions.GetReason(object, infrav1.RemediationRemediatingCondition) == reason
	}
}

// over says that the Machine is healthy, and that its MaasRemediation is gone.
func (w *world) over() bool {
	m := &clusterv1.Machine{}
	return w.find(machineName, m) && conditions.IsTrue(m, clusterv1.MachineHealthCheckSucceededCondition) && !w.find(machineName, &infrav1.MaasRemediation{})
}

// replaced says that the Machine and all that was made for it are gone.
func (w *world) replaced() bool {
	return !w.find(machineName, &clusterv1.Machine{}) && !w.find(machineName, &infrav1.MaasMachine{}) && !w.find(machineName, &infrav1.MaasRemediation{})
}

func (w *world) progress() remediation.Progress {
	target := &infrav1.MaasMachine{}
	w.find(machineName, target)
	return remediation.Of(target)
}

// says is the message of a MaasRemediation.
func (w *world) message() string {
	object := &infrav1.MaasRemediation{}
	w.find(machineName, object)
	return conditions.GetMessage(object, infrav1.RemediationRemediatingCondition)
}

// calls counts the requests of an operation for a machine that took effect.
func (w *world) calls(op, systemID string) int {
	n := 0
	for _, r := range w.region.Requests() {
		if r.Op == op && r.Method == "POST" && r.SystemID == systemID && r.Committed {
			n++
		}
	}
	return n
}

// judge holds that a machine is written to only if the same reconcile read it, and if it is ours, and counts how often one is switched on.
func (w *world) judge(r simulator.Request) simulator.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.SystemID == "" {
		return simulator.Fault{}
	}
	if r.Method == "GET" {
		w.read[r.SystemID] = true
		return simulator.Fault{}
	}
	m := w.inMAAS(r.SystemID)
	if !w.read[r.SystemID] {
		w.broken = append(w.broken, r.Operation+" of a machine that was not read in the same reconcile")
	}
	if m.Owner != ourUser || m.Annotations[infrav1.MachineAnnotationClaim] != token {
		w.broken = append(w.broken, fmt.Sprintf("%s of a machine that is not ours: %+v", r.Operation, m))
	}
	if strings.Contains(r.Op, "power") && (m.Status != simulator.StatusDeployed || m.Locked) {
		w.broken = append(w.broken, fmt.Sprintf("%s of a machine that is %s, locked: %t", r.Operation, m.StatusName, m.Locked))
	}
	if r.Op == "power_on" && m.PowerState == "off" {
		w.ons[r.SystemID]++
		w.started[r.SystemID] = w.clock.Now()
	}
	return simulator.Fault{}
}

// holds fails if a rule was broken.
func (w *world) holds() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.broken) > 0 {
		w.Errorf("broken: %v", slices.Compact(w.broken))
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Eventf records. It is client-go's EventRecorder.
func (w *world) Eventf(regarding, _ runtime.Object, kind, reason, _, note string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("%s %T: %s %s: %s", w.clock.Now().Format(time.TimeOnly), regarding, kind, reason, fmt.Sprintf(note, args...)))
}

func (w *world) wasTold(reason string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.told, func(line string) bool { return strings.Contains(line, " "+reason+": ") })
}

// story is what can be seen, for failures.
func (w *world) story() string {
	text := &strings.Builder{}
	object, target, machine := &infrav1.MaasRemediation{}, &infrav1.MaasMachine{}, &clusterv1.Machine{}
	for _, o := range []interface {
		client.Object
		GetConditions() []metav1.Condition
	}{object, target, machine} {
		if !w.find(machineName, o) {
			fmt.Fprintf(text, "\n no %T", o)
			continue
		}
		fmt.Fprintf(text, "\n %T deleted=%v %v", o, o.GetDeletionTimestamp(), slices.Sorted(maps.Keys(o.GetAnnotations())))
		for _, c := range o.GetConditions() {
			fmt.Fprintf(text, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	fmt.Fprintf(text, "\n %+v\n %+v", w.progress(), w.inMAAS("aaaaa1"))
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(text, "\n struck at %s\n %s", w.struckAt, strings.Join(w.told, "\n "))
	for _, r := range w.region.Requests() {
		if r.Method != "GET" {
			fmt.Fprintf(text, "\n %s %s", r.Operation, r.SystemID)
		}
	}
	return text.String()
}
