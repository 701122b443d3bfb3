package maasmachine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// machine reads a Machine; it is empty if there is none.
func (w *world) machine(name string) *clusterv1.Machine {
	w.Helper()
	m := &clusterv1.Machine{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, m); client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
	}
	return m
}

// isHooked says that the Machine waits for us.
func (w *world) isHooked(name string) bool {
	w.Helper()
	_, is := w.machine(name).Annotations[infrav1.EndpointHookAnnotation]
	return is
}

// controlPlaneOf has machines of the control plane that are all in its record.
func (w *world) controlPlaneOf(names ...string) {
	w.Helper()
	w.probed = func(string) bool { return true }
	for i, name := range names {
		w.add(name, true)
		w.until(name, w.provisioned(name))
		w.editCluster(func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = ptr(true) })
		w.until(name, func() bool { return len(w.record()) == i+1 })
	}
}

func TestAMachineOfTheControlPlaneIsHeldUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		ttl     *int // that somebody gave the record; nil leaves ours
		domain  int  // of the domain; 0 leaves it
		noTTL   bool // somebody took the record's TTL away
		echo    bool // the name leads there for another minute
		atLeast time.Duration
		atMost  time.Duration
	}{
		"as records of ours say":                        {atLeast: 25 * time.Second, atMost: 30 * time.Second},
		"as somebody made the record say":               {ttl: ptr(120), atLeast: 135 * time.Second, atMost: 140 * time.Second},
		"as the domain says, where the record does not": {noTTL: true, domain: 60, atLeast: 75 * time.Second, atMost: 80 * time.Second},
		"as MAAS does by itself":                        {noTTL: true, atLeast: 45 * time.Second, atMost: 50 * time.Second},
		"as long as the name leads there":               {echo: true, atLeast: 60 * time.Second, atMost: 70 * time.Second},
		"but not for a day":                             {ttl: ptr(int(day.Seconds())), atLeast: longestHold - time.Second, atMost: longestHold + 20*time.Second}, // times of objects have whole seconds
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) {
				if test.domain > 0 {
					c.Domains = append(c.Domains, simulator.Domain{Name: "maas", TTL: &test.domain})
				}
			})
			w.controlPlaneOf("cp1", "cp2")
			w.changeTTL(test.ttl, test.noTTL)
			address := w.get("cp1").Status.Addresses[0].Address
			w.deleteOwner("cp1")
			w.waitsForHooks("cp1")
			began := w.clock.Now()
			w.resolved = func() []string {
				if test.echo && w.clock.Now().Sub(began) < time.Minute {
					return []string{address}
				}
				return w.record()
			}
			for result := w.reconcile("cp1"); w.isHooked("cp1") && w.clock.Now().Sub(began) < time.Hour; result = w.reconcile("cp1") {
				w.clock.Advance(max(result.RequeueAfter, time.Second))
			}
			if took := w.clock.Now().Sub(began); took < test.atLeast || took > test.atMost {
				t.Errorf("it was held for %s", took)
			}
			if got := w.record(); len(got) != 1 || got[0] == address {
				t.Errorf("record %v", got)
			}
		})
	}
}

// changeTTL changes the record's TTL as an operator does.
func (w *world) changeTTL(ttl *int, none bool) {
	w.Helper()
	if ttl == nil && !none {
		return
	}
	ctx, name := context.Background(), maas.DNSResourceFilter{Name: "c1-abc", Domain: "maas"}
	found, err := w.maas.DNSResources(ctx, name)
	if err != nil || len(found) != 1 {
		w.Fatal(found, err)
	}
	// MAAS takes no TTL away: the record is made anew.
	err = errors.Join(err, w.maas.DeleteDNSResource(ctx, found[0].ID))
	fresh := maas.DNSResourceParams{Name: name.Name, Domain: name.Domain, IPAddresses: w.record()}
	if ttl != nil {
		fresh.AddressTTL = *ttl
	}
	for _, address := range found[0].Addresses {
		fresh.IPAddresses = append(fresh.IPAddresses, address.IP)
	}
	_, failed := w.maas.CreateDNSResource(ctx, fresh)
	_, unmarked := w.maas.CreateDNSRecord(ctx, maas.DNSRecordParams{Name: name.Name, Domain: name.Domain, Type: "TXT", Data: found[0].Records[0].Data})
	if err := errors.Join(err, failed, unmarked); err != nil {
		w.Fatal(err)
	}
}

