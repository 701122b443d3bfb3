package integration

import (
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// shapesNamespace holds objects of odd shapes, stored as legacyObjects are.
const shapesNamespace = "shapes"

// shapedObjects are objects that releases 0.7 to 0.9 of an earlier provider let be stored: every field that they had, empty ones, lists with
// the same thing twice, and statuses of both contracts.
const shapedObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: shapes}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: empty, namespace: shapes}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: MaasCluster, name: empty}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasCluster
metadata: {name: empty, namespace: shapes}
spec:
  dnsDomain: maas
  controlPlaneEndpoint: {host: "", port: 0}
  failureDomains: []
  lxdConfig: {}
status:
  ready: false
  initialization: {}
  network: {}
  failureDomains: {}
  conditions: []
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: full, namespace: shapes}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: MaasCluster, name: full}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasCluster
metadata:
  name: full
  namespace: shapes
  finalizers: [maascluster.infrastructure.cluster.x-k8s.io]
  annotations: {spectrocloud.com/custom-dns-provided: ""}
spec:
  dnsDomain: maas
  controlPlaneEndpoint: {host: full-abc123.maas, port: 6443}
  failureDomains: [default, default, ""]
  lxdConfig:
    enabled: true
    resourcePool: ""
    zone: default
    storageBackend: zfs
    storageSize: "50"
    nicType: macvlan
    nicParent: eno1
    networkBridge: br0
    skipNetworkUpdate: true
status:
  ready: true
  initialization: {provisioned: true}
  network: {dnsName: full-abc123.maas}
  failureDomains:
  - {name: default, controlPlane: true, attributes: {rack: one}}
  conditions:
  - {type: LoadBalancerReady, status: "True", lastTransitionTime: "2025-01-01T00:00:00Z", reason: LoadBalancerReady, message: ""}
  - {type: LXDReady, status: "False", lastTransitionTime: "2025-01-01T00:00:00Z", reason: LXDSetupPending, message: "a"}
  - {type: Ready, status: "True", lastTransitionTime: "2025-01-01T00:00:00Z", reason: "", message: ""}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata: {name: empty, namespace: shapes}
spec:
  failureDomain: ""
  systemID: ""
  parent: ""
  providerID: ""
  resourcePool: ""
  minCPU: 0
  minMemory: 0
  minDiskSize: 0
  tags: []
  image: custom/kube
  deployInMemory: false
  lxd: {}
status:
  ready: false
  initialization: {provisioned: false}
  machineState: ""
  machinePowered: false
  hostname: ""
  dnsAttached: false
  addresses: []
  conditions: []
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata: {name: twice, namespace: shapes}
spec: {image: kube, minCPU: 2, minMemory: 4096, tags: [ssd, ssd, "", "a, b"], resourcePool: " workers ", failureDomain: "z,1"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata:
  name: virtual
  namespace: shapes
  finalizers: [maasmachine.infrastructure.cluster.x-k8s.io, maas.lxd.io/host-evacuation]
  annotations: {maas.spectrocloud.com/vm-name: vm-1, maas.lxd.io/evacuation-completed: "7"}
spec:
  image: custom/kube
  minCPU: 2
  minMemory: 4096
  minDiskSize: 60
  parent: abc123
  lxd:
    enabled: true
    vmConfig: {diskSize: 60, storagePool: default, network: "a,b", interfaceLinkModes: {eno1: auto, eno2: link_up}, autoStart: true}
status:
  ready: true
  initialization: {provisioned: true}
  machineState: Deployed
  machinePowered: true
  hostname: vm-1
  dnsAttached: true
  failureReason: UpdateError
  failureMessage: gone
  addresses:
  - {type: ExternalDNS, address: vm-1.maas}
  - {type: InternalDNS, address: vm-1.maas}
  - {type: ExternalIP, address: 10.20.0.9}
  - {type: InternalIP, address: 10.20.0.9}
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
  - {type: MachineDeployed, status: "False", severity: Warning, reason: MachineDeployStartedReason, lastTransitionTime: "2024-01-01T00:00:00Z"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata: {name: gone, namespace: shapes, finalizers: [maasmachine.infrastructure.cluster.x-k8s.io]}
spec: {image: custom/kube, minCPU: 2, minMemory: 4096, systemID: zzzzz9, providerID: "maas:////zzzzz9"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachineTemplate
metadata: {name: full, namespace: shapes}
spec:
  template:
    spec:
      failureDomain: ""
      minCPU: 2
      minMemory: 4096
      minDiskSize: 60
      tags: [ssd, ssd]
      image: kube
      deployInMemory: true
      parent: ""
      lxd: {enabled: true, vmConfig: {diskSize: 60}}
status: {}
`

// Whatever an earlier provider let be stored is updated and deleted like anything else, and no field of a spec gets lost on the way.
func TestEveryShapeThatAnEarlierProviderStored(t *testing.T) {
	l := newLab(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "aaaaaa"}}})
	l.namespace = shapesNamespace
	l.startManager()
	for _, document := range documents(shapedObjects) {
		stored := &unstructured.Unstructured{}
		l.Expect(yaml.Unmarshal([]byte(document), stored)).To(gomega.Succeed())
		kind, name := stored.GetKind(), stored.GetName()
		if stored.GroupVersionKind().Group != infrav1.GroupVersion.Group {
			continue
		}
		what := kind + " " + name
		now := &unstructured.Unstructured{}
		now.SetGroupVersionKind(schema.GroupVersionKind{Group: infrav1.GroupVersion.Group, Version: infrav1.GroupVersion.Version, Kind: kind})
		l.Eventually(func(g gomega.Gomega) {
			g.Expect(l.Get(t.Context(), l.key(name), now)).To(gomega.Succeed())
			g.Expect(said(now)).NotTo(gomega.BeEmpty(), what+" has conditions")
			if kind != "MaasMachineTemplate" {
				g.Expect(now.GetFinalizers()).NotTo(gomega.BeEmpty(), what)
			}
		}).Should(gomega.Succeed())
		for field, value := range stored.Object["spec"].(map[string]any) {
			if kind == "MaasCluster" && field == "controlPlaneEndpoint" {
				continue // it gets one
			}
			l.Expect(now.Object["spec"].(map[string]any)[field]).To(gomega.BeEquivalentTo(value), what+" keeps "+field)
		}
		before := now.DeepCopy()
		now.SetLabels(map[string]string{"seen": "today"})
		l.Expect(l.Patch(t.Context(), now, client.MergeFrom(before))).To(gomega.Succeed(), "a label on "+what)
	}
	for _, name := range []string{"empty", "twice", "virtual", "gone"} {
		l.Expect(l.Delete(t.Context(), &infrav1.MaasMachine{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}})).To(gomega.Succeed())
		l.expectGone(name, &infrav1.MaasMachine{})
	}
	for _, name := range []string{"empty", "full"} {
		l.Expect(l.Delete(t.Context(), &infrav1.MaasCluster{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}})).To(gomega.Succeed())
		l.expectGone(name, &infrav1.MaasCluster{})
	}
	l.Expect(l.Delete(t.Context(), &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "full"}})).To(gomega.Succeed())
	l.expectNothingLeft()
}

// said are the types of the conditions that this provider set.
func said(object *unstructured.Unstructured) []string {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var types []string
	for _, c := range all {
		condition, _ := c.(map[string]any)
		if kind, _ := condition["type"].(string); kind == "Paused" || kind == infrav1.TemplateCapacityKnownCondition {
			types = append(types, kind)
		}
	}
	return types
}
