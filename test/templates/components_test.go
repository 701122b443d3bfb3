package templates

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const namespace = "capmaas-system"

// clusterctl reads the components its own way: one Namespace, everything else in it, its own labels, variables filled in.
func TestComponentsAreAcceptedByClusterctl(t *testing.T) {
	t.Parallel()
	repository := newRelease(t)
	if _, err := repository.clusterctl(t, nil, "provider"); err == nil || !strings.Contains(err.Error(), "MAAS_API_KEY, MAAS_ENDPOINT") {
		t.Errorf("without its variables, clusterctl says %v, want both named", err)
	}
	out, err := repository.clusterctl(t, map[string]string{"MAAS_ENDPOINT": "http://maas.example:5240/MAAS", "MAAS_API_KEY": "a:b:c"}, "provider")
	if err != nil {
		t.Fatal(err)
	}
	secret := find(t, decode(t, []byte(out)), "Secret", "capmaas-manager-bootstrap-credentials")
	if got, _, _ := unstructured.NestedString(secret.Object, "stringData", "MAAS_ENDPOINT"); got != "http://maas.example:5240/MAAS" {
		t.Errorf("MAAS_ENDPOINT is %q", got)
	}
}

func TestComponentsObeyClusterctlsContract(t *testing.T) {
	t.Parallel()
	objects := decode(t, render(t, "config/default"))
	clusterScoped := map[string]bool{
		"Namespace": true, "CustomResourceDefinition": true, "ClusterRole": true, "ClusterRoleBinding": true,
		"ValidatingWebhookConfiguration": true,
	}
	for _, object := range objects {
		if got := object.GetLabels()["cluster.x-k8s.io/provider"]; got != "infrastructure-maas" {
			t.Errorf("%s %s has provider label %q", object.GetKind(), object.GetName(), got)
		}
		if !clusterScoped[object.GetKind()] && object.GetNamespace() != namespace {
			t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
		}
	}
	find(t, objects, "Namespace", namespace)
	find(t, objects, "ClusterRole", "capmaas-manager-role")

	deployment := find(t, objects, "Deployment", "capmaas-controller-manager")
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		t.Fatalf("the Deployment has %d containers, error %v", len(containers), err)
	}
	if name := containers[0].(map[string]any)["name"]; name != "manager" {
		t.Errorf("the container is called %v; clusterctl expects manager", name)
	}
}

// What the API server calls, with which certificate it is answered, and who signs that: names that have to agree.
func TestWebhooksAreReachedThroughTheServiceWithItsCertificate(t *testing.T) {
	t.Parallel()
	objects := decode(t, render(t, "config/default"))
	text := func(kind, name string, path ...string) string {
		t.Helper()
		value, found, err := unstructured.NestedString(find(t, objects, kind, name).Object, path...)
		if err != nil || !found {
			t.Fatalf("%s %s has no %v: %v", kind, name, path, err)
		}
		return value
	}
	configuration := find(t, objects, "ValidatingWebhookConfiguration", "capmaas-validating-webhook-configuration")
	if got := configuration.GetAnnotations()["cert-manager.io/inject-ca-from"]; got != namespace+"/capmaas-serving-cert" {
		t.Errorf("the authority is injected from %q", got)
	}
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	if len(webhooks) != 5 {
		t.Errorf("there are %d webhooks, want one for each kind", len(webhooks))
	}
	for _, webhook := range webhooks {
		service, _, _ := unstructured.NestedMap(webhook.(map[string]any), "clientConfig", "service")
		if service["name"] != "capmaas-webhook-service" || service["namespace"] != namespace {
			t.Errorf("a webhook is called through %v", service)
		}
	}
	find(t, objects, "Service", "capmaas-webhook-service")
	names, _, _ := unstructured.NestedStringSlice(find(t, objects, "Certificate", "capmaas-serving-cert").Object, "spec", "dnsNames")
	if len(names) != 2 || names[0] != "capmaas-webhook-service."+namespace+".svc" {
		t.Errorf("the certificate is for %q", names)
	}
	find(t, objects, "Issuer", text("Certificate", "capmaas-serving-cert", "spec", "issuerRef", "name"))
	secret := text("Certificate", "capmaas-serving-cert", "spec", "secretName")
	volumes, _, _ := unstructured.NestedSlice(find(t, objects, "Deployment", "capmaas-controller-manager").Object, "spec", "template", "spec", "volumes")
	mounted, _, _ := unstructured.NestedString(volumes[0].(map[string]any), "secret", "secretName")
	if mounted != secret {
		t.Errorf("the Deployment mounts %q, and the certificate is in %q", mounted, secret)
	}
}

// Cluster API picks the version of a kind, and the shape of its fields, by this label.
func TestCRDsSayWhichContractTheyObey(t *testing.T) {
	t.Parallel()
	crds := decode(t, render(t, "config/crd"))
	for _, name := range []string{"maasclusters", "maasmachines", "maasmachinetemplates", "maasremediations", "maasremediationtemplates"} {
		crd := find(t, crds, "CustomResourceDefinition", name+".infrastructure.cluster.x-k8s.io")
		if got := crd.GetLabels()["cluster.x-k8s.io/v1beta2"]; got != "v1beta1" {
			t.Errorf("%s: label cluster.x-k8s.io/v1beta2 is %q, want v1beta1", name, got)
		}
		for label := range crd.GetLabels() {
			if strings.HasPrefix(label, "cluster.x-k8s.io/v1alpha") || label == "cluster.x-k8s.io/v1beta1" {
				t.Errorf("%s: label %s claims a contract that it does not obey", name, label)
			}
		}
	}
}

// A MaasRemediationTemplate belongs to no Cluster, so nothing but this label takes it along.
func TestRemediationTemplatesAreMoved(t *testing.T) {
	t.Parallel()
	crd := find(t, decode(t, render(t, "config/crd")), "CustomResourceDefinition", "maasremediationtemplates.infrastructure.cluster.x-k8s.io")
	if _, moves := crd.GetLabels()["clusterctl.cluster.x-k8s.io/move"]; !moves {
		t.Errorf("the labels are %v", crd.GetLabels())
	}
}