// waitsForHooks: Cluster API has drained the Machine's Node, and waits for the hooks.
func (w *world) waitsForHooks(name string) {
	w.Helper()
	m := w.machine(name)
	m.Status.Deletion = &clusterv1.MachineDeletionStatus{WaitForPreTerminateHookStartTime: metav1.NewTime(w.clock.Now())}
	if err := w.client.Status().Update(context.Background(), m); err != nil {
		w.Fatal(err)
	}
}

func TestWhatMAASDoesNotLetGoIsHeldForABoundedTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.controlPlaneOf("cp1", "cp2")
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		return simulator.Fault{Status: 503, Body: "no", ContentType: "text/plain"}
	})
	w.deleteOwner("cp1")
	w.waitsForHooks("cp1")
	w.pass("cp1", longestHold-time.Minute)
	if !w.isHooked("cp1") {
		t.Fatal("let go while it serves, and is in the record")
	}
	w.expect("cp1", infrav1.MachineDNSAttachedCondition, metav1.ConditionFalse, infrav1.DNSDetachPendingReason)
	if text := w.story("cp1"); !strings.Contains(text, "DNSDetachPending: MAAS") {
		t.Errorf("it does not say what it waits for:%s", text)
	}
	w.pass("cp1", 2*time.Minute)
	if w.isHooked("cp1") {
		t.Errorf("held for ever:%s", w.story("cp1"))
	}
}

func TestMachinesThatAreDeletedTogetherLeaveOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.controlPlaneOf("cp1", "cp2", "cp3")
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		w.deleteOwner(name)
	}
	for _, name := range []string{"cp3", "cp2"} {
		w.pass(name, time.Minute)
	}
	if len(w.record()) != 3 {
		t.Fatalf("they left before the one that was deleted first: %v", w.record())
	}
	for i, name := range []string{"cp1", "cp2", "cp3"} {
		w.until(name, func() bool { return !w.isHooked(name) })
		if len(w.record()) != 2-i {
			t.Fatalf("%s is let go, and the record is %v", name, w.record())
		}
		w.deleteOnly(name)
		w.until(name, w.goneFrom(name))
		w.finishes(name)
	}
}

// finishes: Cluster API lets the Machine go once its infrastructure is gone.
func (w *world) finishes(name string) {
	w.Helper()
	m := w.machine(name)
	m.Finalizers = nil
	if err := w.client.Update(context.Background(), m); err != nil {
		w.Fatal(err)
	}
}

func TestTheOnlyMachineServesUntilItsSuccessorJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.controlPlaneOf("cp1")
	w.probed = nil
	w.add("cp2", true)
	w.until("cp2", w.provisioned("cp2"))
	w.deleteOwner("cp1")
	w.pass("cp1", 2*time.Minute)
	if len(w.record()) != 1 || !w.isHooked("cp1") {
		t.Fatalf("record %v, hooked %t", w.record(), w.isHooked("cp1"))
	}
	w.probed = func(string) bool { return true }
	w.until("cp2", func() bool { return len(w.record()) == 2 })
	w.until("cp1", func() bool { return !w.isHooked("cp1") })
	if len(w.record()) != 1 {
		t.Errorf("record %v", w.record())
	}
}

func TestAMachineWhoseObjectIsGoneIsLetGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.controlPlaneOf("cp1", "cp2")
	m := w.get("cp1")
	m.Finalizers = nil // somebody forced it
	if err := w.client.Update(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	w.deleteOnly("cp1")
	w.reconcile("cp1")
	if !w.isHooked("cp1") {
		t.Error("a Machine that stays was written to")
	}
	w.deleteOwner("cp1")
	w.reconcile("cp1")
	if w.isHooked("cp1") || !w.isHooked("cp2") {
		t.Errorf("cp1 is hooked: %t; cp2 is hooked: %t", w.isHooked("cp1"), w.isHooked("cp2"))
	}
}

func TestADeletedClusterWaitsForNoClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.controlPlaneOf("cp1", "cp2")
	c := &clusterv1.Cluster{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "c1"}, c); err != nil {
		t.Fatal(err)
	}
	c.Finalizers = []string{clusterv1.ClusterFinalizer}
	if err := w.client.Update(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Delete(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cp1", "cp2"} {
		w.deleteOwner(name)
		w.reconcile(name)
		if w.isHooked(name) {
			t.Errorf("%s is held", name)
		}
	}
}
