package management

import (
	"encoding/base64"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const rendered = `apiVersion: v1
kind: Namespace
metadata: {name: capi-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusters.cluster.x-k8s.io
  annotations: {cert-manager.io/inject-ca-from: capi-system/cert, other: stays}
spec:
  group: cluster.x-k8s.io
  names: {kind: Cluster}
  versions: [{name: v1beta1, served: false}, {name: v1beta2, served: true}]
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: s, namespace: capi-system, path: /convert}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plain.cluster.x-k8s.io}
spec: {group: cluster.x-k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: m, namespace: capi-system}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: cert, namespace: capi-system}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v}
webhooks:
- name: a
  clientConfig: {service: {name: s, namespace: capi-system, path: /validate-a}}
- name: b
  clientConfig: {caBundle: Cg==, service: {name: s, namespace: capi-system, path: /validate-b}}
`

func TestComponentsForProcessesKeepCRDsAndWebhooksAlone(t *testing.T) {
	t.Parallel()
	objects, err := ReadManifests([]byte(rendered))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := forProcesses(objects, 9441, []byte("the CA"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	byName := map[string]*unstructured.Unstructured{}
	for _, object := range kept {
		names = append(names, object.GetName())
		byName[object.GetName()] = object
	}
	if want := []string{"capi-system", "clusters.cluster.x-k8s.io", "plain.cluster.x-k8s.io", "v"}; !slices.Equal(names, want) {
		t.Fatalf("kept %q, want %q", names, want)
	}
	crd := byName["clusters.cluster.x-k8s.io"]
	conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig")
	checkClient(t, conversion, "https://127.0.0.1:9441/convert")
	if got := crd.GetAnnotations(); len(got) != 1 || got["other"] != "stays" {
		t.Errorf("annotations of the CRD: %v", got)
	}
	webhooks, _, _ := unstructured.NestedSlice(byName["v"].Object, "webhooks")
	for i, want := range []string{"https://127.0.0.1:9441/validate-a", "https://127.0.0.1:9441/validate-b"} {
		checkClient(t, webhooks[i].(map[string]any)["clientConfig"].(map[string]any), want)
	}
}

func TestComponentsForProcessesKeepTheKindsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	objects, err := ReadManifests([]byte(rendered))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := forProcesses(objects, 9441, nil, "ClusterRole")
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 5 || kept[3].GetName() != "role" {
		t.Errorf("kept %v, want the ClusterRole too", kept)
	}
}

func checkClient(t *testing.T, config map[string]any, url string) {
	t.Helper()
	if config["url"] != url || config["caBundle"] != base64.StdEncoding.EncodeToString([]byte("the CA")) {
		t.Errorf("client configuration %v, want the url %s with the CA", config, url)
	}
	if _, still := config["service"]; still {
		t.Errorf("client configuration %v still names a Service", config)
	}
}

func TestComponentsWhoseWebhookHasNoServiceAreRefused(t *testing.T) {
	t.Parallel()
	objects, err := ReadManifests([]byte(`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration,
metadata: {name: m}, webhooks: [{name: a, clientConfig: {url: "https://elsewhere"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forProcesses(objects, 1, nil); err == nil {
		t.Error("a webhook that is called elsewhere was accepted")
	}
}

func TestServedKindsAreThoseThatTheServerAnswersFor(t *testing.T) {
	t.Parallel()
	objects, err := ReadManifests([]byte(rendered))
	if err != nil {
		t.Fatal(err)
	}
	got := servedKinds(objects[1])
	if len(got) != 1 || got[0].String() != "cluster.x-k8s.io/v1beta2, Kind=ClusterList" {
		t.Errorf("served kinds: %v", got)
	}
}
