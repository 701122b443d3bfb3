package templates

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// required are the variables without which there is no cluster.
var required = map[string]string{
	"KUBERNETES_VERSION":          "v1.36.3",
	"MAAS_DNS_DOMAIN":             "maas",
	"CONTROL_PLANE_MACHINE_IMAGE": "custom/ubuntu-kubernetes",
	"WORKER_MACHINE_IMAGE":        "custom/ubuntu-kubernetes",
}

// optional are the others, with values that are nobody's defaults.
var optional = map[string]string{
	"CONTROL_PLANE_MACHINE_COUNT":        "3",
	"CONTROL_PLANE_MACHINE_MINCPU":       "4",
	"CONTROL_PLANE_MACHINE_MINMEMORY":    "8192",
	"CONTROL_PLANE_MACHINE_RESOURCEPOOL": "control",
	"CONTROL_PLANE_MACHINE_TAG":          "ssd",
	"WORKER_MACHINE_COUNT":               "5",
	"WORKER_MACHINE_MINCPU":              "8",
	"WORKER_MACHINE_MINMEMORY":           "16384",
	"WORKER_MACHINE_RESOURCEPOOL":        "workers",
	"WORKER_MACHINE_TAG":                 "gpu,nvme",
	"POD_CIDR":                           "10.244.0.0/16",
	"SERVICE_CIDR":                       "10.128.0.0/16",
	"SERVICE_DOMAIN":                     "k8s.example",
}

// everyVariable has a value for each variable.
func everyVariable() map[string]string {
	all := map[string]string{}
	for _, some := range []map[string]string{required, optional} {
		for name, value := range some {
			all[name] = value
		}
	}
	return all
}

func TestClusterTemplateListsItsVariables(t *testing.T) {
	t.Parallel()
	out, err := newRelease(t).clusterctl(t, nil, "cluster", "c1", "--target-namespace", "default", "--list-variables")
	if err != nil {
		t.Fatal(err)
	}
	requiredPart, optionalPart, found := strings.Cut(out, "Optional Variables:")
	if !found {
		t.Fatalf("no optional variables in:\n%s", out)
	}
	names := func(text string) map[string]bool {
		set := map[string]bool{}
		for _, match := range regexp.MustCompile(`(?m)^ +- ([A-Z_]+)`).FindAllStringSubmatch(text, -1) {
			set[match[1]] = true
		}
		return set
	}
	wantRequired, wantOptional := map[string]bool{}, map[string]bool{"CLUSTER_NAME": true} // It is an argument.
	for name := range required {
		wantRequired[name] = true
	}
	for name := range optional {
		wantOptional[name] = true
	}
	if got := names(requiredPart); !reflect.DeepEqual(got, wantRequired) {
		t.Errorf("required variables are %v, want %v", got, wantRequired)
	}
	if got := names(optionalPart); !reflect.DeepEqual(got, wantOptional) {
		t.Errorf("optional variables are %v, want %v", got, wantOptional)
	}
}

func TestClusterTemplateNeedsItsRequiredVariables(t *testing.T) {
	t.Parallel()
	repository := newRelease(t)
	for missing := range required {
		variables := everyVariable()
		delete(variables, missing)
		_, err := repository.clusterctl(t, variables, "cluster", "c1", "--target-namespace", "default")
		if err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s, clusterctl says %v, want it named", missing, err)
		}
	}
}

