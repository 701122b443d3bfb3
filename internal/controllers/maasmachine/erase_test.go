package maasmachine

import (
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The versions of MAAS between which a release differs.
func versions() []string { return []string{"3.4.10", "3.5.13", "3.7.3"} }

func ofVersion(version string) func(*simulator.Config) {
	return func(c *simulator.Config) {
		c.Version, c.ReleaseScripts = version, []string{"reset-bios", "drain-raid"}
		c.Durations.Erase, c.Durations.Test = 6*time.Minute, 2*time.Minute
	}
}

// released are the forms that releases were asked for with, without comments.
func (w *world) released() []string {
	var all []string
	for _, r := range w.region.Requests() {
		if r.Op == "release" && r.Method == "POST" {
			form := url.Values{}
			for key, values := range r.Form {
				if key != "comment" {
					form[key] = values
				}
			}
			all = append(all, form.Encode())
		}
	}
	return all
}

// states are those that a machine goes through in MAAS while its object goes.
func (w *world) statesUntilGone(name, systemID string) []string {
	w.Helper()
	var all []string
	w.until(name, func() bool {
		if s := w.inMAAS(systemID).Status.String(); len(all) == 0 || all[len(all)-1] != s {
			all = append(all, s)
		}
		return !w.exists(name)
	})
	return all
}

func TestDisksAreErasedAsTheSpecSays(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		for name, test := range map[string]struct {
			release infrav1.ReleasePolicy
			setting bool // MAAS erases at every release
			form    string
			erased  bool
		}{
			"nothing said":                          {infrav1.ReleasePolicy{}, false, "", false},
			"None":                                  {infrav1.ReleasePolicy{Erase: infrav1.EraseNone}, false, "", false},
			"Quick":                                 {infrav1.ReleasePolicy{Erase: infrav1.EraseQuick}, false, "erase=true&quick_erase=true", true},
			"Secure":                                {infrav1.ReleasePolicy{Erase: infrav1.EraseSecure}, false, "erase=true&secure_erase=true", true},
			"Full":                                  {infrav1.ReleasePolicy{Erase: infrav1.EraseFull}, false, "erase=true", true},
			"None does not undo MAAS's own setting": {infrav1.ReleasePolicy{Erase: infrav1.EraseNone}, true, "", true},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ofVersion(version))
				w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release = test.release })
				w.until("w1", w.provisioned("w1"))
				id := w.get("w1").Spec.SystemID
				if test.setting {
					w.erasesAtEveryRelease()
				}
				w.delete("w1")
				states := w.statesUntilGone("w1", id)
				if got := w.released(); !slices.Equal(got, []string{test.form}) {
					t.Errorf("asked for %q, want %q", got, test.form)
				}
				if slices.Contains(states, "Disk erasing") != test.erased {
					t.Errorf("went through %v", states)
				}
				if m := w.inMAAS(id); m.Owner != "" || m.Status != simulator.StatusReady {
					t.Errorf("the object went before its machine was free: %s of %q", m.Status, m.Owner)
				}
			})
		}
	}
}

// post asks MAAS for something as a person with our user's key does, who is an administrator.
func (w *world) post(path string, form url.Values) {
	w.Helper()
	key := strings.Split(ourKey, ":")
	r := httptest.NewRequest("POST", "/MAAS/api/2.0/"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", fmt.Sprintf(`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="%s", oauth_token="%s", `+
		`oauth_signature="%%26%s", oauth_nonce="%s", oauth_timestamp="%d"`, key[0], key[1], key[2], rand.Text(), w.clock.Now().Unix()))
	answer := httptest.NewRecorder()
	w.region.Handler().ServeHTTP(answer, r)
	if answer.Code != 200 {
		w.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
}

// erasesAtEveryRelease sets MAAS's own setting.
func (w *world) erasesAtEveryRelease() {
	w.Helper()
	w.post("maas/?op=set_config", url.Values{"name": {"enable_disk_erasing_on_release"}, "value": {"true"}})
}

func TestTheWayOfReleasingMayBeChangedWhileTheMachineRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ofVersion("3.7.3"))
	w.add("w1", false)
	w.until("w1", w.provisioned("w1"))
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseQuick })
	w.pass("w1", 2*time.Minute)
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	if got := w.released(); !slices.Equal(got, []string{"erase=true&quick_erase=true"}) {
		t.Errorf("asked for %q", got)
	}
}

