package integration

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/test/ports"
)

// soon is how long tests wait for something to come true on a slow machine. Nothing waits so long when all is well.
const soon = 90 * time.Second

// lab is a namespace, a simulated MAAS and a provider that works on the two.
type lab struct {
	*testing.T
	*gomega.WithT
	client.Client
	namespace string
	region    *simulator.Region
	address   string // of the region's API
	server    *simulator.Server
	before    string // the region's snapshot when the test began
}

// newLab makes a namespace and a region that runs, and lets the test run beside others.
func newLab(t *testing.T, config simulator.Config) *lab {
	t.Helper()
	l := newDarkLab(t, config)
	l.switchOn()
	return l
}

// newDarkLab is newLab with a region that does not answer until it is switched on.
func newDarkLab(t *testing.T, config simulator.Config) *lab {
	t.Helper()
	t.Parallel()
	return anotherLab(t, config)
}

// anotherLab makes a second lab in a test.
func anotherLab(t *testing.T, config simulator.Config) *lab {
	t.Helper()
	l := &lab{T: t, WithT: gomega.NewWithT(t), Client: suite.client}
	l.SetDefaultEventuallyTimeout(soon)
	l.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}
	l.Expect(l.Create(t.Context(), namespace)).To(gomega.Succeed())
	l.namespace = namespace.Name
	if config.Images == nil {
		config.Images = []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/kube"}}
	}
	region, err := simulator.New(config)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	l.region = region
	t.Cleanup(region.Close)
	l.address = ports.TakeAddress(t)
	l.before = l.snapshot()
	return l
}

// switchOn makes the region answer.
func (l *lab) switchOn() {
	l.Helper()
	server, err := l.region.Start(context.Background(), l.address)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	l.server = server
	l.Cleanup(func() { _ = server.Close() })
}

// startManager runs a provider in this process, limited to the lab's namespace. The function that it returns stops it.
func (l *lab) startManager() (stop func()) {
	l.Helper()
	maasClient, err := maas.New(maas.Config{Endpoint: "http://" + l.address + "/MAAS", APIKey: simulator.DefaultAPIKey})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	scheme, err := controllers.NewScheme()
	l.Expect(err).NotTo(gomega.HaveOccurred())
	options, err := controllers.ManagerOptions(scheme, l.namespace, 2*time.Hour)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	options.HealthProbeBindAddress = "0"
	// Every test has a manager of its own in this process.
	options.Controller.SkipNameValidation = new(true)
	config := rest.CopyConfig(suite.config)
	config.UserAgent = controllers.UserAgent("test")
	mgr, err := ctrl.NewManager(config, options)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	l.Expect(controllers.Setup(ctx, mgr, controllers.Options{
		MAAS: maasClient, Version: "test", MachineConcurrency: 2,
	})).To(gomega.Succeed())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			l.Errorf("the manager ended with: %v", err)
		}
	}
	l.Cleanup(stop)
	return stop
}

// snapshot is what the region holds, as text that compares.
func (l *lab) snapshot() string {
	text, err := json.MarshalIndent(l.region.Snapshot().WithoutHistory(), "", " ")
	l.Expect(err).NotTo(gomega.HaveOccurred())
	return string(text)
}

// expectNothingLeft checks that the region is as it was when the test began.
func (l *lab) expectNothingLeft() {
	l.Helper()
	l.Eventually(l.snapshot).Should(gomega.Equal(l.before), "something is left in MAAS")
}

// record returns the region's DNS resource of a name; a zero one if there is none.
func (l *lab) record(fqdn string) simulator.DNSResourceSnapshot {
	for _, resource := range l.region.Snapshot().DNSResources {
		if resource.FQDN == fqdn {
			return resource
		}
	}
	return simulator.DNSResourceSnapshot{}
}

// events returns the reasons of the events on an object, in no order.
func (l *lab) events(name string) []string {
	list := &corev1.EventList{}
	l.Expect(l.List(l.Context(), list, client.InNamespace(l.namespace))).To(gomega.Succeed())
	var reasons []string
	for _, event := range list.Items {
		if event.InvolvedObject.Name == name {
			reasons = append(reasons, event.Reason)
		}
	}
	return reasons
}
