package follow

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func condition(kind string, status metav1.ConditionStatus, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Reason", Message: message}
}

func machine(name string, controlPlane bool, node string, conditions ...metav1.Condition) clusterv1.Machine {
	m := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if controlPlane {
		m.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
	}
	m.Spec.InfrastructureRef.Name = name
	m.Status.NodeRef.Name = node
	m.Status.Conditions = conditions
	return m
}

func maasMachine(systemID string, ready metav1.Condition) infrav1.MaasMachine {
	m := infrav1.MaasMachine{}
	m.Spec.SystemID = systemID
	m.Status.Conditions = []metav1.Condition{ready}
	return m
}

// halfWay is a cluster of 1 + 1 whose worker is being installed.
func halfWay() *state {
	one := int32(1)
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: ClusterName}}
	cluster.Spec.ControlPlaneEndpoint.Host = "t-cluster-x.maas.sandbox"
	cluster.Status.Conditions = []metav1.Condition{condition(clusterv1.ClusterAvailableCondition, metav1.ConditionFalse, "* WorkersAvailable: not yet")}
	controlPlane := &controlplanev1.KubeadmControlPlane{}
	controlPlane.Spec.Replicas = &one
	deployment := clusterv1.MachineDeployment{}
	deployment.Spec.Replicas = &one
	node := corev1.Node{}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return &state{
		cluster: cluster, controlPlane: controlPlane, deployments: []clusterv1.MachineDeployment{deployment},
		machines: []clusterv1.Machine{
			machine("a-worker", false, "", condition("Ready", metav1.ConditionFalse, "* InfrastructureReady: later")),
			machine("cp", true, "calm-dingo", condition("Ready", metav1.ConditionTrue, "")),
		},
		maas: map[string]infrav1.MaasMachine{
			"cp":       maasMachine("abc123", condition("Ready", metav1.ConditionTrue, "")),
			"a-worker": maasMachine("def456", condition("Ready", metav1.ConditionFalse, "MAAS is installing the image")),
		},
		hosts: map[string]simulator.MachineSnapshot{
			"abc123": {Hostname: "calm-dingo", StatusName: "Deployed", PowerState: "on", Addresses: []string{"10.20.0.10"}},
			"def456": {Hostname: "brave-crane", StatusName: "Deploying", PowerState: "on", Addresses: []string{"10.20.0.11"}},
		},
		workload: workloadState{serves: true, nodes: map[string]corev1.Node{"calm-dingo": node}, dns: 1, dnsWanted: 2},
	}
}

