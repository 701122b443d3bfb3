package maasmachine

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func erasedSince(d time.Duration) func(*observation) {
	return func(o *observation) {
		o.object.Status.Conditions = []metav1.Condition{{
			Type: infrav1.MachineDeletingCondition, Status: "True", Reason: infrav1.ErasingDisksReason, LastTransitionTime: metav1.NewTime(noon.Add(-d)),
		}}
	}
}

func erase(how infrav1.Erase) func(*observation) {
	return func(o *observation) { o.object.Spec.Release.Erase = how }
}

func scriptsOn(version string) func(*observation) {
	return func(o *observation) {
		o.object.Spec.Release.Scripts, o.version = []string{"reset-bios"}, maas.Version{Version: version}
	}
}

// askedFor is a release that was asked for so often in vain, the last time so long ago.
func askedFor(times int, ago time.Duration, err error) func(*observation) {
	return func(o *observation) {
		o.asked = map[string]asked{"aaaaa1": {how: o.releasesHow(o.machine), times: times, since: noon.Add(-ago), err: err}}
	}
}

func putBack(o *observation) {
	a := o.asked["aaaaa1"]
	a.moved = true
	o.asked["aaaaa1"] = a
}

func TestEraseAndRetry(t *testing.T) {
	t.Parallel()
	failed := maas.StatusFailedDiskErasing
	for name, test := range map[string]struct {
		o          observation
		want, says string
	}{
		"erasing, just now":                         {seen(giveBack, maas.StatusDiskErasing, erase(infrav1.EraseFull), erasedSince(time.Minute)), "wait: Deleting ErasingDisks", "(Full)"},
		"erasing, which nobody here wanted":         {seen(giveBack, maas.StatusDiskErasing), "wait: Deleting ErasingDisks", "set to do at every release"},
		"erasing for long":                          {seen(giveBack, maas.StatusDiskErasing, erasedSince(eraseSettles)), "let go: being erased", ""},
		"erasing for long, but it never booted":     {seen(giveBack, maas.StatusDiskErasing, erasedSince(eraseSettles), power(maas.PowerOff)), "wait: Deleting ErasingDisks", "its power is off"},
		"erasing for long, and no power to be seen": {seen(giveBack, maas.StatusDiskErasing, erasedSince(eraseSettles), power(maas.PowerUnknown)), "let go: being erased", ""},
		"erasing for long, and another machine of the claim is not": {seen(giveBack, maas.StatusDiskErasing, erasedSince(eraseSettles), func(o *observation) {
			m := *o.machine
			m.SystemID, m.Status = "bbbbb2", maas.StatusAllocated
			o.claimed = []maas.Machine{m}
		}, notes("bbbbb2")), "release bbbbb2", ""},
		"erasing, and somebody else has it": {seen(giveBack, maas.StatusDiskErasing, foreign), "let go: not ours", ""},

		"erasing failed: it is tried again":                {seen(giveBack, failed, erase(infrav1.EraseQuick)), "release aaaaa1", ""},
		"erasing failed a moment ago":                      {seen(giveBack, failed, erase(infrav1.EraseQuick), askedFor(1, 29*time.Second, nil)), "wait: Deleting ReleaseFailed", "None"},
		"erasing failed, and was waited for":               {seen(giveBack, failed, erase(infrav1.EraseQuick), askedFor(1, 30*time.Second, nil)), "release aaaaa1", ""},
		"erasing failed often":                             {seen(giveBack, failed, erase(infrav1.EraseQuick), askedFor(9, 9*time.Minute, nil)), "wait: Deleting ReleaseFailed", infrav1.AbandonAnnotation},
		"erasing failed often, and was waited for":         {seen(giveBack, failed, erase(infrav1.EraseQuick), askedFor(9, 10*time.Minute, nil)), "release aaaaa1", ""},
		"erasing failed, and the spec wants no more of it": {seen(giveBack, failed, erase(infrav1.EraseNone)), "release aaaaa1", ""},
		"erasing failed, and nothing says who wanted it":   {seen(giveBack, failed), "wait: Deleting ReleaseFailed", "who wanted that is not known"},
		"erasing failed, and MAAS erases at every release": {seen(giveBack, failed, func(o *observation) { o.erasesAnyway = true }), "release aaaaa1", ""},
		"erasing failed again before anybody looked":       {seen(giveBack, failed, erase(infrav1.EraseQuick), tried(release{"aaaaa1"}, nil)), "wait: Deleting ReleaseFailed", "None"},
		"MAAS refuses to erase again":                      {seen(giveBack, failed, erase(infrav1.EraseQuick), askedFor(1, 0, maas.ErrConflict)), "wait: Deleting ReleaseFailed", "refuses"},
		"the release failed a moment ago":                  {seen(giveBack, maas.StatusFailedReleasing, askedFor(1, 0, nil)), "wait: Deleting ReleaseFailed", "power settings"},
		"the power-off failed, and MAAS put it back":       {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, nil), putBack), "wait: Deleting ReleaseFailed", "put it back to state Deployed"},
		"put back, and waited for":                         {seen(giveBack, maas.StatusDeployed, askedFor(1, time.Minute, nil), putBack), "release aaaaa1", ""},
		"taken, and not shown in a later look":             {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, nil)), "wait: Deleting Unknown ReleaseOutcomeUnknown", "does not show it yet"},
		"the outcome is unknown, a moment ago":             {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, maas.ErrOutcomeUnknown)), "wait: Deleting Unknown ReleaseOutcomeUnknown", ""},
		"refused a moment ago, and locked since":           {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, maas.ErrForbidden), lockedInMAAS), "wait: Deleting ReleaseBlocked", "locked"},
		"failed a moment ago, and gone from MAAS since":    {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, nil), missing), "let go: gone", ""},
		"failed a moment ago, and another user's since":    {seen(giveBack, maas.StatusDeployed, askedFor(1, 0, nil), foreign), "let go: not ours", ""},
		"failed a moment ago, and given up":                {seen(giveBack, failed, erase(infrav1.EraseFull), askedFor(1, 0, nil), abandonedBecause("burnt")), "mark abandoned aaaaa1", ""},
		"scripts that MAAS does not have":                  {seen(giveBack, maas.StatusDeployed, scriptsOn("3.4.10")), "wait: Deleting ReleaseBlocked", "3.4.10"},
		"scripts that MAAS has":                            {seen(giveBack, maas.StatusDeployed, scriptsOn("3.5.13")), "release aaaaa1", ""},
		"scripts that MAAS does not have, before a claim":  {nothingYet(scriptsOn("3.4.10")), "wait: MachineAllocated ReleaseScriptsUnsupported", "remove spec.release.scripts"},
		"scripts that MAAS does not have, before a deploy": {seen(deploying, maas.StatusAllocated, scriptsOn("3.3.9")), "wait: MachineDeployed ReleaseScriptsUnsupported", ""},
		"scripts that MAAS does not have, on what runs":    {seen(keeping, maas.StatusDeployed, scriptsOn("3.4.10")), "all is well", ""},
		"scripts that MAAS does not have, but is free":     {seen(giveBack, maas.StatusReady, scriptsOn("3.4.10")), "let go: released", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := next(test.o)
			if got := say(s); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if w, waits := s.(wait); waits && !strings.Contains(w.message, test.says) {
				t.Errorf("it does not say %q: %s", test.says, w.message)
			}
		})
	}
}

