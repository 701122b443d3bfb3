package maascluster

import (
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// controlPlane is a cluster that serves, with three machines in its record.
type controlPlane struct {
	*world
	ids, addresses []string
	called         int // the machines were, to join again
}

func newControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	w := newWorld(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m1"}, {Hostname: "m2"}, {Hostname: "m3"}, {Hostname: "m4"}}})
	c := &controlPlane{world: w}
	w.settle()
	w.reconciler.Endpoint.Changed = func(endpoint.Record) { c.called++ }
	cluster := &clusterv1.Cluster{}
	if err := w.client.Get(t.Context(), w.request.NamespacedName, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized", LastTransitionTime: metav1.NewTime(w.clock.Now()),
	}}
	if err := w.client.Status().Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cp-0", "cp-1", "cp-2"} {
		id, address := c.deploy()
		c.ids, c.addresses = append(c.ids, id), append(c.addresses, address)
		c.addMachine(name, id, address)
		c.join(address)
	}
	w.reconcile()
	c.called = 0
	return c
}

// deploy deploys a machine in MAAS.
func (c *controlPlane) deploy() (systemID, address string) {
	c.Helper()
	m, err := c.operator.Allocate(c.Context(), maas.AllocateParams{})
	if err != nil {
		c.Fatal(err)
	}
	if _, err := c.operator.Deploy(c.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		c.Fatal(err)
	}
	c.clock.Advance(time.Hour)
	if m, err = c.operator.Machine(c.Context(), m.SystemID); err != nil {
		c.Fatal(err)
	}
	return m.SystemID, m.IPAddresses[0]
}

func (c *controlPlane) addMachine(name, systemID, address string) {
	c.Helper()
	m := &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{
			clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: "",
		}},
		Spec:   infrav1.MaasMachineSpec{SystemID: systemID, ProviderID: "maas:///default/" + systemID},
		Status: infrav1.MaasMachineStatus{Addresses: []clusterv1.MachineAddress{{Type: clusterv1.MachineInternalIP, Address: address}}},
	}
	c.create(m)
}

// editMachine changes a MaasMachine.
func (c *controlPlane) editMachine(name string, change func(*infrav1.MaasMachine)) {
	c.Helper()
	m := &infrav1.MaasMachine{}
	if err := c.client.Get(c.Context(), client.ObjectKey{Namespace: "default", Name: name}, m); err != nil {
		c.Fatal(err)
	}
	change(m)
	if err := c.client.Update(c.Context(), m); err != nil {
		c.Fatal(err)
	}
}

// join is what the machine's reconciler does.
func (c *controlPlane) join(address string) {
	c.Helper()
	record, _ := endpoint.RecordOf(c.object())
	if _, err := c.reconciler.Endpoint.Join(c.Context(), record, address); err != nil {
		c.Fatal(err)
	}
}

// record is the record as MAAS has it.
func (c *controlPlane) record() (simulator.DNSResourceSnapshot, bool) {
	c.Helper()
	for _, r := range c.region.Snapshot().DNSResources {
		if r.FQDN == c.object().Spec.ControlPlaneEndpoint.Host {
			slices.Sort(r.Addresses)
			return r, true
		}
	}
	return simulator.DNSResourceSnapshot{}, false
}

// set is an operator who writes a set of addresses.
func (c *controlPlane) set(ttl int, addresses ...string) {
	c.Helper()
	r, _ := c.record()
	if _, err := c.operator.UpdateDNSResource(c.Context(), r.ID, maas.DNSResourceParams{AddressTTL: ttl, IPAddresses: addresses}); err != nil {
		c.Fatal(err)
	}
}

func (c *controlPlane) unmark() {
	c.Helper()
	marks, err := c.operator.DNSRecords(c.Context(), maas.DNSRecordFilter{FQDN: c.object().Spec.ControlPlaneEndpoint.Host})
	if err != nil || len(marks) != 1 {
		c.Fatal(marks, err)
	}
	if err := c.operator.DeleteDNSRecord(c.Context(), marks[0].ID); err != nil {
		c.Fatal(err)
	}
}

func (c *controlPlane) forEachMachine(change func(*infrav1.MaasMachine)) {
	c.Helper()
	for _, name := range []string{"cp-0", "cp-1", "cp-2"} {
		c.editMachine(name, change)
	}
}

