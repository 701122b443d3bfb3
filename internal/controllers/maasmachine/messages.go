package maasmachine

import (
	"cmp"
	"fmt"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/oneline"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nameOf names a machine for people: its name, its system ID, and where to find it.
func (o observation) nameOf(m *maas.Machine) string { return shortName(m) + " in MAAS " + o.maasHost }

// shortName is for sentences that name MAAS already.
func shortName(m *maas.Machine) string {
	return fmt.Sprintf("machine %s (%s)", brief(m.Hostname, maxName), m.SystemID)
}

// storedName names the machine of the spec, even where MAAS does not show it any more.
func (o observation) storedName() string {
	switch {
	case o.machine != nil:
		return shortName(o.machine)
	case o.object.Status.Hostname != "":
		return fmt.Sprintf("machine %s (%s)", o.object.Status.Hostname, o.systemID())
	}
	return "machine " + o.systemID()
}

// ownerName names the Machine that owns the object.
func (o observation) ownerName() string {
	if o.owner == nil {
		return "the Machine"
	}
	return "Machine " + o.owner.Name
}

// replace is how a person gets another machine. Kubernetes is named, for a machine in MAAS has a name too, and may be deleted as well.
func (o observation) replace() string {
	return fmt.Sprintf("delete %s in Kubernetes to get another", o.ownerName())
}

// bootstrapName names what makes the bootstrap data.
func (o observation) bootstrapName() string {
	if o.owner == nil || !o.owner.Spec.Bootstrap.ConfigRef.IsDefined() {
		return "its bootstrap object"
	}
	return o.owner.Spec.Bootstrap.ConfigRef.Kind + " " + o.owner.Spec.Bootstrap.ConfigRef.Name
}

// whereBootstrapIsSet is where a person changes bootstrap data: the object that a Machine refers to is made from these, and is not to be edited.
const whereBootstrapIsSet = "in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to"

// waitsForBootstrap says what is missing of the bootstrap data.
func (o observation) waitsForBootstrap() string {
	switch {
	case o.bootstrap.secret == "" && o.controlPlane():
		return fmt.Sprintf("waiting for the bootstrap data of %s: if it stays so, look at %s", o.ownerName(), o.bootstrapName())
	case o.bootstrap.secret == "":
		return fmt.Sprintf("waiting for the bootstrap data of %s: workers wait until the control plane is initialized; if it stays so after that, look at %s", o.ownerName(), o.bootstrapName())
	}
	what := "is not there"
	if o.bootstrap.found {
		what = `has nothing under the key "value"`
	}
	return fmt.Sprintf("the Secret %s with the bootstrap data of %s %s: look at %s", o.bootstrap.secret, o.ownerName(), what, o.bootstrapName())
}

// clusterName names the Cluster that the object's label names.
func (o observation) clusterName() string {
	return "Cluster " + o.object.Namespace + "/" + o.object.Labels[clusterv1.ClusterNameLabel]
}

// infraName names the object that makes the cluster's infrastructure.
func (o observation) infraName() string {
	if ref := o.cluster.Spec.InfrastructureRef; ref.IsDefined() {
		return ref.Kind + " " + ref.Name
	}
	return "the infrastructure of " + o.clusterName()
}

// tells says in which state a machine is, what that means, and which words MAAS has for it.
func (o observation) tells(m *maas.Machine) string {
	switch m.Status {
	case maas.StatusFailedDeployment:
		return fmt.Sprintf("the deployment of %s failed%s", o.nameOf(m), saying(o.failure))
	case maas.StatusBroken:
		return fmt.Sprintf("%s is marked broken%s", o.nameOf(m), saying(m.ErrorDescription))
	}
	return fmt.Sprintf("%s is in state %s (%s)", o.nameOf(m), m.Status, stateOf(m).means)
}

// saying is why something happened to a machine, if MAAS has words for it.
func saying(words string) string {
	if words = strings.TrimRight(brief(words, maxWords), ". "); words != "" {
		return " (MAAS says: " + words + ")"
	}
	return ""
}

// remedy is what a person can do about a machine that is not deployed, or not any more.
func (o observation) remedy() string {
	s := stateOf(o.machine)
	switch {
	case s.status == maas.StatusFailedDeployment && o.object.Spec.KeepFailed:
		return fmt.Sprintf("look at %s; %s, this one is kept (spec.keepFailed)", o.page, o.replace())
	case s.status == maas.StatusFailedDeployment:
		return fmt.Sprintf("look at %s; if it is at fault, mark it broken in MAAS; then %s", o.page, o.replace())
	case s.status == maas.StatusBroken && o.provisioned():
		return "mark it fixed in MAAS, or " + o.replace()
	case s.deploy == comesBack && o.provisioned():
		return fmt.Sprintf("%s; if you want another machine, delete %s in Kubernetes after that", s.todo, o.ownerName())
	case s.deploy == comesBack:
		return s.todo + ", and the deployment goes on"
	case s.release == waitsForPerson && strings.Contains(s.todo, ", or "): // what a person has to do has alternatives
		return fmt.Sprintf("first %s; after either, %s", s.todo, o.replace())
	case s.release == waitsForPerson:
		return fmt.Sprintf("first %s; after that, %s", s.todo, o.replace())
	}
	return o.replace()
}

// lost says what became of a machine that is in the spec and not, or no longer, ours.
func (o observation) lost() (reason, message string) {
	switch {
	case o.isOutOfSight():
		return o.outOfSight()
	case o.standing == holdsGone:
		return infrav1.MachineNotFoundReason, fmt.Sprintf("MAAS %s has no %s any more: %s", o.maasHost, o.storedName(), o.replace())
	case o.standing == holdsUnproven:
		return infrav1.MachineNotOursReason, fmt.Sprintf(
			"%s in MAAS %s was never allocated for this MaasMachine, and is left alone: look who set spec.systemID; to let go of it, set annotation %s and %s",
			o.storedName(), o.maasHost, abandonWith, o.replace())
	}
	return infrav1.MachineNotOursReason, fmt.Sprintf("%s in MAAS %s %s: %s", o.storedName(), o.maasHost, o.whose(), o.replace())
}

// whose says who has a machine that is not ours.
func (o observation) whose() string {
	m := o.machine
	switch {
	case m == nil:
		return "is not shown to CAPMAAS, so it is somebody else's, and is left alone"
	case m.Owner == "" && m.Status == maas.StatusBroken:
		return fmt.Sprintf("was marked broken%s, which released it", saying(m.ErrorDescription))
	case m.Owner == "":
		return fmt.Sprintf("was released by somebody (it is in state %s, without an owner)", m.Status)
	case m.Owner != o.user:
		return fmt.Sprintf("belongs to user %q now, and is left alone", m.Owner)
	case o.belongsToOther(m) != "":
		return fmt.Sprintf("belongs to MaasMachine %s, and is left alone", asPath(o.belongsToOther(m)))
	}
	return fmt.Sprintf("was released, and another program with the key of user %q has it now; it is left alone", o.user)
}

// asPath makes <namespace>/<name> of the form in which MAAS holds it, <namespace>.<name>. A namespace has no dots.
func asPath(nameInMAAS string) string { return strings.Replace(nameInMAAS, ".", "/", 1) }

// The annotations by which people decide about a deletion, with their values.
const (
	abandonWith = infrav1.AbandonAnnotation + "=<reason>"
	confirmWith = infrav1.ConfirmDeleteAnnotation + "=yes"
)

// maxWords is how much of what MAAS says is shown, in bytes.
const maxWords = 200

// abandonedName names what a person let go of.
func (o observation) abandonedName() string {
	if o.systemID() == "" {
		return "whatever was allocated for it"
	}
	return o.storedName()
}

// abandonReason is why a person let go of the machine.
func (o observation) abandonReason() string {
	return cmp.Or(brief(o.object.Annotations[infrav1.AbandonAnnotation], 500), "no reason given")
}

// brief makes one line of a text that somebody else wrote, and cuts it after some bytes.
func brief(text string, limit int) string { return oneline.Of(text, limit) }

// maxName is how much of a machine's name is shown, in bytes. MAAS takes 63.
const maxName = 63
