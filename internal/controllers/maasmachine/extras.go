package maasmachine

import (
	"context"
	"errors"
	"slices"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// A claim may get a second machine, where MAAS answered a request late. It is noted on the object before it is given back, and until it is.

// notedExtras are the system IDs that the object lists.
func (o observation) notedExtras() []string { return extrasOf(o.object) }

func extrasOf(m *infrav1.MaasMachine) []string {
	return strings.FieldsFunc(m.Annotations[infrav1.ExtraMachinesAnnotation], func(r rune) bool { return r == ',' || r == ' ' })
}

func setExtras(m *infrav1.MaasMachine, systemIDs []string) {
	if len(systemIDs) == 0 {
		delete(m.Annotations, infrav1.ExtraMachinesAnnotation)
		return
	}
	setAnnotation(m, infrav1.ExtraMachinesAnnotation, strings.Join(systemIDs, ","))
}

func addExtra(m *infrav1.MaasMachine, systemID string) { setExtras(m, append(extrasOf(m), systemID)) }

func dropExtraOf(m *infrav1.MaasMachine, systemID string) {
	setExtras(m, slices.DeleteFunc(extrasOf(m), func(id string) bool { return id == systemID }))
}

// unnotedExtra is a machine that carries our claim beside the one in the spec, and is not noted. While the object stays, only one that is
// merely allocated is let go.
func (o observation) unnotedExtra() *maas.Machine {
	for i := range o.claimed {
		m := &o.claimed[i]
		isMine := m.SystemID == o.systemID() || slices.Contains(o.notedExtras(), m.SystemID)
		if isMine || o.isGivenBack(m) || !o.deleting() && (o.systemID() == "" || m.Status != maas.StatusAllocated) {
			continue
		}
		return m
	}
	return nil
}

// nextExtra sees to the extra machines. Nothing else waits for them, unless another machine is to be claimed, or the object goes.
func nextExtra(o observation) (step, bool) {
	if o.isOutOfSight() {
		return nil, false
	}
	if m := o.unnotedExtra(); m != nil {
		note := noteExtra{m.SystemID}
		done, _ := o.did(note)
		return note, !done
	}
	for _, id := range o.notedExtras() {
		drop, i := dropExtra{id}, slices.IndexFunc(o.extras, func(m maas.Machine) bool { return m.SystemID == id })
		if i < 0 || o.isGivenBack(&o.extras[i]) {
			done, _ := o.did(drop)
			return drop, !done
		}
		if s := nextReleaseOf(o, &o.extras[i]); !isWait(s) {
			return s, true
		}
	}
	return nil, false
}

func isWait(s step) bool {
	_, is := s.(wait)
	return is
}

// tellsExtra says what holds the first of the extra machines; "" if there is none.
func (o observation) tellsExtra() string {
	if len(o.extras) == 0 {
		return ""
	}
	m := &o.extras[0]
	if w, is := nextReleaseOf(o, m).(wait); is {
		return w.message
	}
	return o.nameOf(m) + " is being given back"
}

// lookUpExtras reads the machines that are noted. Those that are not ours any more are left out.
func (r *Reconciler) lookUpExtras(ctx context.Context, o *observation) error {
	for _, id := range o.notedExtras() {
		m, err := r.read(ctx, id)
		switch {
		case errors.Is(err, maas.ErrNotFound), errors.Is(err, maas.ErrForbidden): // another user's is forbidden
		case err != nil:
			return err
		case o.owns(m):
			o.extras = append(o.extras, *m)
		}
	}
	return nil
}
