package maasmachine

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// request is something that MAAS is asked to do, for telling what came of it.
type request struct {
	to        string // what, after "refuses to"
	condition string // that tells of it
	// The reasons where MAAS says nothing, where it says no, and where it is too busy.
	unknown, refused, busy string
	// What a person can do about MAAS's no, and about a failure of MAAS.
	todo, mend string
}

func (o observation) toAllocate(systemID string) request {
	return request{
		to: "allocate machine " + systemID, condition: infrav1.MachineAllocatedCondition,
		unknown: infrav1.ClaimOutcomeUnknownReason, refused: infrav1.ClaimRefusedReason, busy: infrav1.ClaimingReason,
		todo: "look at the machine in MAAS; CAPMAAS tries again by itself",
		mend: "look into MAAS's own log; CAPMAAS tries again by itself",
	}
}

func (o observation) toAnnotate(m *maas.Machine) request {
	r := o.toAllocate(m.SystemID)
	r.to = "annotate " + shortName(m)
	return r
}

// toAllocateAny is for what MAAS says whatever the machine.
func (o observation) toAllocateAny() request {
	r := o.toAllocate("")
	r.to, r.todo = "allocate machines", "correct what the spec asks for in a new MaasMachineTemplate"
	return r
}

func (o observation) toDeploy() request {
	return request{
		to: "deploy " + shortName(o.machine), condition: infrav1.MachineDeployedCondition,
		unknown: infrav1.DeployOutcomeUnknownReason, refused: infrav1.DeployRefusedReason, busy: infrav1.DeployingReason,
		todo: "set that right in MAAS, and CAPMAAS tries again by itself; or " + o.replace(),
		mend: "set that right in MAAS, whose log tells more; CAPMAAS tries again by itself",
	}
}

func (o observation) toRelease(m *maas.Machine) request {
	r := request{
		to: "release " + shortName(m), condition: infrav1.MachineDeletingCondition,
		unknown: infrav1.ReleaseOutcomeUnknownReason, refused: infrav1.ReleaseFailedReason, busy: infrav1.ReleasingReason,
		todo: "look in MAAS who owns it and whether it is locked; if another user owns it, leave it alone",
		mend: "check its power settings in MAAS, and its BMC; CAPMAAS tries again by itself",
	}
	if o.toBreak(m) {
		r.to = o.breaking(m).key()
		return r
	}
	if m.Status == maas.StatusFailedDiskErasing {
		r.todo = "erasing its disks failed: mark it broken in MAAS, or release it there without erasing; either way its old data is still on the disks"
	}
	return r
}

// toAnnotateGoing is for a machine that is to be released.
func (o observation) toAnnotateGoing(m *maas.Machine) request {
	r := o.toRelease(m)
	r.to, r.mend = "annotate "+shortName(m), "look into MAAS's own log; CAPMAAS tries again by itself"
	return r
}

// waitAfter: something was asked of MAAS in this reconcile, and it did not lead on. Sooner or later it is tried again.
func (o observation) waitAfter(err error, r request) wait {
	w := wait{condition: r.condition, after: releasing}
	switch said := maas.FailedWith(err); {
	case err == nil:
		w.reason, w.unknown, w.after = r.unknown, true, moving
		w.message = fmt.Sprintf("MAAS %s took the request to %s, but does not show it yet: CAPMAAS looks again by itself", o.maasHost, r.to)
	case said != "":
		// MAAS says that it failed, and a look shows the machine as it was. That is told; what is done next does not depend on it.
		w.reason, w.after = r.refused, scarce
		w.message = fmt.Sprintf("MAAS %s could not %s (%s): %s", o.maasHost, r.to, said, r.mend)
	case errors.Is(err, maas.ErrOutcomeUnknown):
		w.reason, w.unknown = r.unknown, true
		w.message = fmt.Sprintf("MAAS %s gave no usable answer (%s) to the request to %s: CAPMAAS looks and tries again by itself; if it stays so, look into MAAS's own log",
			o.maasHost, maas.Words(err), r.to)
	case isBusy(err):
		w.reason = r.busy
		w.message = fmt.Sprintf("MAAS %s was too busy with other changes to %s: CAPMAAS tries again by itself", o.maasHost, r.to)
	case errors.Is(err, maas.ErrUnavailable), errors.Is(err, maas.ErrUnauthorized), errors.Is(err, maas.ErrNotMAAS):
		w.unknown = true
		w.reason, w.message = o.away(err)
	default:
		w.reason, w.after, w.message = r.refused, scarce, o.refusalOf(err, r)
	}
	return w
}

