package maasmachine

import (
	"fmt"
	"strings"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// eraseSettles is how long disks must have been erased before MAAS is left alone with it: by then the machine has booted for it, and
// what keeps it from that has shown. A quick erase is over before; a full one takes hours.
const eraseSettles = 20 * time.Minute

// releaseParams are how the spec wants a machine to be given back.
func (o observation) releaseParams() maas.ReleaseParams {
	p := maas.ReleaseParams{Comment: comment(&o), Scripts: o.object.Spec.Release.Scripts}
	switch o.object.Spec.Release.Erase {
	case infrav1.EraseFull:
		p.Erase = true
	case infrav1.EraseQuick:
		p.Erase, p.QuickErase = true, true
	case infrav1.EraseSecure:
		p.Erase, p.SecureErase = true, true
	}
	return p
}

// releasesHow tells one way of giving a machine back from another.
func (o observation) releasesHow(m *maas.Machine) string {
	if o.toBreak(m) {
		return o.breaking(m).key()
	}
	return string(o.object.Spec.Release.Erase) + " " + strings.Join(o.object.Spec.Release.Scripts, ",")
}

// wantsErase says that the spec asks for the disks to be erased.
func (o observation) wantsErase() bool {
	erase := o.object.Spec.Release.Erase
	return erase != "" && erase != infrav1.EraseNone
}

// wantsScripts says that the spec names release scripts.
func (o observation) wantsScripts() bool { return len(o.object.Spec.Release.Scripts) > 0 }

// lacksScripts explains that MAAS cannot run the release scripts of the spec; "" where it can. Older ones ignore them silently.
func (o observation) lacksScripts() string {
	if !o.wantsScripts() || o.version.Version == "" || o.version.AtLeast(3, 5) {
		return ""
	}
	return fmt.Sprintf("MAAS %s is of version %s, and release scripts need 3.5: remove spec.release.scripts of MaasMachine %s, or upgrade MAAS",
		o.maasHost, o.version.Version, o.object.Name)
}

// eraseUnclear: disks were to be erased, which failed, and neither the spec nor a setting of MAAS says so: somebody else wanted it. A
// release without erasing would leave data that was to go.
func (o observation) eraseUnclear(m *maas.Machine) bool {
	return m.Status == maas.StatusFailedDiskErasing && o.object.Spec.Release.Erase == "" && !o.erasesAnyway
}

// erasedFor is for how long the disks were seen being erased. The condition remembers since when.
func (o observation) erasedFor() time.Duration {
	tells := infrav1.MachineDeployedCondition
	if o.deleting() {
		tells = infrav1.MachineDeletingCondition
	}
	for _, c := range o.object.Status.Conditions {
		if c.Type == tells && c.Reason == infrav1.ErasingDisksReason {
			return o.now.Sub(c.LastTransitionTime.Time)
		}
	}
	return 0
}

// erasesWell says that the disks have been erased for long, and that MAAS can be left to finish it. MAAS 3.4 to 3.7: nothing ends an
// erase for which the machine never boots.
func (o observation) erasesWell(m *maas.Machine) bool {
	return m.Status == maas.StatusDiskErasing && o.erasedFor() >= eraseSettles && m.PowerState != maas.PowerOff && m.PowerState != maas.PowerError
}

// tellsErasing says that disks are being erased, and who wants that.
func (o observation) tellsErasing(m *maas.Machine) string {
	if o.erasedFor() >= eraseSettles {
		return fmt.Sprintf("MAAS %s is to erase the disks of %s, but its power is %s: check its power settings in MAAS, and its BMC; then abort the erasing in MAAS, and CAPMAAS tries again",
			o.maasHost, shortName(m), m.PowerState)
	}
	why := "as spec.release.erase asks (" + string(o.object.Spec.Release.Erase) + ")"
	if !o.wantsErase() {
		why = "which MAAS is set to do at every release, or somebody asked for in MAAS"
	}
	return fmt.Sprintf("the disks of %s are being erased, %s: wait, for it takes from minutes to hours; once it goes well, MAAS is left to finish it",
		o.nameOf(m), why)
}

// waitToRetry: a release was asked for in vain, and it is too early to ask again.
func (o observation) waitToRetry(m *maas.Machine, a asked) wait {
	w := wait{condition: infrav1.MachineDeletingCondition, reason: infrav1.ReleaseFailedReason}
	switch {
	case a.err != nil:
		w = o.waitAfter(a.err, o.toRelease(m))
	case releaseFailed(m):
		w.message = o.tellsFailedRelease(m)
	case a.moved:
		w.message = fmt.Sprintf("MAAS %s began to release %s, and put it back to state %s%s: check its power settings in MAAS, and its BMC; CAPMAAS tries again by itself",
			o.maasHost, shortName(m), m.Status, saying(o.failure))
	default:
		w = o.waitAfter(nil, o.toRelease(m))
	}
	w.after, w.timed = max(a.due().Sub(o.now), moving), true
	return w
}

// releaseFailed says that MAAS failed at a release that it took.
func releaseFailed(m *maas.Machine) bool {
	return m.Status == maas.StatusFailedDiskErasing || m.Status == maas.StatusFailedReleasing
}

// tellsFailedRelease says what failed, and what a person can choose from. CAPMAAS chooses for nobody to leave data on the disks.
func (o observation) tellsFailedRelease(m *maas.Machine) string {
	if m.Status != maas.StatusFailedDiskErasing {
		return fmt.Sprintf("the release of %s failed%s: look at it in MAAS, above all at its power settings; CAPMAAS tries again by itself",
			o.nameOf(m), saying(o.failure))
	}
	words := saying(brief(o.failure, maxWordsOfErase))
	if o.eraseUnclear(m) {
		return fmt.Sprintf("erasing the disks of %s failed%s, and who wanted that is not known: set spec.release.erase to None to release it with its data, or else to Quick, Secure or Full",
			o.nameOf(m), words)
	}
	return fmt.Sprintf("erasing the disks of %s failed%s: CAPMAAS tries again; or set spec.release.erase to None, leaving the data there; or give up with annotation %s",
		o.nameOf(m), words, abandonWith)
}

// maxWordsOfErase leaves room for the choice.
const maxWordsOfErase = 60
