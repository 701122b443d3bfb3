package follow

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// row tells of one Machine.
type row struct {
	machine, host, state, power, address, node, ready, waiting string
}

// rows tell of all Machines: those of the control plane first.
func (s *state) rows() []row {
	machines := slices.Clone(s.machines)
	slices.SortFunc(machines, func(a, b clusterv1.Machine) int {
		if ofControlPlane(a) != ofControlPlane(b) {
			if ofControlPlane(a) {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	out := make([]row, 0, len(machines))
	for _, m := range machines {
		out = append(out, s.row(m))
	}
	return out
}

func ofControlPlane(m clusterv1.Machine) bool {
	_, ok := m.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

func (s *state) row(m clusterv1.Machine) row {
	r := row{machine: m.Name, waiting: "waiting for its MaasMachine"}
	if maas, ok := s.maas[m.Spec.InfrastructureRef.Name]; ok {
		r.host, r.state, r.power = maas.Status.Hostname, maas.Status.MachineState, maas.Status.PowerState
		if host, ok := s.hosts[maas.Spec.SystemID]; ok {
			r.host, r.state, r.power = host.Hostname, host.StatusName, host.PowerState
			r.address = strings.Join(host.Addresses, ",")
		}
		r.waiting = waitsFor(maas, s.hosts[maas.Spec.SystemID])
	}
	if words := s.failures[s.systemID(m)]; len(words) > 0 {
		r.waiting = "cloud-init failed: " + words[0]
	}
	r.node = m.Status.NodeRef.Name
	if node, ok := s.workload.nodes[r.node]; ok {
		r.ready = string(nodeReady(node))
	}
	if r.waiting == "" {
		r.waiting = unhappy(m.Status.Conditions, clusterv1.ReadyCondition)
	}
	return r
}

// systemID is that of the machine in MAAS; "" as long as none is claimed.
func (s *state) systemID(m clusterv1.Machine) string {
	return s.maas[m.Spec.InfrastructureRef.Name].Spec.SystemID
}

func nodeReady(node corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

// unhappy is the message of a condition that is not True, in one line; empty when it is.
func unhappy(conditions []metav1.Condition, kind string) string {
	c := meta.FindStatusCondition(conditions, kind)
	switch {
	case c == nil:
		return "not looked at yet"
	case c.Status == metav1.ConditionTrue:
		return ""
	case c.Message == "":
		return c.Reason
	}
	return oneLine(c.Message)
}

// waitsFor is what a MaasMachine waits for, with what MAAS says of the installation where the sandbox makes it take long.
func waitsFor(maas infrav1.MaasMachine, host simulator.MachineSnapshot) string {
	if what, found := strings.CutPrefix(host.StatusMessage, "Installing OS - unpacking "); found && host.StatusName == "Deploying" {
		return "MAAS is unpacking " + what
	}
	return withoutName(unhappy(maas.Status.Conditions, "Ready"), host)
}

// withoutName drops from a message the machine's name and state, which stand beside it.
func withoutName(message string, host simulator.MachineSnapshot) string {
	rest, named := strings.CutPrefix(message, fmt.Sprintf("machine %s (%s) in MAAS ", host.Hostname, host.SystemID))
	_, rest, stated := strings.Cut(rest, " is in state "+host.StatusName+" (")
	means, todo, found := strings.Cut(rest, ")")
	if !named || !stated || !found {
		return message
	}
	return means + todo
}

// oneLine puts a message that lists several conditions into one line, and says once what several of them say.
func oneLine(message string) string {
	var parts []string
	for line := range strings.Lines(message) {
		text := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*- "))
		// The names of the conditions help those who look at the object; "NodeHealthy: Waiting for …" says no more than the rest.
		if kind, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(strings.TrimSpace(line), "*") && isCondition(kind) {
			text = rest
		}
		header := strings.HasSuffix(text, ":")
		text = strings.TrimSuffix(text, ":")
		if text != "" && (!header || !isCondition(text)) && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// isCondition says whether a text looks like the name of a condition, or of several.
func isCondition(text string) bool {
	if text == "Control plane components" || text == "Etcd member" {
		return true
	}
	return text != "" && !strings.ContainsAny(text, " \t[]") && text[0] >= 'A' && text[0] <= 'Z'
}

// milestones are what of the cluster as a whole is reached.
func (s *state) milestones() []string {
	if s.cluster == nil {
		return nil
	}
	var out []string
	if host := s.cluster.Spec.ControlPlaneEndpoint.Host; host != "" {
		out = append(out, "the control plane is to be reached at "+host)
	}
	if s.workload.serves {
		out = append(out, "its API server serves")
	}
	if s.workload.network {
		out = append(out, "the pods' network was applied")
	}
	if s.workload.dnsWanted > 0 && s.workload.dns >= s.workload.dnsWanted {
		out = append(out, "CoreDNS is available")
	}
	if meta.IsStatusConditionTrue(s.cluster.Status.Conditions, clusterv1.ClusterAvailableCondition) {
		out = append(out, "Cluster API calls the cluster Available")
	}
	return out
}

// readyNodes counts the Nodes that are Ready.
func (s *state) readyNodes() int {
	count := 0
	for _, node := range s.workload.nodes {
		if nodeReady(node) == corev1.ConditionTrue {
			count++
		}
	}
	return count
}

// missing says what is not reached yet; nothing when all is.
func (s *state) missing() []string {
	if s.cluster == nil {
		return []string{"the Cluster object is not there"}
	}
	var out []string
	if have, want := len(s.machines), s.wanted(); have != want || want == 0 {
		out = append(out, fmt.Sprintf("%d of %d Machines exist", have, want))
	}
	if s.workload.trouble != "" {
		out = append(out, s.workload.trouble)
	}
	if !s.workload.serves {
		return append(out, "its API server does not serve")
	}
	if have, want := s.readyNodes(), s.wanted(); have != want {
		out = append(out, fmt.Sprintf("%d of %d Nodes are Ready", have, want))
	}
	if s.workload.dnsWanted == 0 || s.workload.dns < s.workload.dnsWanted {
		out = append(out, fmt.Sprintf("%d of %d pods of CoreDNS are available", s.workload.dns, s.workload.dnsWanted))
	}
	if message := unhappy(s.cluster.Status.Conditions, clusterv1.ClusterAvailableCondition); message != "" {
		out = append(out, "the Cluster is not Available: "+message)
	}
	return out
}

// complaint is a condition that is not as it should be.
type complaint struct{ object, condition, message string }

// complaints lists the conditions that are not as they should be, from the machines upwards. What an object below has said is
// not said again: most conditions of a Cluster repeat those of its Machines.
func (s *state) complaints() []complaint {
	var out []complaint
	said := map[string]bool{}
	add := func(object string, conditions []metav1.Condition) {
		for _, c := range conditions {
			good := !negative(c.Type)
			if (c.Status == metav1.ConditionTrue) == good || nothingNew(said, oneLine(c.Message)) {
				continue
			}
			out = append(out, complaint{object, c.Type + "=" + string(c.Status), c.Reason + ": " + oneLine(c.Message)})
		}
	}
	for _, m := range s.machines {
		if maas, ok := s.maas[m.Spec.InfrastructureRef.Name]; ok {
			add("MaasMachine/"+maas.Name, maas.Status.Conditions)
		}
		add("Machine/"+m.Name, m.Status.Conditions)
		said["Machine "+m.Name] = true
	}
	if s.controlPlane != nil {
		add("KubeadmControlPlane/"+s.controlPlane.Name, s.controlPlane.Status.Conditions)
	}
	if s.cluster != nil {
		add("Cluster/"+s.cluster.Name, s.cluster.Status.Conditions)
	}
	return out
}

// nothingNew says whether all parts of a message were said, and notes them.
func nothingNew(said map[string]bool, message string) bool {
	nothing := true
	for part := range strings.SplitSeq(message, "; ") {
		if part != "" && !said[part] {
			nothing = false
			said[part] = true
		}
	}
	return nothing
}

// negative says whether a condition is good when it is False, by its name.
func negative(kind string) bool {
	for _, word := range []string{"Paused", "Deleting", "RollingOut", "ScalingUp", "ScalingDown", "Remediating", "Updating"} {
		if kind == word || strings.HasSuffix(kind, word) {
			return true
		}
	}
	return false
}
