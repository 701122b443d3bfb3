package templates

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/test/apiserver"
)

// apiServer starts an API server that knows the kinds of Cluster API and ours, without their webhooks.
func apiServer(t *testing.T) client.Client {
	t.Helper()
	crds := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(crds, render(t, "config/crd"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment, err := apiserver.Prepare(t.Context(), checkout, crds)
	if err != nil {
		t.Fatal(err)
	}
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("starting the API server: %v", err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stopping the API server: %v", err)
		}
	})
	api, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return client.WithFieldValidation(api, metav1.FieldValidationStrict)
}

// A template that an API server refuses, or of which it drops a field, is of no use to anybody.
func TestClusterTemplateIsAcceptedByAnAPIServer(t *testing.T) {
	t.Parallel()
	api, repository := apiServer(t), newRelease(t)
	for name, variables := range map[string]map[string]string{"required variables": required, "every variable": everyVariable()} {
		t.Run(name, func(t *testing.T) {
			for _, object := range repository.generateCluster(t, variables) {
				if err := api.Create(t.Context(), object, client.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
			}
		})
	}
}

// What the book offers to be applied is accepted as it stands.
func TestSamplesAreAcceptedByAnAPIServer(t *testing.T) {
	t.Parallel()
	api := apiServer(t)
	paths, err := filepath.Glob(filepath.Join(checkout, "docs/samples/*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, object := range decode(t, text) {
			kinds[object.GetKind()]++
			object.SetNamespace("default")
			if err := api.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Errorf("%s: %s %s: %v", path, object.GetKind(), object.GetName(), err)
			}
		}
		if filepath.Base(path) == "remediation.yaml" && (kinds["MachineHealthCheck"] != 2 || kinds["MaasRemediationTemplate"] != 2) {
			t.Errorf("%s has %v", path, kinds)
		}
	}
}
