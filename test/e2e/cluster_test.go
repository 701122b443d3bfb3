package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	namespace   = "default"
	clusterName = "t-cluster"
)

// TestLifeOfACluster makes a cluster whose manager is killed on the way, uses it, scales it, and deletes it. Each step builds on
// the one before.
func TestLifeOfACluster(t *testing.T) {
	s := start(t, 5)
	management := s.cluster("management.kubeconfig")
	before := s.snapshot()

	step := func(name string, run func(t *testing.T)) {
		passed := t.Run(name, func(t *testing.T) {
			s.t = t
			run(t)
		})
		s.t = t
		if !passed {
			t.FailNow()
		}
	}
	step("the manager is killed while MAAS allocates, and yet each machine is claimed once and the cluster is finished", func(t *testing.T) {
		s.ask("POST", "/components/capmaas/kill?on=allocate", nil)
		s.run("up", "--control-plane=1", "--workers=1")
		checkKilled(t, s)
		if owned := s.owned(); len(owned) != 2 {
			t.Errorf("two machines were wanted, and %d are owned: %s", len(owned), owned)
		}
	})
	step("the machines run exactly the image that was built and uploaded", func(t *testing.T) { checkImage(t, s) })
	workload := s.cluster(clusterName + ".kubeconfig")
	step("each Node got its provider ID from our manager, after it registered without one", func(t *testing.T) {
		checkProviderIDs(t, management, workload)
	})
	step("pods on two Nodes resolve a Service and reach each other", func(t *testing.T) {
		checkNetwork(t, workload)
	})
	step("it scales to two workers", func(t *testing.T) {
		scale(t, management, 2)
		waitForNodes(t, workload, 3)
	})
	step("it scales back to one worker, and the machine is free again", func(t *testing.T) {
		scale(t, management, 1)
		waitForNodes(t, workload, 2)
		eventually(t, 2*time.Minute, "two machines are owned", func() string {
			if owned := s.owned(); len(owned) != 2 {
				return fmt.Sprintf("owned are %s", owned)
			}
			return ""
		})
	})
	step("what is no image of a machine fails the deploy, which says so", func(t *testing.T) { checkBroken(t, s) })
	step("another image is uploaded into the running sandbox, and a machine boots it", func(t *testing.T) { checkOther(t, s) })
	step("it is deleted, and the region is as it was before", func(t *testing.T) {
		deleteCluster(t, management)
		eventually(t, time.Minute, "the region is as it was", func() string { return difference(before, s.snapshot()) })
	})
}

// checkKilled makes sure that the test tests what it says: the allocation had no answer, and the manager was started again.
func checkKilled(t *testing.T, s *sandbox) {
	t.Helper()
	var status struct {
		Components []struct {
			Name     string `json:"name"`
			Restarts int    `json:"restarts"`
		} `json:"components"`
	}
	s.ask("GET", "/status", &status)
	for _, component := range status.Components {
		if component.Name == "capmaas" && component.Restarts != 1 {
			t.Errorf("the manager was started again %d times, not once", component.Restarts)
		}
	}
	allocations := s.requests("allocate")
	if len(allocations) == 0 || allocations[0].Status != 0 {
		t.Fatalf("the first allocation was answered: %+v", allocations)
	}
}

func checkProviderIDs(t *testing.T, management, workload cluster) {
	t.Helper()
	var machines infrav1.MaasMachineList
	list(t, management, &machines, client.InNamespace(namespace))
	var wanted []string
	for _, machine := range machines.Items {
		wanted = append(wanted, machine.Spec.ProviderID)
	}
	var nodes corev1.NodeList
	list(t, workload, &nodes)
	var have []string
	for _, node := range nodes.Items {
		have = append(have, node.Spec.ProviderID)
		if writers := writersOfProviderID(t, node); !slices.Equal(writers, []string{"capmaas-manager"}) {
			t.Errorf("the provider ID of Node %s was written by %q, and should have been by capmaas-manager alone", node.Name, writers)
		}
	}
	slices.Sort(wanted)
	slices.Sort(have)
	if !slices.Equal(wanted, have) || slices.Contains(have, "") {
		t.Errorf("the Nodes' provider IDs are %q, those of the MaasMachines %q", have, wanted)
	}
}

// writersOfProviderID names the field managers of a Node's spec.providerID. A kubelet that had registered with one would be
// among them.
func writersOfProviderID(t *testing.T, node corev1.Node) []string {
	t.Helper()
	var writers []string
	for _, entry := range node.ManagedFields {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		if _, wrote := fields.Spec["f:providerID"]; wrote {
			writers = append(writers, entry.Manager)
		}
	}
	return writers
}

