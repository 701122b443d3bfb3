package maasmachine

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// observation is all that a decision is made from. Any object in it may be missing, above all during a deletion.
type observation struct {
	now      time.Time
	maasHost string // of the MAAS that is talked to, for messages
	page     string // the address of the machine's page in MAAS; "" without a machine

	object    *infrav1.MaasMachine
	owner     *clusterv1.Machine
	cluster   *clusterv1.Cluster
	infra     *infrav1.MaasCluster
	bootstrap bootstrap
	// remediation is the name of the MaasRemediation for which the machine has to be off; "" if there is none.
	remediation string
	// peersByZone counts the other machines of the control plane; nil where they do not matter.
	peersByZone map[string]int

	// direct says that MAAS itself is to be looked at, and not the view that all share.
	direct bool
	// current says that nothing was done since MAAS was looked at that could show there.
	current bool
	// answered is the machine as MAAS showed it when it did the last step; nil if it did not.
	answered *maas.Machine

	// unreadable is why MAAS could not be read. Then nothing below, up to dns, counts.
	unreadable error
	user       string // ours, in MAAS
	admin      bool   // who is an administrator there
	standing   standing
	machine    *maas.Machine // with the stored system ID; nil unless MAAS shows it to us
	claimed    []maas.Machine
	claimOwner string         // the other user who has a machine that was allocated with our claim; "" if there is none
	extras     []maas.Machine // ours, noted as got beside the one in the spec, and not given back yet
	strangers  string         // <namespace>.<name> of another object that the machines with our claim belong to
	candidate  string         // the system ID of a free machine that fits and that no other claim of this process is after
	scarcity   string         // why there is none
	malformed  error          // MAAS does not understand what the spec asks of a machine
	failure    string         // MAAS's words for why the deployment, or the release, failed
	abortedBy  string         // the user who ended the deployment, where MAAS shows one
	imageless  checks.Finding // why no machine is claimed: MAAS lacks the image
	imageFor   []string       // the architectures that MAAS has the image for; nil where that is not known
	// erasesAnyway says that MAAS erases disks at every release. It is read only where erasing them failed, and the spec does not say.
	erasesAnyway bool
	version      maas.Version // of MAAS; read only where the spec has what older ones lack

	// switchedOn is how often the machine was switched on, and what came of it.
	switchedOn asked
	// asked is what was asked of machines in vain, by system ID, once the object goes.
	asked map[string]asked

	dns  dns
	node nodeLink

	siblings siblings
	// keptFor is how long resolvers keep the machine's address, which left the record in this reconcile; 0 if it did not.
	keptFor time.Duration

	// tried holds what was done in this reconcile, and what came of it.
	tried map[string]error
}

// standing is what the machine with the stored system ID is to us.
type standing int

const (
	holdsNone     standing = iota // no system ID is stored
	holdsOurs                     // its owner is our user, and it carries our claim
	holdsForeign                  // MAAS showed twice that it is not ours
	holdsGone                     // MAAS said twice that it has no such machine
	holdsUnproven                 // its owner is our user, but this object never had a claim
)

// dns is what is known of the control plane's record.
type dns struct {
	managed   bool // there is a record of ours to be in
	external  bool // the endpoint is the user's own
	err       error
	addresses []string
	attached  bool // the machine's address is in the record
	alone     bool // it is the only one there
	answered  bool // it left, and is answered still
	serves    bool // the machine's own API server answers
}

// nodeLink is what is known of the machine's Node in the workload cluster.
type nodeLink struct {
	unreachable bool
	node        *corev1.Node // the machine's; nil while none has registered
	rivals      []string     // the names of Nodes that could all be the machine's, where it is not known which is
}

// attempt is an allocation that was asked for and has no answer yet.
type attempt struct {
	systemID string
	since    time.Time
}

func (o observation) deleting() bool { return !o.object.DeletionTimestamp.IsZero() }

// token is the claim; "" before the first.
func (o observation) token() string { return o.object.Annotations[infrav1.ClaimAnnotation] }

// provisioned says that the machine was deployed once: the provider ID is frozen, and unlike status it survives a move.
func (o observation) provisioned() bool { return o.object.Spec.ProviderID != "" }

// systemID is that of the spec, or of the provider ID.
func (o observation) systemID() string {
	id, _ := identify(o.object.Spec)
	return id
}

// contradiction says what is wrong with the identity that the spec holds; "" if nothing is.
func (o observation) contradiction() string {
	_, wrong := identify(o.object.Spec)
	return wrong
}

// identify reads the system ID from a spec.
func identify(spec infrav1.MaasMachineSpec) (systemID, contradiction string) {
	switch {
	case spec.SystemID != "" && !infrav1.IsSystemID(spec.SystemID):
		return "", "spec.systemID is no system ID of MAAS"
	case spec.ProviderID == "":
		return spec.SystemID, ""
	}
	id, ok := infrav1.SystemIDOf(spec.ProviderID)
	switch {
	case !ok:
		return "", "spec.providerID is not of the form maas:///<zone>/<system ID>"
	case spec.SystemID != "" && spec.SystemID != id:
		return "", fmt.Sprintf("spec.systemID names machine %s, and spec.providerID machine %s", spec.SystemID, id)
	}
	return id, ""
}

