package follow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
)

// grace is how long a control plane has to stay failed before it counts: another machine may be claimed for one that failed.
const grace = 20 * time.Second

// bootstrapFailures looks on the disks of the machines that have no Node yet.
func bootstrapFailures(l host.Layout, s *state) map[string][]string {
	out := map[string][]string{}
	for _, m := range s.machines {
		id := s.systemID(m)
		if id == "" || m.Status.NodeRef.IsDefined() {
			continue
		}
		if words := machines.BootstrapFailure(l.Disk(id)); len(words) > 0 {
			out[id] = words
		}
	}
	return out
}

// hopeless says why the control plane will not come up although nothing is waited for: none of its machines serves, and each of them
// has failed for good. "" when there is hope.
func (s *state) hopeless() string {
	if s.workload.serves {
		return ""
	}
	var reasons []string
	for _, m := range s.machines {
		if !ofControlPlane(m) {
			continue
		}
		reason := s.failureOf(m)
		if reason == "" {
			return ""
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "; ")
}

// failureOf says why a Machine will never be a Node: in the words of its MaasMachine, or in those of its bootstrap. "" when it may.
func (s *state) failureOf(m clusterv1.Machine) string {
	maas, ok := s.maas[m.Spec.InfrastructureRef.Name]
	if !ok {
		return ""
	}
	if c := finalCondition(maas.Status.Conditions); c != nil {
		return fmt.Sprintf("MaasMachine %s is not going to be deployed: %s (%s)", maas.Name, oneLine(c.Message), c.Reason)
	}
	if words := s.failures[maas.Spec.SystemID]; len(words) > 0 {
		return fmt.Sprintf("machine %s was deployed, but cloud-init failed in it: %s", s.hosts[maas.Spec.SystemID].Hostname, words[0])
	}
	return ""
}

// finalCondition is the condition of a MaasMachine that says that its machine is lost to it, if one does.
func finalCondition(conditions []metav1.Condition) *metav1.Condition {
	for _, final := range []struct {
		kind    string
		reasons []string
	}{
		{infrav1.MachineDeployedCondition, []string{
			infrav1.DeployFailedReason, infrav1.MachineLeftDeployedReason, infrav1.MachineGivenBackReason, infrav1.MachineBrokenReason,
			infrav1.MachineMissingReason, infrav1.MachineRetiredReason, infrav1.MachineFailedTestingReason,
		}},
		{infrav1.MachineAllocatedCondition, []string{
			infrav1.MachineNotFoundReason, infrav1.MachineNotOursReason, infrav1.InvalidClaimReason,
		}},
	} {
		c := meta.FindStatusCondition(conditions, final.kind)
		if c != nil && c.Status == metav1.ConditionFalse && slices.Contains(final.reasons, c.Reason) {
			return c
		}
	}
	return nil
}

// verdict waits until a failure has lasted.
type verdict struct {
	why   string
	since time.Time
}

// of takes what is known now, and returns it when it has been the same for long enough.
func (v *verdict) of(why string, now time.Time) string {
	if why != v.why {
		v.why, v.since = why, now
	}
	if why == "" || now.Sub(v.since) < grace {
		return ""
	}
	return "the cluster cannot come up: " + why
}

// whereToLook names, for every machine that waits for something, what was said in it, and how to read more.
func (f *follower) whereToLook(s *state) string {
	var text strings.Builder
	for _, m := range s.machines {
		id, r := s.systemID(m), s.row(m)
		for _, line := range s.failures[id] {
			fmt.Fprintf(&text, "\n    %s says: %s", r.host, line)
		}
		if r.host != "" && r.waiting != "" {
			fmt.Fprintf(&text, "\n    console, cloud-init and kubeadm of %s: %s", r.host, f.Layout.Command("logs", r.host))
		}
	}
	return text.String()
}