func TestClusterTemplateObeysVariables(t *testing.T) {
	t.Parallel()
	withEmpty := everyVariable()
	for _, name := range []string{"CONTROL_PLANE_MACHINE_TAG", "WORKER_MACHINE_TAG", "CONTROL_PLANE_MACHINE_RESOURCEPOOL", "WORKER_MACHINE_RESOURCEPOOL"} {
		withEmpty[name] = ""
	}
	repository := newRelease(t)
	for _, test := range []struct {
		name      string
		variables map[string]string
		args      []string
		want      map[string]string // path in the named object -> JSON
	}{
		{
			name:      "only the required ones",
			variables: required,
			want: map[string]string{
				"Cluster/c1 spec.clusterNetwork":                                   `{"pods":{"cidrBlocks":["192.168.0.0/16"]},"serviceDomain":"cluster.local","services":{"cidrBlocks":["10.96.0.0/12"]}}`,
				"MaasCluster/c1 spec":                                              `{"dnsDomain":"maas"}`,
				"KubeadmControlPlane/c1-control-plane spec.replicas":               `1`,
				"KubeadmControlPlane/c1-control-plane spec.version":                `"v1.36.3"`,
				"MachineDeployment/c1-md-0 spec.replicas":                          `0`,
				"MachineDeployment/c1-md-0 spec.template.spec.version":             `"v1.36.3"`,
				"MaasMachineTemplate/c1-control-plane spec.template.spec":          `{"image":"custom/ubuntu-kubernetes","minCPU":2,"minMemory":4096,"resourcePool":"","tags":[]}`,
				"MaasMachineTemplate/c1-md-0 spec.template.spec":                   `{"image":"custom/ubuntu-kubernetes","minCPU":2,"minMemory":4096,"resourcePool":"","tags":[]}`,
				"MachineHealthCheck/c1-control-plane spec.selector":                `{"matchLabels":{"cluster.x-k8s.io/control-plane":""}}`,
				"MachineHealthCheck/c1-md-0 spec.selector":                         `{"matchLabels":{"cluster.x-k8s.io/deployment-name":"c1-md-0"}}`,
				"MachineHealthCheck/c1-md-0 spec.checks.nodeStartupTimeoutSeconds": `10800`,
			},
		},
		{
			name:      "all of them",
			variables: everyVariable(),
			want: map[string]string{
				"Cluster/c1 spec.clusterNetwork":                          `{"pods":{"cidrBlocks":["10.244.0.0/16"]},"serviceDomain":"k8s.example","services":{"cidrBlocks":["10.128.0.0/16"]}}`,
				"KubeadmControlPlane/c1-control-plane spec.replicas":      `3`,
				"MachineDeployment/c1-md-0 spec.replicas":                 `5`,
				"MaasMachineTemplate/c1-control-plane spec.template.spec": `{"image":"custom/ubuntu-kubernetes","minCPU":4,"minMemory":8192,"resourcePool":"control","tags":["ssd"]}`,
				"MaasMachineTemplate/c1-md-0 spec.template.spec":          `{"image":"custom/ubuntu-kubernetes","minCPU":8,"minMemory":16384,"resourcePool":"workers","tags":["gpu","nvme"]}`,
			},
		},
		{
			name:      "empty tags and pools",
			variables: withEmpty,
			want: map[string]string{
				"MaasMachineTemplate/c1-control-plane spec.template.spec": `{"image":"custom/ubuntu-kubernetes","minCPU":4,"minMemory":8192,"resourcePool":"","tags":[]}`,
				"MaasMachineTemplate/c1-md-0 spec.template.spec":          `{"image":"custom/ubuntu-kubernetes","minCPU":8,"minMemory":16384,"resourcePool":"","tags":[]}`,
			},
		},
		{
			name:      "counts as arguments",
			variables: required,
			args:      []string{"--control-plane-machine-count", "3", "--worker-machine-count", "2"},
			want: map[string]string{
				"KubeadmControlPlane/c1-control-plane spec.replicas": `3`,
				"MachineDeployment/c1-md-0 spec.replicas":            `2`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			objects := repository.generateCluster(t, test.variables, test.args...)
			for where, want := range test.want {
				if got := lookUp(t, objects, where); got != want {
					t.Errorf("%s is %s, want %s", where, got, want)
				}
			}
		})
	}
}

// lookUp returns the JSON of a field, such as "Cluster/c1 spec.paused".
func lookUp(t *testing.T, objects []*unstructured.Unstructured, where string) string {
	t.Helper()
	object, path, _ := strings.Cut(where, " ")
	kind, name, _ := strings.Cut(object, "/")
	field, found, err := unstructured.NestedFieldNoCopy(find(t, objects, kind, name).Object, strings.Split(path, ".")...)
	if err != nil || !found {
		t.Fatalf("%s: found %v, error %v", where, found, err)
	}
	data, err := json.Marshal(field)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// No kubelet may set the provider ID: it cannot know the zone, and CAPMAAS sets it on the Node.
func TestClusterTemplateLeavesTheProviderIDToCAPMAAS(t *testing.T) {
	t.Parallel()
	out, err := newRelease(t).clusterctl(t, required, "cluster", "c1", "--target-namespace", "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"provider-id", "providerID", "cloud-provider"} {
		if strings.Contains(out, word) {
			t.Errorf("the template mentions %s", word)
		}
	}
}
