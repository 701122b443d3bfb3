package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// TestSystemChaos gives a cluster its life, from nothing to nothing, while processes are killed, MAAS lies and breaks, and a colleague
// takes machines. What goes wrong is drawn from a seed; when it strikes depends on the machine that runs the test, so a seed is not
// replayed exactly: that is what the deterministic chaos is for. This one sees what that cannot: real processes and real clocks.
//
// CHAOS_SEEDS says how many seeds, and CHAOS_SEED which is the first.
func TestSystemChaos(t *testing.T) {
	first, count := number(t, "CHAOS_SEED", 1), number(t, "CHAOS_SEEDS", 1)
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			begin := time.Now()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the same again: make chaos-sandbox SEED=%d", seed)
				}
			})
			liveInTrouble(t, uint64(seed))
			t.Logf("seed %d passed in %s", seed, time.Since(begin).Round(time.Second))
		})
	}
}

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s is %q, and no number", variable, text)
	}
	return n
}

func liveInTrouble(t *testing.T, seed uint64) {
	s := start(t, 7)
	management := s.cluster("management.kubeconfig")
	before := s.snapshot()
	trouble := begin(t, s, seed)
	defer trouble.stop()

	s.run("up", "--control-plane=1", "--workers=1")
	workload := s.cluster(clusterName + ".kubeconfig")
	insist(t, "it is scaled to three workers", func() error { return setWorkers(t, management, 3) })
	waitForReadyNodes(t, workload, 4, "")
	lost := trouble.takeWorker()
	insist(t, "the Machine of "+lost+", which a colleague took, is deleted", func() error { return deleteMachineOf(t, management, lost) })
	waitForReadyNodes(t, workload, 4, lost)
	insist(t, "it is scaled to one worker", func() error { return setWorkers(t, management, 1) })
	eventually(t, 5*time.Minute, "two machines are ours", func() string {
		if ours := trouble.ours(); len(ours) != 2 {
			return fmt.Sprintf("ours are %s", ours)
		}
		return ""
	})
	insist(t, "the Cluster is deleted", func() error {
		object := &clusterv1.Cluster{}
		object.Namespace, object.Name = namespace, clusterName
		return client.IgnoreNotFound(management.Delete(t.Context(), object))
	})
	eventually(t, 5*time.Minute, "the Cluster is gone", func() string {
		err := management.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: clusterName}, &clusterv1.Cluster{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("it is still there (%v)", err)
	})
	trouble.stop()
	trouble.giveBack()
	eventually(t, 2*time.Minute, "the region is as it was", func() string { return difference(before, s.snapshot()) })
	trouble.checkStrangers()
}

// insist does something as a person would, who tries again when the API server is away.
func insist(t *testing.T, what string, do func() error) {
	t.Helper()
	eventually(t, time.Minute, what, func() string {
		if err := do(); err != nil {
			return err.Error()
		}
		return ""
	})
}

func setWorkers(t *testing.T, management cluster, workers int32) error {
	var all clusterv1.MachineDeploymentList
	if err := management.List(t.Context(), &all, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(all.Items) != 1 {
		return fmt.Errorf("there are %d MachineDeployments, not one", len(all.Items))
	}
	old := all.Items[0].DeepCopy()
	all.Items[0].Spec.Replicas = &workers
	return management.Patch(t.Context(), &all.Items[0], client.MergeFrom(old))
}

// deleteMachineOf deletes the Machine whose MaasMachine has a machine of MAAS.
func deleteMachineOf(t *testing.T, management cluster, systemID string) error {
	var all infrav1.MaasMachineList
	if err := management.List(t.Context(), &all, client.InNamespace(namespace)); err != nil {
		return err
	}
	i := slices.IndexFunc(all.Items, func(m infrav1.MaasMachine) bool { return m.Spec.SystemID == systemID })
	if i < 0 || len(all.Items[i].OwnerReferences) == 0 {
		return fmt.Errorf("no MaasMachine has %s", systemID)
	}
	object := &clusterv1.Machine{}
	object.Namespace, object.Name = namespace, all.Items[i].OwnerReferences[0].Name
	return client.IgnoreNotFound(management.Delete(t.Context(), object))
}

// waitForReadyNodes waits for so many Nodes, none of them on the machine that was lost.
func waitForReadyNodes(t *testing.T, workload cluster, count int, lost string) {
	t.Helper()
	eventually(t, 8*time.Minute, fmt.Sprintf("%d Nodes are Ready, and no others are there", count), func() string {
		var nodes corev1.NodeList
		if err := workload.List(t.Context(), &nodes); err != nil {
			return err.Error()
		}
		ready := 0
		for _, node := range nodes.Items {
			if lost != "" && strings.HasSuffix(node.Spec.ProviderID, "/"+lost) {
				return "the Node of the lost machine is still there"
			}
			if slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				ready++
			}
		}
		if len(nodes.Items) != count || ready != count {
			return fmt.Sprintf("%d Nodes, %d of them Ready", len(nodes.Items), ready)
		}
		return ""
	})
}