func checkNetwork(t *testing.T, workload cluster) {
	t.Helper()
	apply(t, workload, filepath.Join(root, "images/workload/hello.yaml"))
	eventually(t, 3*time.Minute, "both pods are available", func() string {
		var deployment appsv1.Deployment
		if err := workload.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "hello"}, &deployment); err != nil {
			return err.Error()
		}
		if deployment.Status.AvailableReplicas != 2 {
			return fmt.Sprintf("%d of 2 pods are available", deployment.Status.AvailableReplicas)
		}
		return ""
	})
	eventually(t, time.Minute, "the pods reach each other", func() string { return peersWrong(t, workload) })
}

// peersWrong asks each pod what it reaches.
func peersWrong(t *testing.T, workload cluster) string {
	var pods corev1.PodList
	list(t, workload, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "hello"})
	onNodes := map[string]bool{}
	for _, pod := range pods.Items {
		onNodes[pod.Spec.NodeName] = true
		answer, err := workload.raw.CoreV1().Pods(namespace).ProxyGet("http", pod.Name, "8080", "peers", nil).DoRaw(t.Context())
		if err != nil {
			return fmt.Sprintf("pod %s: %v", pod.Name, err)
		}
		var report struct {
			Service struct{ Says, Error string }
			Peers   []struct{ Address, Says, Error string }
		}
		if err := json.Unmarshal(answer, &report); err != nil {
			return fmt.Sprintf("pod %s answered %q", pod.Name, answer)
		}
		if report.Service.Says == "" {
			return fmt.Sprintf("pod %s does not reach the Service: %s", pod.Name, report.Service.Error)
		}
		if len(report.Peers) != 2 || report.Peers[0].Says == "" || report.Peers[1].Says == "" {
			return fmt.Sprintf("pod %s reaches %+v", pod.Name, report.Peers)
		}
	}
	if len(onNodes) != 2 {
		return fmt.Sprintf("the pods are on %d Nodes", len(onNodes))
	}
	return ""
}

func scale(t *testing.T, management cluster, workers int32) {
	t.Helper()
	var deployments clusterv1.MachineDeploymentList
	list(t, management, &deployments, client.InNamespace(namespace))
	if len(deployments.Items) != 1 {
		t.Fatalf("there are %d MachineDeployments, not one", len(deployments.Items))
	}
	deployment := &deployments.Items[0]
	old := deployment.DeepCopy()
	deployment.Spec.Replicas = &workers
	if err := management.Patch(t.Context(), deployment, client.MergeFrom(old)); err != nil {
		t.Fatal(err)
	}
}

func waitForNodes(t *testing.T, workload cluster, count int) {
	t.Helper()
	eventually(t, 5*time.Minute, fmt.Sprintf("%d Nodes are Ready", count), func() string {
		var nodes corev1.NodeList
		if err := workload.List(t.Context(), &nodes); err != nil {
			return err.Error()
		}
		ready := 0
		for _, node := range nodes.Items {
			for _, condition := range node.Status.Conditions {
				if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		if len(nodes.Items) != count || ready != count {
			return fmt.Sprintf("%d Nodes, %d of them Ready", len(nodes.Items), ready)
		}
		return ""
	})
}

func deleteCluster(t *testing.T, management cluster) {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: clusterName}
	object := &clusterv1.Cluster{}
	object.Namespace, object.Name = key.Namespace, key.Name
	if err := management.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Minute, "the Cluster is gone", func() string {
		err := management.Get(t.Context(), key, &clusterv1.Cluster{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		var machines infrav1.MaasMachineList
		list(t, management, &machines, client.InNamespace(namespace))
		return fmt.Sprintf("it is still there, with %d MaasMachines", len(machines.Items))
	})
}

// difference says where two snapshots differ, time stamps and events aside.
func difference(before, after simulator.Snapshot) string {
	before, after = before.WithoutHistory(), after.WithoutHistory()
	if reflect.DeepEqual(before, after) {
		return ""
	}
	old, _ := json.MarshalIndent(before, "", " ")
	now, _ := json.MarshalIndent(after, "", " ")
	was, is := strings.Split(string(old), "\n"), strings.Split(string(now), "\n")
	var text strings.Builder
	for i := range max(len(was), len(is)) {
		var a, b string
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b && text.Len() < 2000 {
			fmt.Fprintf(&text, "\nline %d: was %s, is %s", i, a, b)
		}
	}
	return text.String()
}

func list(t *testing.T, from client.Reader, into client.ObjectList, options ...client.ListOption) {
	t.Helper()
	if err := from.List(t.Context(), into, options...); err != nil {
		t.Fatal(err)
	}
}

// apply makes the objects of a file.
func apply(t *testing.T, to cluster, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if err := to.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}
