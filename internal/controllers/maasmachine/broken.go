package maasmachine

import (
	"context"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// toBreak says that a machine is to be marked broken instead of released. That is for the machine of the object alone: others that carry
// its claim did nothing.
func (o observation) toBreak(m *maas.Machine) bool {
	_, is := o.object.Annotations[infrav1.MarkBrokenAnnotation]
	return is && o.deleting() && m.SystemID == o.systemID()
}

// breaking is the next step of that. A machine is switched off first: up to MAAS 3.5 nobody owns one that was marked broken, so that
// nobody could be sure that it does not run on.
func (o observation) breaking(m *maas.Machine) step {
	if m.PowerState == maas.PowerOn {
		return switchOff{m.SystemID}
	}
	return markBroken{m.SystemID}
}

// brokenBecause is what MAAS shows as the reason.
func (o observation) brokenBecause() string {
	why := o.object.Annotations[infrav1.MarkBrokenAnnotation]
	if why == "" {
		why = "annotation " + infrav1.MarkBrokenAnnotation
	}
	return comment(&o) + ": " + brief(why, maxWords)
}

// takeOut takes one of the two steps that take a machine out of use.
func (r *Reconciler) takeOut(ctx context.Context, o *observation, s step) error {
	id := machineOf(s, *o)
	var err error
	if _, off := s.(switchOff); off {
		_, err = r.MAAS.PowerOff(ctx, id, comment(o))
	} else if _, err = r.MAAS.MarkBroken(ctx, id, o.brokenBecause()); err == nil {
		r.tell(o, warning, telemetry.MarkedBroken, telemetry.ActionRelease, "%s is marked broken in MAAS %s, which gives it to nobody: see to it, and mark it fixed there",
			o.storedName(), o.maasHost)
	}
	r.noteRequest(o, id, err)
	return err
}
