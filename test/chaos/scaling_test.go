package chaos

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// count sorts the Machines of a role.
type count struct {
	live, leaving, outdated, sick []*clusterv1.Machine
	allWell                       bool // all that do not leave
}

func (c *cluster) count(r role) count {
	n := count{allWell: true}
	for _, m := range c.machines(r) {
		if !m.DeletionTimestamp.IsZero() {
			n.leaving = append(n.leaving, m)
			continue
		}
		n.live = append(n.live, m)
		n.allWell = n.allWell && c.isWell(m)
		if c.isSick(m) {
			n.sick = append(n.sick, m)
		}
		if m.Labels[generationLabel] != number(c.generation[r]) {
			n.outdated = append(n.outdated, m)
		}
	}
	return n
}

// scalesControlPlane is what the controller of a kubeadm control plane does: one thing at a time, and only while all is well.
func (c *cluster) scalesControlPlane() {
	n := c.count(controlPlane)
	switch {
	case len(n.live)+len(n.leaving) == 0:
		c.makes(controlPlane)
	case len(n.leaving) > 0:
	case len(n.sick) > 0 && (!c.initialized || c.anyWell(n)):
		c.deleteMachine(n.sick[0], "it is unhealthy")
	case !n.allWell:
	case len(n.live) < c.wanted[controlPlane], len(n.outdated) > 0 && len(n.live) == c.wanted[controlPlane]:
		c.makes(controlPlane)
	case len(n.live) > c.wanted[controlPlane] && len(n.outdated) > 0:
		c.deleteMachine(n.outdated[0], "it is outdated")
	case len(n.live) > c.wanted[controlPlane]:
		c.deleteMachine(n.live[0], "fewer are wanted")
	}
}

// anyWell says that a machine is there which a new one can join. Kubeadm's control plane wants a majority of them.
func (c *cluster) anyWell(n count) bool { return slices.ContainsFunc(n.live, c.isWell) }

// scalesWorkers is what the controllers of MachineDeployments and MachineHealthChecks do.
func (c *cluster) scalesWorkers() {
	n := c.count(worker)
	for _, m := range n.sick {
		c.deleteMachine(m, "it is unhealthy")
	}
	switch {
	case len(n.sick) > 0:
	case len(n.live) < c.wanted[worker], len(n.outdated) > 0 && len(n.live) == c.wanted[worker]:
		c.makes(worker)
	case len(n.live) > c.wanted[worker] && len(n.outdated) > 0 && n.allWell:
		c.deleteMachine(n.outdated[0], "it is outdated")
	case len(n.live) > c.wanted[worker] && len(n.outdated) == 0:
		c.deleteMachine(n.live[0], "fewer are wanted")
	}
}

// isWell says that a Machine has a Node that is ready.
func (c *cluster) isWell(m *clusterv1.Machine) bool {
	node := find[*corev1.Node](c.workload, m.Status.NodeRef.Name)
	return node != nil && node.Status.Conditions[0].Status == corev1.ConditionTrue && node.Spec.ProviderID == m.Spec.ProviderID
}

// isSick says what a MachineHealthCheck does: a machine is to be replaced that has been bad for long.
func (c *cluster) isSick(m *clusterv1.Machine) bool {
	if !c.looksBad(m) {
		delete(c.ill, m.Name)
		return false
	}
	now := c.w.clock.Now()
	if c.ill[m.Name].IsZero() {
		c.ill[m.Name] = now
	}
	return now.Sub(c.ill[m.Name]) >= patience
}

// patience is how long a machine may look bad before it is replaced.
const patience = 12 * time.Minute

// looksBad says that the machine failed, or that its Node is not ready.
func (c *cluster) looksBad(m *clusterv1.Machine) bool {
	infra := find[*infrav1.MaasMachine](c.of.store, m.Name)
	if infra == nil {
		return true
	}
	for _, t := range []string{infrav1.MachineAllocatedCondition, infrav1.MachineDeployedCondition} {
		if failure := conditions.Get(infra, t); failure != nil && failure.Status == metav1.ConditionFalse && !isWaiting[failure.Reason] {
			return true
		}
	}
	return m.Status.NodeRef.IsDefined() && !c.isWell(m) || infra.Spec.ProviderID != "" && !m.Status.NodeRef.IsDefined()
}

// isWaiting are the reasons of a machine on its way. Others are failures.
var isWaiting = map[string]bool{
	infrav1.WaitingForOwnerReason: true, infrav1.WaitingForClusterInfrastructureReason: true, infrav1.WaitingForBootstrapDataReason: true,
	infrav1.ClaimingReason: true, infrav1.NoMachineAvailableReason: true, infrav1.DeployingReason: true, infrav1.DeployRetryReason: true,
	infrav1.ErasingDisksReason: true, infrav1.MachineLockedReason: true, infrav1.WaitingForMachineReason: true,
	infrav1.ClaimOutcomeUnknownReason: true, infrav1.DeployOutcomeUnknownReason: true,
}