func TestReleaseScriptsRunWhereMAASHasThem(t *testing.T) {
	t.Parallel()
	scripts := infrav1.ReleasePolicy{Scripts: []string{"reset-bios", "drain-raid"}}
	for _, version := range []string{"3.5.13", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ofVersion(version))
			w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release = scripts })
			w.until("w1", w.provisioned("w1"))
			w.delete("w1")
			began := w.clock.Now()
			w.until("w1", w.goneFrom("w1"))
			if got := w.released(); !slices.Equal(got, []string{"scripts=reset-bios%2Cdrain-raid"}) {
				t.Errorf("asked for %q", got)
			}
			if took := w.clock.Now().Sub(began); took < 2*time.Minute || len(w.owned()) > 0 {
				t.Errorf("gone after %s, owned %v", took, w.owned())
			}
		})
	}
	t.Run("3.4.10 has none: no machine is claimed for it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, ofVersion("3.4.10"))
		w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release = scripts })
		w.pass("w1", 3*time.Minute)
		w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.ReleaseScriptsUnsupportedReason)
		if len(w.owned()) > 0 {
			t.Errorf("owned: %v", w.owned())
		}
		w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release = infrav1.ReleasePolicy{} })
		w.until("w1", w.provisioned("w1"))
	})
	t.Run("3.4.10 has none: the release says so, and waits", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, ofVersion("3.4.10"))
		w.add("w1", false)
		w.until("w1", w.provisioned("w1"))
		w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release = scripts })
		w.delete("w1")
		w.pass("w1", 5*time.Minute)
		w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseBlockedReason)
		if got := w.released(); len(got) > 0 {
			t.Errorf("asked for %q", got)
		}
		w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release = infrav1.ReleasePolicy{} })
		w.until("w1", w.goneFrom("w1"))
		if len(w.owned()) > 0 {
			t.Errorf("owned: %v", w.owned())
		}
	})
}

// TestLongErasingIsLeftToMAAS: an object that waited for a full erase would hold a rollout for hours.
func TestLongErasingIsLeftToMAAS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ofVersion("3.7.3"), func(c *simulator.Config) { c.Durations.Erase = 5 * time.Hour })
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseFull })
	w.until("w1", w.provisioned("w1"))
	id := w.get("w1").Spec.SystemID
	w.delete("w1")
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ErasingDisksReason)
	w.told()
	began := w.clock.Now()
	w.until("w1", w.goneFrom("w1"))
	if waited := w.clock.Now().Sub(began); waited < eraseSettles-2*time.Minute || waited > eraseSettles+5*time.Minute {
		t.Errorf("waited for %s", waited)
	}
	if status := w.inMAAS(id).Status; status != simulator.StatusDiskErasing {
		t.Errorf("the machine is %s", status)
	}
	if told := strings.Join(w.told(), "\n"); !strings.Contains(told, "Normal Released MAAS "+w.maas.Host()+" erases the disks of machine m1 (aaaaa1)") {
		t.Errorf("events: %s", told)
	}
	w.clock.Advance(6 * time.Hour)
	if m := w.inMAAS(id); m.Status != simulator.StatusReady || m.Owner != "" {
		t.Errorf("the machine is %s of %q", m.Status, m.Owner)
	}
}

// fails makes hardware fail at a moment, until it is mended.
func (w *world) fails(at simulator.Moment, trouble simulator.Trouble) (mend func()) {
	return w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == at {
			return trouble
		}
		return simulator.Trouble{}
	})
}

func TestAnEraseThatFailsIsTriedAgainAndNeverLeftOut(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ofVersion(version))
			w.kept = w.reconciler()
			w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseSecure })
			w.until("w1", w.provisioned("w1"))
			mend := w.fails(simulator.MomentErase, simulator.Trouble{Fail: "sda: frozen"})
			w.delete("w1")
			w.pass("w1", 90*time.Minute)
			requests := w.released()
			if n := len(requests); n < 5 || n > 10 {
				t.Errorf("asked for a release %d times in 90 minutes", n)
			}
			for _, form := range requests {
				if form != "erase=true&secure_erase=true" {
					t.Errorf("asked for %q", form)
				}
			}
			w.until("w1", func() bool {
				c := conditions.Get(w.get("w1"), infrav1.MachineDeletingCondition)
				return c.Reason == infrav1.ReleaseFailedReason
			})
			said := conditions.Get(w.get("w1"), infrav1.MachineDeletingCondition).Message
			for _, part := range []string{"m1 (aaaaa1)", "sda: frozen", "spec.release.erase to None", infrav1.AbandonAnnotation} {
				if !strings.Contains(said, part) {
					t.Errorf("it does not say %q: %s", part, said)
				}
			}
			mend()
			w.until("w1", w.goneFrom("w1"))
			if len(w.owned()) > 0 {
				t.Errorf("owned: %v", w.owned())
			}
		})
	}
}