// isBusy: MAAS was there, and gave up.
func isBusy(err error) bool {
	var e *maas.Error
	return errors.As(err, &e) && e.Kind == maas.KindUnavailable && (e.StatusCode == http.StatusConflict || e.StatusCode == http.StatusTooManyRequests)
}

// refusalOf says what MAAS does not want, and what can be done about it.
func (o observation) refusalOf(err error, r request) string {
	words := maas.Words(err)
	var e *maas.Error
	switch said := errors.As(err, &e) && e.Said; {
	case e != nil && e.StatusCode == http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("%s, too large for MAAS %s or for a proxy before it: %s", o.howLarge(), o.maasHost, o.makeSmaller())
	case r.condition == infrav1.MachineDeployedCondition && strings.HasPrefix(words, "distro_series: ") && strings.Contains(words, "is not a valid distro_series"):
		arch, _, _ := strings.Cut(o.machine.Architecture, "/")
		return fmt.Sprintf("MAAS %s has no image %s for %s, the architecture of %s: upload it, or name another one in a new MaasMachineTemplate",
			o.maasHost, infrav1.FullImageName(o.object.Spec.Image), arch, shortName(o.machine))
	case errors.Is(err, maas.ErrInvalid) && r.condition == infrav1.MachineAllocatedCondition:
		if field, value := o.malformedField(words); field != "" {
			_, words, _ = strings.Cut(words, ": ")
			return fmt.Sprintf("MAAS %s does not accept spec.%s %q (%s): correct it in a new MaasMachineTemplate", o.maasHost, field, value, words)
		}
	case errors.Is(err, maas.ErrInvalid) && r.condition == infrav1.MachineDeletingCondition && (o.wantsErase() || o.wantsScripts()):
		return fmt.Sprintf("MAAS %s refuses to %s as spec.release of MaasMachine %s asks (%s): correct that; CAPMAAS tries again by itself",
			o.maasHost, r.to, o.object.Name, words)
	case errors.Is(err, maas.ErrForbidden):
		if said {
			words = " (" + words + ")"
		} else {
			words = ""
		}
		todo := r.todo
		if r.condition == infrav1.MachineAllocatedCondition {
			todo = "give it the right in MAAS"
		}
		return fmt.Sprintf("MAAS %s does not let the API key's user %q %s%s: %s", o.maasHost, o.user, r.to, words, todo)
	}
	return fmt.Sprintf("MAAS %s refuses to %s (%s): %s", o.maasHost, r.to, words, r.todo)
}

// malformedField finds the field of the spec that MAAS's words are about: it names the constraint first.
func (o observation) malformedField(words string) (field, value string) {
	name, _, _ := strings.Cut(words, ": ")
	spec := o.object.Spec
	value = map[string]string{"storage": spec.Storage, "interfaces": spec.Interfaces, "subnets": strings.Join(spec.Subnets, ", ")}[name]
	if value == "" {
		return "", ""
	}
	return name, value
}

// away says why MAAS cannot be worked with, as MAASAvailable of a MaasCluster does.
func (o observation) away(err error) (reason, message string) {
	if maas.KindOf(err) == "" {
		return infrav1.MAASUnreachableReason, fmt.Sprintf("MAAS %s was not asked (%v): CAPMAAS tries again by itself", o.maasHost, err)
	}
	found := checks.JudgeRegion(checks.Region{Host: o.maasHost, Err: err}, false)
	return found.Reason, found.Message
}

// waitForMAAS: it could not be read. Nothing is concluded from that.
func waitForMAAS(o observation) wait {
	w := wait{unknown: true, after: releasing}
	switch {
	case o.deleting():
		w.condition = infrav1.MachineDeletingCondition
	case !o.provisioned():
		w.condition = infrav1.MachineAllocatedCondition
	default:
		// What was known of a running machine stays known; the MaasCluster says that MAAS is away.
		return w
	}
	w.reason, w.message = o.away(o.unreadable)
	return w
}

// isOfMachine says that MAAS's no to a deployment may be about the machine or its place: another one may do better.
func isOfMachine(err error) bool {
	return maas.FailedWith(err) != "" || (errors.Is(err, maas.ErrInvalid) || errors.Is(err, maas.ErrConflict)) && !isOfSpec(err)
}

// isOfSpec says that MAAS's no is about what every machine would get: the image, or the user data.
func isOfSpec(err error) bool {
	var e *maas.Error
	if errors.As(err, &e) && e.StatusCode == http.StatusRequestEntityTooLarge {
		return true
	}
	words := maas.Words(err)
	return strings.Contains(words, "distro_series") || strings.Contains(words, "operating system")
}
