package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// legacyNamespace holds objects that were stored while the CRDs were those of an earlier provider.
const legacyNamespace = "legacy"

// legacyObjects are such objects, in the shapes that its releases wrote. Their statuses are written too.
const legacyObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: legacy}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c1, namespace: legacy}
spec:
  controlPlaneEndpoint: {host: c1-abc123.maas, port: 6443}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: MaasCluster, name: c1}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasCluster
metadata:
  name: c1
  namespace: legacy
  labels: {cluster.x-k8s.io/cluster-name: c1}
  finalizers: [maascluster.infrastructure.cluster.x-k8s.io]
spec:
  dnsDomain: maas
  controlPlaneEndpoint: {host: c1-abc123.maas, port: 6443}
  failureDomains: [default]
  lxdConfig: {enabled: false, storageBackend: zfs, storageSize: "50", skipNetworkUpdate: true}
status:
  ready: true
  network: {dnsName: c1-abc123.maas}
  failureDomains:
    default: {controlPlane: true}
    z9: {controlPlane: true}
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
  - {type: APIServerAvailable, status: "False", severity: Warning, reason: APIServerNotReady, lastTransitionTime: "2024-01-01T00:00:00Z"}
  - {type: LXDReady, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: zero, namespace: legacy}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: MaasCluster, name: zero}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasCluster
metadata: {name: zero, namespace: legacy}
spec:
  dnsDomain: maas
  controlPlaneEndpoint: {host: "", port: 0}
status:
  ready: false
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata:
  name: m1
  namespace: legacy
  labels: {cluster.x-k8s.io/cluster-name: c1, cluster.x-k8s.io/control-plane: ""}
  finalizers: [maasmachine.infrastructure.cluster.x-k8s.io]
spec:
  image: custom/kube
  minCPU: 2
  minMemory: 4096
  failureDomain: default
  systemID: aaaaaa
  providerID: maas:///default/aaaaaa
  deployInMemory: false
  lxd: {enabled: true, vmConfig: {diskSize: 60, autoStart: true, interfaceLinkModes: {eno1: auto}}}
status:
  ready: true
  machineState: Deployed
  machinePowered: true
  hostname: m-1
  dnsAttached: true
  failureReason: UpdateError
  failureMessage: EC2 instance state "x" is unexpected
  addresses:
  - {type: ExternalDNS, address: m-1.maas}
  - {type: ExternalIP, address: 10.20.0.9}
  conditions:
  - {type: Ready, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
  - {type: MachineDeployed, status: "True", lastTransitionTime: "2024-01-01T00:00:00Z"}
`

// staleObjects were stored by an earlier provider too, which refused nothing; today they would be refused.
const staleObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: stale}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasCluster
metadata: {name: x, namespace: stale}
spec: {dnsDomain: Maas., failureDomains: [""], lxdConfig: {enabled: true}, controlPlaneEndpoint: {host: a b, port: 6443}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachine
metadata: {name: x, namespace: stale}
spec: {image: "a b", minCPU: 1, minMemory: 1, tags: ["a,b"], parent: abc123, providerID: "maas:////abcdef", lxd: {enabled: true}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: MaasMachineTemplate
metadata: {name: x, namespace: stale}
spec: {template: {spec: {image: "a b", minCPU: 1, minMemory: 1, tags: ["a,b"], systemID: abcdef, lxd: {enabled: true}}}}
`

// installOurCRDs stores the objects of an earlier provider, and then brings the CRDs to what they are now, as an upgrade does.
func installOurCRDs(ctx context.Context, config *rest.Config, api client.Client) error {
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join(checkout, "config/crd/bases")}, ErrorIfPathMissing: true}
	if err := envtest.ReadCRDFiles(&options); err != nil {
		return fmt.Errorf("read our CRDs: %w", err)
	}
	anything := true
	old := envtest.CRDInstallOptions{}
	for _, crd := range options.CRDs {
		crd = crd.DeepCopy()
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: &anything,
			}
		}
		old.CRDs = append(old.CRDs, crd)
	}
	if _, err := envtest.InstallCRDs(config, old); err != nil {
		return fmt.Errorf("install the CRDs of an earlier provider: %w", err)
	}
	if err := storeLegacyObjects(ctx, api); err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: options.CRDs}); err != nil {
		return fmt.Errorf("install our CRDs: %w", err)
	}
	return waitForStrictness(ctx, api)
}

func storeLegacyObjects(ctx context.Context, api client.Client) error {
	owners := map[string]*unstructured.Unstructured{}
	for _, document := range slices.Concat(documents(legacyObjects), documents(staleObjects), documents(shapedObjects)) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), object); err != nil {
			return fmt.Errorf("read a legacy object: %w", err)
		}
		if owner := owners[object.GetName()]; owner != nil && object.GetKind() == "MaasCluster" {
			setOwner(object, owner)
		}
		status, hasStatus := object.Object["status"]
		if err := api.Create(ctx, object); err != nil {
			return fmt.Errorf("store the legacy %s: %w", object.GetKind(), err)
		}
		if object.GetKind() == "Cluster" {
			owners[object.GetName()] = object
		}
		if !hasStatus {
			continue
		}
		object.Object["status"] = status
		if err := api.Status().Update(ctx, object); err != nil {
			return fmt.Errorf("store the status of the legacy %s: %w", object.GetKind(), err)
		}
	}
	return nil
}

func setOwner(object, owner *unstructured.Unstructured) {
	object.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()),
		"controller": true,
	}}
}

// waitForStrictness waits until the API server checks objects by our schema.
func waitForStrictness(ctx context.Context, api client.Client) error {
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "MaasCluster",
		"metadata": map[string]any{"name": "probe", "namespace": "default"}, "spec": map[string]any{},
	}}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return api.Create(ctx, probe.DeepCopy(), client.DryRunAll) != nil, nil
	})
}