// correction is what a person can do about a contradiction.
func (o observation) correction() string {
	switch stored := o.object.Spec.SystemID; {
	case infrav1.IsSystemID(stored):
		return "set spec.providerID back to maas:///<zone>/" + stored
	case o.deleting():
		return "correct it"
	}
	return o.replace()
}

// meant names the machine that is ours where the spec contradicts itself: the system ID was written when it was allocated.
func (o observation) meant() string {
	spec := o.object.Spec
	other, _ := infrav1.SystemIDOf(spec.ProviderID)
	switch {
	case !infrav1.IsSystemID(spec.SystemID):
		return "the machine"
	case other == "":
		return spec.SystemID
	}
	return fmt.Sprintf("%s (not %s)", spec.SystemID, other)
}

// attempt reads the allocation under way from the object.
func (o observation) attempt() attempt {
	id, stamp, _ := strings.Cut(o.object.Annotations[infrav1.ClaimAttemptAnnotation], " ")
	since, err := time.Parse(time.RFC3339, stamp)
	switch {
	case err == nil:
	case o.deleting():
		// Somebody edited it. Nothing is asked for once the object is being deleted, so it began before that.
		since = o.object.DeletionTimestamp.Time
	default:
		since = o.now
	}
	return attempt{systemID: id, since: since}
}

// controlPlane says whether the machine is one of the control plane's.
func (o observation) controlPlane() bool {
	if o.owner != nil {
		_, is := o.owner.Labels[clusterv1.MachineControlPlaneLabel]
		return is
	}
	_, is := o.object.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}

// leaving says that the machine is on its way out, even if this object is not deleted yet.
func (o observation) leaving() bool {
	return o.deleting() || o.owner != nil && !o.owner.DeletionTimestamp.IsZero()
}

// address is the one that counts, "" while there is none.
func (o observation) address() string {
	if o.standing != holdsOurs {
		return ""
	}
	return addressThatCounts(o.machine, o.object.Spec.AddressFrom)
}

// port is where the control plane's API servers listen.
func (o observation) port() int32 {
	if o.infra != nil && o.infra.Spec.ControlPlaneEndpoint.Port != 0 {
		return o.infra.Spec.ControlPlaneEndpoint.Port
	}
	return endpoint.DefaultPort
}

// owns says whether MAAS proves that a machine is ours.
func (o observation) owns(m *maas.Machine) bool {
	return m.Owner != "" && m.Owner == o.user && (o.carriesClaim(m) || o.foundByClaim(m.SystemID)) && o.belongsToOther(m) == ""
}

// belongsToOther names the object that a machine says it belongs to, if that is not this one: a copied object copies its claim.
func (o observation) belongsToOther(m *maas.Machine) string {
	if whose := m.Annotations[infrav1.MachineAnnotationMachine]; whose != nameInMAAS(o.object) {
		return whose
	}
	return ""
}

func (o observation) carriesClaim(m *maas.Machine) bool {
	return o.token() != "" && m.Annotations[infrav1.MachineAnnotationClaim] == o.token()
}

func (o observation) foundByClaim(systemID string) bool {
	for i := range o.claimed {
		if o.claimed[i].SystemID == systemID {
			return true
		}
	}
	return false
}

// annotations are what a machine of ours carries in MAAS.
func (o observation) annotations() map[string]string {
	a := map[string]string{
		infrav1.MachineAnnotationClaim:   o.token(),
		infrav1.MachineAnnotationMachine: nameInMAAS(o.object),
	}
	if name := o.object.Labels[clusterv1.ClusterNameLabel]; name != "" {
		a[infrav1.MachineAnnotationCluster] = o.object.Namespace + "." + name
	}
	return a
}

func (o observation) annotated(m *maas.Machine) bool {
	for key, value := range o.annotations() {
		if m.Annotations[key] != value {
			return false
		}
	}
	return true
}

func nameInMAAS(object metav1.Object) string { return object.GetNamespace() + "." + object.GetName() }

// constraints are what the spec asks of a machine, and the zone that Cluster API chose, if it did.
func (o observation) constraints() placement.Constraints {
	want := placement.ConstraintsOf(o.object.Spec)
	if o.owner != nil && o.owner.Spec.FailureDomain != "" {
		want.Zone = o.owner.Spec.FailureDomain
	}
	want.Image, want.ImageFor = infrav1.FullImageName(o.object.Spec.Image), o.imageFor
	return want
}

// did says whether a step was taken in this reconcile, and with which error.
func (o observation) did(s step) (done bool, err error) {
	err, done = o.tried[s.key()]
	return done, err
}