// TestWhatIsAskedInVainIsRemembered is the memory behind the pauses.
func TestWhatIsAskedInVainIsRemembered(t *testing.T) {
	t.Parallel()
	r, key := &retries{}, client.ObjectKey{Namespace: "default", Name: "w1"}
	see := func(how, state string, at time.Duration) asked { return r.see(key, "aaaaa1", how, state, noon.Add(at)) }
	if a := see("Full", "Deployed", 0); a.times != 0 || !a.due().Before(noon) {
		t.Errorf("nothing was asked for: %+v", a)
	}
	r.note(key, "aaaaa1", "Full", "Deployed", noon, maas.ErrUnavailable)
	r.note(key, "aaaaa1", "Full", "Deployed", noon.Add(time.Minute), maas.ErrConflict)
	if a := see("Full", "Deployed", 2*time.Minute); a.times != 2 || a.since != noon.Add(time.Minute) || a.err == nil || a.moved {
		t.Errorf("asked for twice: %+v", a)
	}
	see("Full", "Disk erasing", 3*time.Minute)
	if a := see("Full", "Failed disk erasing", time.Hour); a.times != 2 || a.since != noon.Add(time.Hour) || a.err != nil || !a.moved {
		t.Errorf("it counts from when it failed: %+v", a)
	}
	if a := see("None", "Failed disk erasing", time.Hour); a.times != 0 {
		t.Errorf("another way is asked for at once: %+v", a)
	}
	if a := r.see(key, "bbbbb2", "Full", "Deployed", noon); a.times != 0 {
		t.Errorf("another machine's: %+v", a)
	}
	r.forget(key)
	if a := see("Full", "Failed disk erasing", time.Hour); a.times != 0 {
		t.Errorf("forgotten: %+v", a)
	}
}
