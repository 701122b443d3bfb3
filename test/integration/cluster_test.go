package integration

import (
	"net"
	"net/http"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestAClusterGetsAnEndpointAndGivesItBack(t *testing.T) {
	l := newLab(t, simulator.Config{Zones: []simulator.Zone{{Name: "z1"}}})
	l.startManager()
	l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) {
		infra.Spec.FailureDomains = []string{"default", "z1"}
	})
	infra := l.provisionedCluster()
	host := infra.Spec.ControlPlaneEndpoint.Host
	l.Expect(host).To(gomega.MatchRegexp(`^c1-[a-z0-9]{6}\.maas$`))
	l.Expect(infra.Spec.ControlPlaneEndpoint.Port).To(gomega.Equal(int32(6443)))
	l.Expect(infra.Spec.ControlPlaneEndpointKind).To(gomega.Equal(infrav1.EndpointMaasDNS))
	l.Expect(infra.Status.Network.DNSName).To(gomega.Equal(host))
	yes := true
	l.Expect(infra.Status.FailureDomains).To(gomega.Equal(infrav1.FailureDomains{
		{Name: "default", ControlPlane: &yes}, {Name: "z1", ControlPlane: &yes},
	}))
	l.Expect(l.record(host).Records).To(gomega.HaveLen(1), "the record's mark")
	for kind, want := range map[string]metav1.ConditionStatus{
		"Ready": "True", "LoadBalancerReady": "True", "MAASAvailable": "True", "APIServerAvailable": "False", "Deleting": "False", "Paused": "False",
	} {
		l.Expect(conditions.Get(infra, kind).Status).To(gomega.Equal(want), kind)
	}
	l.Eventually(func() []string { return l.events(clusterName) }).Should(gomega.ContainElements("EndpointChosen", "EndpointPublished"))

	l.Expect(l.Delete(t.Context(), infra)).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestWritesCarryTheProvidersName(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(nil)
	managers := map[string]bool{}
	for _, entry := range l.provisionedCluster().ManagedFields {
		managers[entry.Manager+" "+entry.Subresource] = true
	}
	l.Expect(managers).To(gomega.HaveKey(controllers.FieldManager + " "))
	l.Expect(managers).To(gomega.HaveKey(controllers.FieldManager + " status"))
}

func TestThePortIsTheClusters(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(func(cluster *clusterv1.Cluster, _ *infrav1.MaasCluster) {
		cluster.Spec.ClusterNetwork.APIServerPort = 8443
	})
	l.Expect(l.provisionedCluster().Spec.ControlPlaneEndpoint.Port).To(gomega.Equal(int32(8443)))
}

func TestARecordThatSomebodyDeletedIsMadeAgain(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(nil)
	infra := l.provisionedCluster()
	host := infra.Spec.ControlPlaneEndpoint.Host
	l.deleteRecord(host)
	l.touch(infra)
	l.Eventually(func() string { return l.record(host).FQDN }).Should(gomega.Equal(host))
}

func TestARecordOfSomebodyElseIsLeftAlone(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.createRecord("taken", "10.20.1.7")
	l.before = l.snapshot()
	l.startManager()
	l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) {
		infra.Spec.ControlPlaneEndpointKind = infrav1.EndpointMaasDNS
		infra.Spec.ControlPlaneEndpoint.Host = "taken.maas"
	})
	l.expectCondition(l.cluster, infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, infrav1.EndpointNotOursReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionFalse, infrav1.EndpointNotOursReason)
	l.Expect(l.maasCluster().Status.Initialization.Provisioned).To(gomega.BeNil())
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestDomainsThatCannotBeUsedAreNamed(t *testing.T) {
	for domain, reason := range map[string]string{
		"nowhere": infrav1.DomainNotFoundReason, "dark.example": infrav1.DomainNotAuthoritativeReason,
	} {
		t.Run(domain, func(t *testing.T) {
			l := newLab(t, simulator.Config{Domains: []simulator.Domain{{Name: "maas"}, {Name: "dark.example", Unserved: true}}})
			l.startManager()
			l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) { infra.Spec.DNSDomain = domain })
			l.expectCondition(l.cluster, infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, reason)
			l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
			l.expectGone(clusterName, &infrav1.MaasCluster{})
			l.expectNothingLeft()
		})
	}
}

func TestAnEndpointOfTheUsersOwn(t *testing.T) {
	for name, change := range map[string]func(*clusterv1.Cluster, *infrav1.MaasCluster){
		"in the MaasCluster": func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) {
			infra.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "192.0.2.10", Port: 443}
		},
		"in the Cluster": func(cluster *clusterv1.Cluster, _ *infrav1.MaasCluster) {
			cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "192.0.2.10", Port: 443}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, simulator.Config{})
			l.startManager()
			l.createCluster(change)
			infra := l.provisionedCluster()
			l.Expect(infra.Spec.ControlPlaneEndpoint).To(gomega.Equal(infrav1.APIEndpoint{Host: "192.0.2.10", Port: 443}))
			l.Expect(infra.Spec.ControlPlaneEndpointKind).To(gomega.Equal(infrav1.EndpointExternal))
			l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionTrue, "Ready")
			l.expectNothingLeft()
		})
	}
}

