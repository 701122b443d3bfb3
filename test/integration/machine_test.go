package integration

import (
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// hardware is a region with machines that take a moment for what they do.
func hardware(hostnames ...string) simulator.Config {
	config := simulator.Config{Durations: simulator.Durations{
		Install: 300 * time.Millisecond, Boot: 300 * time.Millisecond, PowerOff: 200 * time.Millisecond,
	}}
	for _, hostname := range hostnames {
		config.Machines = append(config.Machines, simulator.Machine{Hostname: hostname})
	}
	return config
}

func TestMachinesAreDeployedAndGivenBack(t *testing.T) {
	l := newLab(t, hardware("m-1", "m-2", "m-3"))
	l.startManager()
	l.createCluster(nil)
	host := l.provisionedCluster().Spec.ControlPlaneEndpoint.Host
	l.createMachine("cp-1", true)
	l.createMachine("w-1", false)
	l.createMachine("w-2", false)
	systemIDs := map[string]bool{}
	for _, name := range []string{"cp-1", "w-1", "w-2"} {
		machine := l.provisionedMachine(name)
		l.Expect(machine.Spec.ProviderID).To(gomega.Equal("maas:///default/" + machine.Spec.SystemID))
		l.Expect(machine.Status.FailureDomain).To(gomega.Equal("default"))
		l.Expect(internalIP(machine)).NotTo(gomega.BeEmpty())
		systemIDs[machine.Spec.SystemID] = true
	}
	l.Expect(systemIDs).To(gomega.HaveLen(3), "each has a machine of its own")
	l.Eventually(func() []string { return l.record(host).Addresses }).
		Should(gomega.Equal([]string{internalIP(l.maasMachine("cp-1"))}), "the first control-plane machine joins as soon as it has an address")

	for _, name := range []string{"w-1", "w-2", "cp-1"} {
		l.deleteMachine(name)
	}
	l.Expect(l.record(host).Addresses).To(gomega.BeEmpty(), "departure may empty the record")
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestAClusterWaitsForItsMachinesBeforeItGoes(t *testing.T) {
	l := newLab(t, hardware("m-1"))
	l.startManager()
	l.createCluster(nil)
	host := l.provisionedCluster().Spec.ControlPlaneEndpoint.Host
	l.createMachine("cp-1", true)
	l.provisionedMachine("cp-1")
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectCondition(l.cluster, infrav1.ClusterDeletingCondition, metav1.ConditionTrue, infrav1.WaitingForMachinesReason)
	l.Expect(l.record(host).FQDN).To(gomega.Equal(host))
	l.deleteMachine("cp-1")
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestAStrangersAddressIsTakenOutOfTheRecord(t *testing.T) {
	l := newLab(t, hardware("m-1"))
	l.startManager()
	l.createCluster(nil)
	infra := l.provisionedCluster()
	host := infra.Spec.ControlPlaneEndpoint.Host
	l.createMachine("cp-1", true)
	l.provisionedMachine("cp-1")
	want := []string{internalIP(l.maasMachine("cp-1"))}
	l.Eventually(func() []string { return l.record(host).Addresses }).Should(gomega.Equal(want))
	l.addAddress(host, "10.20.1.99")
	l.Expect(l.record(host).Addresses).To(gomega.ContainElement("10.20.1.99"))
	l.touch(infra)
	l.Eventually(func() []string { return l.record(host).Addresses }).Should(gomega.Equal(want))
	l.Eventually(func() []string { return l.events(clusterName) }).Should(gomega.ContainElement("EndpointRepaired"))
}

func TestMachinesOutliveTheManager(t *testing.T) {
	l := newLab(t, hardware("m-1", "m-2"))
	stop := l.startManager()
	l.createCluster(nil)
	host := l.provisionedCluster().Spec.ControlPlaneEndpoint.Host
	l.createMachine("cp-1", true)
	systemID := l.provisionedMachine("cp-1").Spec.SystemID
	stop()
	// As `clusterctl move` does: no status comes along.
	machine, infra := l.maasMachine("cp-1"), l.maasCluster()
	l.forgetStatus(machine, func() { machine.Status = infrav1.MaasMachineStatus{} })
	l.forgetStatus(infra, func() { infra.Status = infrav1.MaasClusterStatus{} })
	l.startManager()
	l.Expect(l.provisionedMachine("cp-1").Spec.SystemID).To(gomega.Equal(systemID))
	l.Expect(l.provisionedCluster().Spec.ControlPlaneEndpoint.Host).To(gomega.Equal(host))
	l.Eventually(func() []string { return l.record(host).Addresses }).Should(gomega.Equal([]string{internalIP(l.maasMachine("cp-1"))}))
	l.deleteMachine("cp-1")
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

// forgetStatus writes an object's status as forget leaves it.
func (l *lab) forgetStatus(object client.Object, forget func()) {
	l.Helper()
	forget()
	l.Expect(l.Status().Update(l.Context(), object)).To(gomega.Succeed())
}

func internalIP(machine *infrav1.MaasMachine) string {
	for _, address := range machine.Status.Addresses {
		if address.Type == clusterv1.MachineInternalIP {
			return address.Address
		}
	}
	return ""
}

// TestRefusedClaimsAreNotRepeatedAtOnce: each attempt is noted on the object, which must not wake the provider up for the next.
func TestRefusedClaimsAreNotRepeatedAtOnce(t *testing.T) {
	l := newLab(t, hardware("m-1"))
	l.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" {
			return simulator.Fault{Status: http.StatusForbidden, ContentType: "text/plain"}
		}
		return simulator.Fault{}
	})
	asked := func() int {
		n := 0
		for _, r := range l.region.Requests() {
			if r.Op == "allocate" {
				n++
			}
		}
		return n
	}
	l.startManager()
	l.createCluster(nil)
	l.provisionedCluster()
	l.createMachine("w-1", false)
	l.expectCondition(func() conditions.Getter { return l.maasMachine("w-1") }, infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.ClaimRefusedReason)
	// That the condition is new is worth one more look.
	l.Consistently(asked, 6*time.Second).Should(gomega.BeNumerically("<=", 2))
}

// TestAStrayAddressDoesNotKeepTheFirstMachineOut: kubeadm on the first machine needs the name to lead to itself.
func TestAStrayAddressDoesNotKeepTheFirstMachineOut(t *testing.T) {
	l := newLab(t, hardware("m-1"))
	l.startManager()
	l.createCluster(nil)
	host := l.provisionedCluster().Spec.ControlPlaneEndpoint.Host
	l.addAddress(host, "10.20.1.99")
	l.createMachine("cp-1", true)
	l.provisionedMachine("cp-1")
	l.touch(l.maasCluster())
	l.Eventually(func() []string { return l.record(host).Addresses }).Should(gomega.Equal([]string{internalIP(l.maasMachine("cp-1"))}))
}
