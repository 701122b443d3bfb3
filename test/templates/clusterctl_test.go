// Package templates checks what users get from clusterctl: the cluster template and the components, as the real clusterctl and a
// real API server take them.
package templates

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capmaas/cluster-api-provider-maas/test/apiserver"
)

// version is that of the release that the tests pretend to have made.
const version = "v1.0.0"

// checkout is the top of this repository, seen from here.
const checkout = "../.."

// program returns the path of a program that `make test-programs` builds.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := apiserver.Program(checkout, name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// render returns what `kubectl kustomize` makes of a folder of this checkout.
func render(t *testing.T, folder string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program(t, "kubectl"), "kustomize", filepath.Join(checkout, folder))
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v\n%s", folder, err, stderr.String())
	}
	return out
}

// release is a local repository, made of this checkout, from which clusterctl installs and generates.
type release struct {
	home   string // an empty home, so that nobody's own settings count
	config string
}

func newRelease(t *testing.T) release {
	t.Helper()
	home := t.TempDir()
	folder := filepath.Join(home, "infrastructure-maas", version)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"metadata.yaml", "templates/cluster-template.yaml"} {
		data, err := os.ReadFile(filepath.Join(checkout, file))
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(folder, filepath.Base(file)), data)
	}
	components := filepath.Join(folder, "infrastructure-components.yaml")
	write(components, render(t, "config/default"))

	config := filepath.Join(home, "clusterctl.yaml")
	write(config, []byte("providers:\n- {name: maas, type: InfrastructureProvider, url: "+components+"}\n"))
	return release{home: home, config: config}
}

// clusterctl runs `clusterctl generate` with nothing in its environment but the variables given.
func (r release) clusterctl(t *testing.T, variables map[string]string, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"generate"}, args...)
	args = append(args, "--config", r.config, "--infrastructure", "maas:"+version)
	command := exec.CommandContext(t.Context(), program(t, "clusterctl"), args...)
	command.Env = []string{
		"HOME=" + r.home,
		"KUBECONFIG=" + filepath.Join(r.home, "none"),
		"CLUSTERCTL_DISABLE_VERSIONCHECK=true", // It would ask the internet.
	}
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), errors.New(string(exit.Stderr))
	}
	return string(out), err
}

// generateCluster returns the objects of a cluster called c1 in namespace default.
func (r release) generateCluster(t *testing.T, variables map[string]string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	args = append([]string{"cluster", "c1", "--target-namespace", "default"}, args...)
	out, err := r.clusterctl(t, variables, args...)
	if err != nil {
		t.Fatalf("clusterctl generate cluster: %v", err)
	}
	return decode(t, []byte(out))
}

// decode reads the objects of a stream of YAML documents.
func decode(t *testing.T, stream []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range bytes.Split(stream, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			t.Fatalf("decoding: %v\n%s", err, document)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
	return objects
}

// find returns the one object of a kind with a name.
func find(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("there is no %s called %s", kind, name)
	return nil
}