func TestAPersonMayChooseToReleaseUnerased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ofVersion("3.7.3"))
	w.kept = w.reconciler()
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseFull })
	w.until("w1", w.provisioned("w1"))
	w.fails(simulator.MomentErase, simulator.Trouble{Fail: "sda: frozen"})
	w.delete("w1")
	w.pass("w1", time.Hour)
	w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseNone })
	w.until("w1", w.goneFrom("w1"))
	if got := w.released(); got[len(got)-1] != "" || len(w.owned()) > 0 {
		t.Errorf("asked for %q, owned %v", got, w.owned())
	}
}

// TestAnOperatorsEraseIsNotLeftOut: somebody asked MAAS by hand to erase the disks, and that failed.
func TestAnOperatorsEraseIsNotLeftOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setting bool
		erase   infrav1.Erase
		held    bool
	}{
		"nothing says whether to erase":      {false, "", true},
		"MAAS erases at every release":       {true, "", false},
		"the spec wants the disks erased":    {false, infrav1.EraseQuick, false},
		"the spec wants the data left there": {false, infrav1.EraseNone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, ofVersion("3.7.3"))
			w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = test.erase })
			w.until("w1", w.provisioned("w1"))
			if test.setting {
				w.erasesAtEveryRelease()
			}
			mend := w.fails(simulator.MomentErase, simulator.Trouble{Fail: "sda: frozen"})
			id := w.get("w1").Spec.SystemID
			w.post("machines/"+id+"/?op=release", url.Values{"erase": {"true"}})
			w.clock.Advance(10 * time.Minute)
			if status := w.inMAAS(id).Status; status != simulator.StatusFailedDiskErasing {
				t.Fatal(status)
			}
			mend()
			asked := len(w.released())
			w.delete("w1")
			if !test.held {
				w.until("w1", w.goneFrom("w1"))
				return
			}
			w.pass("w1", time.Hour)
			w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseFailedReason)
			if got := w.released()[asked:]; len(got) > 0 {
				t.Errorf("asked for %q", got)
			}
			w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseQuick })
			w.until("w1", w.goneFrom("w1"))
			if len(w.owned()) > 0 {
				t.Errorf("owned: %v", w.owned())
			}
		})
	}
}

func TestPausesGrow(t *testing.T) {
	t.Parallel()
	var got []string
	for times := range 8 {
		got = append(got, pause(times).String())
	}
	if want := "0s 30s 1m0s 2m0s 4m0s 8m0s 10m0s 10m0s"; strings.Join(got, " ") != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if fmt.Sprint(pause(1000)) != "10m0s" {
		t.Error(pause(1000))
	}
}

// TestAnotherMachineIsClaimedOnceTheEraseOfTheFailedOneGoesWell: for how long it was erased counts, and not for how long it was deployed.
func TestAnotherMachineIsClaimedOnceTheEraseOfTheFailedOneGoesWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ofVersion("3.7.3"), func(c *simulator.Config) {
		c.Durations.Erase, c.Durations.Install = 5*time.Hour, 25*time.Minute
	})
	mend := w.fails(simulator.MomentInstall, simulator.Trouble{Fail: "no space left"})
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = infrav1.EraseFull })
	w.until("w1", func() bool { return w.calls("release") == 1 })
	mend()
	began, failed := w.clock.Now(), w.owned()
	w.until("w1", func() bool { return w.calls("allocate") == 2 })
	if waited := w.clock.Now().Sub(began); waited < eraseSettles-time.Minute || waited > eraseSettles+5*time.Minute {
		t.Errorf("another machine was claimed %s after the erase began", waited)
	}
	if status := w.inMAAS(failed[0]).Status; status != simulator.StatusDiskErasing {
		t.Errorf("the failed machine is %s", status)
	}
	w.until("w1", w.provisioned("w1"))
}
