package killpoints

import (
	"encoding/json"
	"slices"
	"strings"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// allocates judges that a machine is asked for.
func (r *rules) allocates(w *world, request simulator.Request) {
	what, claim := request.Operation, request.Form.Get("agent_name")
	if !r.searched[claim] {
		r.breaks("%s: the machines with the claim were not listed in the same reconcile", what)
	}
	delete(r.searched, claim) // the next one takes a look of its own
	if ours := w.ours(); len(ours) > 0 {
		r.breaks("%s: %s is ours already", what, ours[0].SystemID)
	}
	r.isAttempt(what, request.SystemID, w.object())
}

// isAttempt judges whether it is written down that MAAS is asked for a machine: a deletion waits for what may come of that, and a move,
// after which nobody here would, is blocked.
func (r *rules) isAttempt(what, systemID string, object *infrav1.MaasMachine) {
	if attempt := object.Annotations[infrav1.ClaimAttemptAnnotation]; !strings.HasPrefix(attempt, systemID+" ") {
		r.breaks("%s %s: it is not written down as an attempt, but %q is", what, systemID, attempt)
	}
	if _, blocked := object.Annotations[clusterctlv1.BlockMoveAnnotation]; !blocked {
		r.breaks("%s %s: a move of the object is not blocked", what, systemID)
	}
}

// isStored judges whether the object says which machine is its own.
func (r *rules) isStored(w *world, what, systemID string) {
	if stored := w.object().Spec.SystemID; stored != systemID {
		r.breaks("%s %s: the object has the machine %q", what, systemID, stored)
	}
}

// deploys judges that a machine is installed.
func (r *rules) deploys(w *world, request simulator.Request, object *infrav1.MaasMachine) {
	what, form := request.Operation, request.Form
	r.isStored(w, what, request.SystemID)
	r.isAttempt(what, request.SystemID, object)
	if !form.Has("user_data") {
		r.breaks("%s %s: the bootstrap data is missing", what, request.SystemID)
	}
	if image := form.Get("distro_series"); image != object.Spec.Image {
		r.breaks("%s %s: the image is %q", what, request.SystemID, image)
	}
	if name := form.Get("agent_name"); name != object.Annotations[infrav1.ClaimAnnotation] {
		r.breaks("%s %s: the claim is %q", what, request.SystemID, name)
	}
}

// releases judges that a machine is given back.
func (r *rules) releases(w *world, request simulator.Request, object *infrav1.MaasMachine, m simulator.MachineSnapshot) {
	what := request.Operation
	for _, record := range w.region.Snapshot().DNSResources {
		for _, address := range m.Addresses {
			if record.FQDN == host && slices.Contains(record.Addresses, address) {
				r.breaks("%s: its address %s is in %s", what, address, record.FQDN)
			}
		}
	}
	erases := request.Form.Get("erase") == "true" && request.Form.Get("secure_erase") == "true"
	if object.Spec.Release.Erase == infrav1.EraseSecure && m.Status != simulator.StatusAllocated && !erases {
		r.breaks("%s: its disks are not erased", what)
	}
	isAvoided := slices.ContainsFunc(m.Tags, func(tag string) bool { _, ours := avoidance.UntilOf(tag); return ours })
	if hasFailed(object, m.SystemID) && !isAvoided {
		r.breaks("%s: its deployment failed, and it has no tag that says so", what)
	}
}

// hasFailed says that a machine's deployment was given up.
func hasFailed(object *infrav1.MaasMachine, systemID string) bool {
	var all []struct {
		Machine   string `json:"machine"`
		Failed    string `json:"failed"`
		GivenBack bool   `json:"givenBack"`
	}
	if text := object.Annotations[infrav1.DeployAttemptsAnnotation]; text == "" || json.Unmarshal([]byte(text), &all) != nil || len(all) == 0 {
		return false
	}
	last := all[len(all)-1]
	return last.Machine == systemID && last.Failed != "" && !last.GivenBack
}