func TestTableShowsTheControlPlaneFirstAndWhatEachWaitsFor(t *testing.T) {
	t.Parallel()
	want := []string{
		"MACHINE   MAAS HOST    STATE      POWER  ADDRESS     NODE        READY  WAITING FOR",
		"cp        calm-dingo   Deployed   on     10.20.0.10  calm-dingo  True",
		"a-worker  brave-crane  Deploying  on     10.20.0.11  -           -      MAAS is installing the image",
	}
	if got := strings.Join(table(halfWay().rows()), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("table:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestMissingNamesAllThatIsNotReached(t *testing.T) {
	t.Parallel()
	s := halfWay()
	got := strings.Join(s.missing(), "\n")
	for _, want := range []string{"1 of 2 Nodes are Ready", "1 of 2 pods of CoreDNS", "not Available: not yet"} {
		if !strings.Contains(got, want) {
			t.Errorf("missing:\n%s\nlacks %q", got, want)
		}
	}
	s.workload.nodes["brave-crane"] = s.workload.nodes["calm-dingo"]
	s.workload.dns = 2
	s.cluster.Status.Conditions = []metav1.Condition{condition(clusterv1.ClusterAvailableCondition, metav1.ConditionTrue, "")}
	if got := s.missing(); len(got) != 0 {
		t.Errorf("all is reached, and still missing: %q", got)
	}
	s.machines = s.machines[:1]
	if got := s.missing(); len(got) == 0 {
		t.Error("a Machine that does not exist is not missed")
	}
	if got := (&state{}).missing(); len(got) == 0 {
		t.Error("a cluster that does not exist is not missed")
	}
}

func TestScreenRedrawsInPlaceAndNeverWraps(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := newView(&out, 60, 24)
	v.show(halfWay(), time.Second)
	lines := strings.Count(out.String(), "\n")
	for line := range strings.Lines(out.String()) {
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 60 {
			t.Errorf("a line has %d columns: %q", width, line)
		}
	}
	out.Reset()
	v.show(halfWay(), 2*time.Second)
	if up, _, _ := strings.Cut(out.String(), "A"); up != fmt.Sprintf("\x1b[%d", lines) {
		t.Errorf("the second drawing starts with %q after %d lines", up, lines)
	}
}

func TestNarrowTableSaysBelowEachMachineWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	want := []string{
		"MACHINE   MAAS HOST    STATE      POWER  ADDRESS     READY",
		"cp        calm-dingo   Deployed   on     10.20.0.10  True",
		"a-worker  brave-crane  Deploying  on     10.20.0.11  -",
		"  MAAS is installing the image",
	}
	if got := strings.Join(tableFor(halfWay().rows(), 80), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("table:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	if got := tableFor(halfWay().rows(), 160); len(got) != 3 {
		t.Errorf("a wide terminal has room for all, and the table is:\n%s", strings.Join(got, "\n"))
	}
}

func TestScreenDrawsNoMoreThanTheTerminalIsHigh(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	newView(&out, 80, 8).show(halfWay(), time.Second)
	if lines := strings.Count(out.String(), "\n"); lines != 7 {
		t.Errorf("%d lines on a terminal with 8, of which the cursor has one:\n%s", lines, out.String())
	}
	if want := "… and 3 lines more: make sandbox-status\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("output:\n%s\ndoes not end with %q", out.String(), want)
	}
}

func TestMessagesDoNotRepeatTheNameAndTheStateBesideThem(t *testing.T) {
	t.Parallel()
	host := simulator.MachineSnapshot{SystemID: "abc123", Hostname: "calm-dingo", StatusName: "Deploying"}
	for message, want := range map[string]string{
		"machine calm-dingo (abc123) in MAAS 10.20.0.2:5240 is in state Deploying (MAAS is installing the image)": "MAAS is installing the image",
		"machine calm-dingo (abc123) in MAAS 10.20.0.2:5240 is in state Deploying (so): do that":                  "so: do that",
		"machine calm-dingo (abc123) in MAAS 10.20.0.2:5240 is in state Testing (an operator has it tested)":      "machine calm-dingo (abc123) in MAAS 10.20.0.2:5240 is in state Testing (an operator has it tested)",
		"machine calm-dingo (abc123) in MAAS 10.20.0.2:5240":                                                      "machine calm-dingo (abc123) in MAAS 10.20.0.2:5240",
		"waiting for the bootstrap data": "waiting for the bootstrap data",
	} {
		if got := withoutName(message, host); got != want {
			t.Errorf("withoutName(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestLinesAppearOnlyWhenSomethingChanged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := newView(&out, 0, 0)
	v.show(halfWay(), 65*time.Second)
	for _, want := range []string{
		"[ 1m05s] the control plane is to be reached at t-cluster-x.maas.sandbox\n",
		"[ 1m05s] cp: calm-dingo is Deployed, power on, 10.20.0.10, Node calm-dingo Ready=True\n",
		"[ 1m05s] a-worker: brave-crane is Deploying, power on, 10.20.0.11, MAAS is installing the image\n",
		"[ 1m05s] 1 of 2 Nodes are Ready\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output:\n%s\nlacks %q", out.String(), want)
		}
	}
	out.Reset()
	v.show(halfWay(), 66*time.Second)
	if out.Len() != 0 {
		t.Errorf("nothing changed, and still: %q", out.String())
	}
	s := halfWay()
	s.machines = s.machines[1:]
	v.show(s, 67*time.Second)
	if want := "[ 1m07s] a-worker is gone\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestOneLineSaysOnceWhatSeveralConditionsSay(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"MAAS is installing the image": "MAAS is installing the image",
		"* NodeHealthy: Waiting for A\n* Control plane components: Waiting for A\n* EtcdMemberHealthy: Waiting for B": "Waiting for A; Waiting for B",
		"* NodeHealthy:\n  * Node.Ready: no network":                                                                  "no network",
		"* Machine a: it failed": "Machine a: it failed",
		"":                       "",
	} {
		if got := oneLine(message); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestComplaintsLeaveOutWhatIsGoodAndWhatWasSaid(t *testing.T) {
	t.Parallel()
	s := halfWay()
	s.machines[0].Status.Conditions = append(s.machines[0].Status.Conditions,
		condition("Paused", metav1.ConditionFalse, ""), condition("ScalingUp", metav1.ConditionTrue, "busy"))
	s.cluster.Status.Conditions = append(s.cluster.Status.Conditions,
		condition("WorkerMachinesReady", metav1.ConditionFalse, "* Machine a-worker:\n  * InfrastructureReady: later"))
	var got []string
	for _, c := range s.complaints() {
		got = append(got, c.object+" "+c.condition)
	}
	want := []string{"MaasMachine/ Ready=False", "Machine/a-worker Ready=False", "Machine/a-worker ScalingUp=True", "Cluster/t-cluster Available=False"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("complaints:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAMachineWhoseImageIsBeingUnpackedSaysSo(t *testing.T) {
	t.Parallel()
	claim := maasMachine("def456", condition("Ready", metav1.ConditionFalse, "MAAS is installing the image"))
	host := simulator.MachineSnapshot{Hostname: "brave-crane", SystemID: "def456", StatusName: "Deploying", StatusMessage: "Installing OS - unpacking custom/other"}
	if got := waitsFor(claim, host); got != "MAAS is unpacking custom/other" {
		t.Errorf("it waits for %q", got)
	}
	for status, message := range map[string]string{"Deploying": "Configuring OS", "Deployed": "Installing OS - unpacking custom/other"} {
		host.StatusName, host.StatusMessage = status, message
		if got := waitsFor(claim, host); got != "MAAS is installing the image" {
			t.Errorf("%s, %s: it waits for %q", status, message, got)
		}
	}
}