// TestARecordUnderFaults lets something happen to the record of a control plane that serves, or to what is known of its machines, and looks
// an hour later what the MaasCluster's reconciler made of it. It takes out what is a stranger's, and nothing else; it puts nothing in, but
// calls the machines.
func TestARecordUnderFaults(t *testing.T) {
	t.Parallel()
	const stranger, mayBeOurs = "10.20.7.7", "a moved object without a status, which an address of nobody may belong to"
	ready := "Ready=True/Ready LoadBalancerReady=True/LoadBalancerReady"
	for name, test := range map[string]struct {
		fault  func(*controlPlane)
		stays  []int // which of the three addresses
		called bool
		want   string
	}{
		"nothing happens":                        {func(*controlPlane) {}, []int{0, 1, 2}, false, ready},
		"an operator adds an address of nobody":  {func(c *controlPlane) { c.set(0, append(c.addresses, stranger)...) }, []int{0, 1, 2}, false, ready},
		"an operator adds a machine of the user": {func(c *controlPlane) { _, other := c.deploy(); c.set(0, append(c.addresses, other)...) }, []int{0, 1, 2}, false, ready},
		"an operator takes one out":              {func(c *controlPlane) { c.set(0, c.addresses[1:]...) }, []int{1, 2}, true, ready},
		"an operator takes all out":              {func(c *controlPlane) { c.set(0) }, nil, true, ready},
		"an operator changes the TTL":            {func(c *controlPlane) { c.set(3600, c.addresses...) }, []int{0, 1, 2}, false, ready},
		"an operator deletes the record": {func(c *controlPlane) {
			r, _ := c.record()
			if err := c.operator.DeleteDNSResource(c.Context(), r.ID); err != nil {
				c.Fatal(err)
			}
		}, nil, true, ready},
		"an operator takes the mark away": {(*controlPlane).unmark, []int{0, 1, 2}, true, "Ready=True/Ready LoadBalancerReady=False/DNSRecordNotOurs"},
		"MAAS is away for an hour": {func(c *controlPlane) {
			c.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: http.StatusServiceUnavailable} })
		}, []int{0, 1, 2}, false, "Ready=True/Ready MAASAvailable=False/MAASUnreachable"},
		"MAAS refuses every write": {func(c *controlPlane) {
			c.set(0, append(c.addresses, stranger)...)
			c.region.SetIntercept(func(r simulator.Request) simulator.Fault {
				if r.Method == http.MethodPut {
					return simulator.Fault{Status: http.StatusServiceUnavailable}
				}
				return simulator.Fault{}
			})
		}, []int{0, 1, 2}, false, "Ready=True/Ready"},
		"a machine is released, and the next tenant gets it": {func(c *controlPlane) {
			if err := c.region.OperatorRelease(c.ids[0]); err != nil {
				c.Fatal(err)
			}
			c.editMachine("cp-0", isSomebodyElses)
		}, []int{1, 2}, true, ready},
		"a machine is deleted in MAAS": {func(c *controlPlane) {
			if err := c.region.OperatorDelete(c.ids[0]); err != nil {
				c.Fatal(err)
			}
		}, []int{1, 2}, true, ready},
		"the objects were moved, and have no statuses": {func(c *controlPlane) {
			c.forEachMachine(func(m *infrav1.MaasMachine) { m.Status = infrav1.MaasMachineStatus{} })
		}, []int{0, 1, 2}, false, ready},
		mayBeOurs: {func(c *controlPlane) {
			c.editMachine("cp-0", func(m *infrav1.MaasMachine) { m.Status = infrav1.MaasMachineStatus{} })
			c.set(0, append(c.addresses, stranger)...)
		}, []int{0, 1, 2}, false, ready},
		"all objects are gone": {func(c *controlPlane) {
			for _, name := range []string{"cp-0", "cp-1", "cp-2"} {
				m := &infrav1.MaasMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
				if err := c.client.Delete(c.Context(), m); err != nil {
					c.Fatal(err)
				}
			}
			for _, id := range c.ids { // and MAAS says of none whose its address is
				if err := c.region.OperatorDelete(id); err != nil {
					c.Fatal(err)
				}
			}
			c.set(0, c.addresses...)
		}, []int{0, 1, 2}, false, ready},
		"all machines are off": {func(c *controlPlane) {
			for _, id := range c.ids {
				if err := c.region.SetPower(id, "off"); err != nil {
					c.Fatal(err)
				}
			}
		}, []int{0, 1, 2}, false, ready},
		"the label of a machine is lost": {func(c *controlPlane) {
			c.editMachine("cp-0", func(m *infrav1.MaasMachine) { delete(m.Labels, clusterv1.MachineControlPlaneLabel) })
		}, []int{1, 2}, false, ready},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newControlPlane(t)
			test.fault(c)
			for range 30 {
				c.clock.Advance(2 * time.Minute)
				c.reconcile()
			}
			var want []string
			for _, i := range test.stays {
				want = append(want, c.addresses[i])
			}
			slices.Sort(want)
			r, found := c.record()
			if got := slices.DeleteFunc(slices.Clone(r.Addresses), func(a string) bool { return a == stranger }); !found || !slices.Equal(got, want) {
				t.Errorf("the record is %+v, and %v should be in", r, want)
			}
			if (c.called > 0) != test.called {
				t.Errorf("the machines were called %d times", c.called)
			}
			if hasMark := len(r.Records) == 1; hasMark && *r.AddressTTL != endpoint.AddressTTL {
				t.Errorf("the TTL is %d", *r.AddressTTL)
			}
			c.expect(test.want)
			// When all is well again the machines join, and no stranger stays.
			c.region.SetIntercept(nil)
			if len(r.Records) == 0 {
				return
			}
			for _, address := range want {
				c.join(address)
			}
			c.clock.Advance(10 * time.Minute)
			c.reconcile()
			if r, _ := c.record(); slices.Contains(r.Addresses, stranger) && name != mayBeOurs {
				t.Errorf("the stranger's address is in %v", r.Addresses)
			}
		})
	}
}

// isSomebodyElses is what the machine's reconciler says of a machine that was taken away.
func isSomebodyElses(m *infrav1.MaasMachine) {
	m.Status.Addresses = nil
	conditions.Set(m, metav1.Condition{Type: infrav1.MachineAllocatedCondition, Status: metav1.ConditionFalse, Reason: infrav1.MachineNotOursReason})
}
