package maasmachine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// nameOf names a machine for people: its name, its system ID, and where to find it.
func (o observation) nameOf(m *maas.Machine) string {
	return fmt.Sprintf("machine %s (%s) in MAAS %s", m.Hostname, m.SystemID, o.maasHost)
}

// tells says in which state a machine is, what that means, and which words MAAS has for it.
func (o observation) tells(m *maas.Machine) string {
	text := fmt.Sprintf("%s is %s: %s", o.nameOf(m), m.Status, stateOf(m).means)
	words := ""
	switch m.Status {
	case maas.StatusFailedDeployment:
		words = o.failure
	case maas.StatusBroken:
		words = brief(cmp.Or(m.ErrorDescription, m.StatusMessage), maxWords)
	}
	if words != "" {
		text += fmt.Sprintf(" (MAAS says: %s)", words)
	}
	return text
}

// maxWords is how much of what MAAS says is shown, in bytes.
const maxWords = 200

// abandonReason is why a person let go of the machine.
func (o observation) abandonReason() string {
	return cmp.Or(brief(o.object.Annotations[infrav1.AbandonAnnotation], 500), "no reason given")
}

// brief makes one line of a text that somebody else wrote, and cuts it after some bytes.
func brief(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// waitForMAAS: it could not be read. Nothing is concluded from that.
func waitForMAAS(o observation) wait {
	w := wait{unknown: true, after: releasing, reason: checks.ReasonOf(o.unreadable), message: fmt.Sprintf("MAAS %s cannot be read: %v", o.maasHost, o.unreadable)}
	switch {
	case o.deleting():
		w.condition = infrav1.MachineDeletingCondition
	case !o.provisioned():
		w.condition = infrav1.MachineAllocatedCondition
	default:
		// What was known of a running machine stays known; the MaasCluster says that MAAS is away.
		w.reason, w.message = "", ""
	}
	return w
}

// waitAfter: something was asked of MAAS in this reconcile, and it did not lead on. Sooner or later it is tried again.
func waitAfter(o observation, err error, condition, unknown, refused string) wait {
	w := wait{condition: condition, after: releasing}
	switch {
	case err == nil:
		w.reason, w.unknown, w.message = unknown, true, fmt.Sprintf("MAAS %s took the request, but does not show it yet", o.maasHost)
		w.after = moving
	case errors.Is(err, maas.ErrOutcomeUnknown):
		w.reason, w.unknown = unknown, true
		w.message = fmt.Sprintf("MAAS %s gave no usable answer, and shows no effect: %v", o.maasHost, err)
	case errors.Is(err, maas.ErrUnavailable), errors.Is(err, maas.ErrUnauthorized), errors.Is(err, maas.ErrNotMAAS):
		w.reason, w.unknown = checks.ReasonOf(err), true
		w.message = fmt.Sprintf("MAAS %s: %v", o.maasHost, err)
	default:
		w.reason = refused
		w.message = fmt.Sprintf("MAAS %s refuses: %v", o.maasHost, err)
		w.after = scarce
	}
	return w
}