func TestAnExternalEndpointIsWaitedFor(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) {
		infra.Spec.ControlPlaneEndpointKind = infrav1.EndpointExternal
	})
	l.expectCondition(l.cluster, infrav1.ClusterEndpointReadyCondition, metav1.ConditionFalse, infrav1.WaitingForEndpointReason)
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(t.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "vip.example.com", Port: 6443}
	l.Expect(l.Patch(t.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
	l.Expect(l.provisionedCluster().Spec.ControlPlaneEndpoint.Host).To(gomega.Equal("vip.example.com"))
	l.expectNothingLeft()
}

func TestAPausedClusterIsLeftAlone(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	yes, no := true, false
	l.createCluster(func(cluster *clusterv1.Cluster, _ *infrav1.MaasCluster) { cluster.Spec.Paused = &yes })
	l.expectCondition(l.cluster, clusterv1.PausedCondition, metav1.ConditionTrue, clusterv1.PausedReason)
	l.Expect(l.maasCluster().Spec.ControlPlaneEndpoint.Host).To(gomega.BeEmpty())
	cluster := &clusterv1.Cluster{}
	l.Expect(l.Get(t.Context(), l.key(clusterName), cluster)).To(gomega.Succeed())
	before := cluster.DeepCopy()
	cluster.Spec.Paused = &no
	l.Expect(l.Patch(t.Context(), cluster, client.MergeFrom(before))).To(gomega.Succeed())
	l.provisionedCluster()
	l.expectCondition(l.cluster, clusterv1.PausedCondition, metav1.ConditionFalse, clusterv1.NotPausedReason)
}

func TestAnExternallyManagedClusterIsLeftAlone(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) {
		infra.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "terraform"}
	})
	l.Consistently(func(g gomega.Gomega) {
		infra := l.maasCluster()
		g.Expect(infra.Finalizers).To(gomega.BeEmpty())
		g.Expect(infra.Status.Conditions).To(gomega.BeEmpty())
	}, "3s").Should(gomega.Succeed())
	l.expectNothingLeft()
}

func TestAClusterIsDeletedWithoutItsCluster(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(nil)
	infra := l.provisionedCluster()
	l.Expect(l.Delete(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: clusterName}})).To(gomega.Succeed())
	l.expectGone(clusterName, &clusterv1.Cluster{})
	l.Expect(l.Delete(t.Context(), infra)).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestADomainThatIsGoneDoesNotHoldADeletionUp(t *testing.T) {
	l := newLab(t, simulator.Config{Domains: []simulator.Domain{{Name: "maas"}, {Name: "k8s.example"}}})
	l.startManager()
	l.createCluster(func(_ *clusterv1.Cluster, infra *infrav1.MaasCluster) { infra.Spec.DNSDomain = "k8s.example" })
	infra := l.provisionedCluster()
	l.deleteRecord(infra.Spec.ControlPlaneEndpoint.Host)
	l.deleteDomain("k8s.example")
	l.Expect(l.Delete(t.Context(), infra)).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
}

func TestMAASThatIsDownAtStartIsAConditionAndNoEnd(t *testing.T) {
	l := newDarkLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(nil)
	l.expectCondition(l.cluster, infrav1.MAASAvailableCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
	l.switchOn()
	l.provisionedCluster()
	l.expectCondition(l.cluster, infrav1.MAASAvailableCondition, metav1.ConditionTrue, infrav1.MAASAvailableReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionTrue, "Ready")
}

func TestMAASThatHangsIsACondition(t *testing.T) {
	l := newDarkLab(t, simulator.Config{})
	listener, err := net.Listen("tcp", l.address)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() }) // the kernel accepts connections, and nobody answers
	l.startManager()
	l.createCluster(nil)
	l.expectCondition(l.cluster, infrav1.MAASAvailableCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
}

func TestMAASThatGoesAwayDoesNotMakeAClusterUnready(t *testing.T) {
	l := newLab(t, simulator.Config{})
	l.startManager()
	l.createCluster(nil)
	infra := l.provisionedCluster()
	l.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: http.StatusServiceUnavailable} })
	l.touch(infra)
	l.expectCondition(l.cluster, infrav1.MAASAvailableCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
	l.expectCondition(l.cluster, infrav1.ClusterReadyCondition, metav1.ConditionTrue, "Ready")
	l.expectCondition(l.cluster, infrav1.ClusterEndpointReadyCondition, metav1.ConditionTrue, infrav1.EndpointReadyReason)
	// Deleting waits for MAAS, and says so.
	l.Expect(l.Delete(t.Context(), infra)).To(gomega.Succeed())
	l.expectCondition(l.cluster, infrav1.ClusterDeletingCondition, metav1.ConditionTrue, infrav1.RemovingDNSReason)
	l.region.SetIntercept(nil)
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}
