package templates

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// clusterAPI returns the folder of Cluster API's module, where its CRDs are, in the version that the provider is built with.
func clusterAPI(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/cluster-api")
	command.Dir = checkout
	out, err := command.Output()
	if err != nil {
		t.Fatalf("looking for Cluster API's module: %v\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

// apiServer starts an API server that knows the kinds of Cluster API and ours, without their webhooks.
func apiServer(t *testing.T) client.Client {
	t.Helper()
	core := clusterAPI(t)
	crds := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(crds, render(t, "config/crd"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: filepath.Dir(program(t, "kube-apiserver")),
		ErrorIfCRDPathMissing: true,
		CRDDirectoryPaths: []string{
			crds,
			filepath.Join(core, "core/config/crd/bases"),
			filepath.Join(core, "bootstrap/kubeadm/config/crd/bases"),
			filepath.Join(core, "controlplane/kubeadm/config/crd/bases"),
		},
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
