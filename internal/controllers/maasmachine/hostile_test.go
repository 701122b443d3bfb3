package maasmachine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Names that Kubernetes takes, and that look like something else.
func TestMachinesOfOddNamesLiveLikeOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"0", "007", "null", "true", "op", "a.b.c", "1.2.3.4", "x--y", "machines", strings.Repeat("a", 253), strings.Repeat("a.", 126) + "a",
	} {
		t.Run(name[:min(len(name), 20)], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add(name, false)
			w.until(name, w.provisioned(name))
			id := w.get(name).Spec.SystemID
			if got := w.inMAAS(id).Annotations[infrav1.MachineAnnotationMachine]; got != "default."+name {
				t.Errorf("in MAAS it is %q", got)
			}
			w.delete(name)
			w.until(name, w.goneFrom(name))
			if owned := w.owned(); len(owned) != 0 {
				t.Errorf("still ours: %v", owned)
			}
		})
	}
}

// Names in MAAS with which commands and addresses could be led astray.
func TestMachinesInOddPlacesAreClaimed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rack 1", "-", "--zone", "žižkov_1", "0", strings.Repeat("z", 256)} {
		t.Run(name[:min(len(name), 20)], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) {
				c.Zones, c.Pools = []simulator.Zone{{Name: name}}, []simulator.Pool{{Name: name}}
				c.Machines = []simulator.Machine{{Hostname: "m1", SystemID: "aaaaa1"}, {Hostname: "m2", SystemID: "aaaaa2", Zone: name, Pool: name}}
			})
			w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.FailureDomain, m.Spec.ResourcePool = name, name })
			w.until("w1", w.provisioned("w1"))
			m := w.get("w1")
			if m.Spec.ProviderID != "maas:///"+name+"/aaaaa2" || m.Status.FailureDomain != name {
				t.Errorf("provider ID %q, failure domain %q", m.Spec.ProviderID, m.Status.FailureDomain)
			}
			w.delete("w1")
			w.until("w1", w.goneFrom("w1"))
		})
	}
}

// A system ID that somebody wrote into the spec, past the webhook, never becomes a part of an address.
func TestSystemIDsThatAreNoneAreNeverAskedFor(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../users", "?op=release", "a/b", "..", "aaaaa1 ", "aaaaa1\n", strings.Repeat("a", 65)} {
		for name, spec := range map[string]infrav1.MaasMachineSpec{
			"systemID": {SystemID: id}, "providerID": {ProviderID: "maas:///z/" + id}, "both": {SystemID: id, ProviderID: "maas:///z/" + id},
		} {
			t.Run(name+" "+id[:min(len(id), 20)], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.SystemID, m.Spec.ProviderID = spec.SystemID, spec.ProviderID })
				w.pass("w1", time.Minute)
				w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, infrav1.InvalidClaimReason)
				w.delete("w1")
				w.pass("w1", time.Minute)
				w.expect("w1", infrav1.MachineDeletingCondition, metav1.ConditionTrue, infrav1.ReleaseBlockedReason)
				for _, r := range w.region.Requests() {
					if strings.Contains(r.Path, "/machines/") && r.Path != "/MAAS/api/2.0/machines/" || r.Method != "GET" {
						t.Errorf("MAAS was asked: %s %s", r.Method, r.Path)
					}
				}
				// A person corrects it, and it goes.
				w.edit("w1", func(m *infrav1.MaasMachine) { m.Spec.SystemID, m.Spec.ProviderID = "", "" })
				w.until("w1", w.goneFrom("w1"))
			})
		}
	}
}

// What MAAS calls things, were it hostile, reaches no user but as one line that the API server takes.
func TestNamesInMAASBreakNoStatus(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 3000)
	for _, name := range []string{"a\nb", "a\x1b[31m\x00b", "a\u202eb", "\xff\xfe", long, "%s%d%!", "<script>", ""} {
		o := seen(keeping, maas.StatusDeployed, func(o *observation) {
			o.machine.Hostname, o.machine.FQDN, o.machine.ErrorDescription, o.failure = name, name+".maas", name, name
			o.machine.PowerState, o.machine.Zone.Name, o.machine.StatusMessage = maas.PowerState(name), name, name
			for range 300 {
				o.machine.IPAddresses = append(o.machine.IPAddresses, name+"x")
			}
		})
		acceptableStatus(t, o)
		for _, status := range []maas.Status{maas.StatusBroken, maas.StatusFailedDeployment, maas.StatusReady, 99} {
			o.machine.Status = status
			acceptableStatus(t, o)
		}
	}
}

// acceptableStatus checks what the schema asks of a status, and that its messages are one line each.
func acceptableStatus(t *testing.T, o observation) {
	t.Helper()
	last, waits := next(o).(wait)
	if !waits {
		last = wait{}
	}
	status, err := statusOf(o, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Conditions {
		if len(c.Message) > maxMessage+len("…") || !utf8.ValidString(c.Message) || strings.ContainsFunc(c.Message, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("%s says %q", c.Type, c.Message)
		}
		if c.Reason == "" {
			t.Errorf("%s has no reason", c.Type)
		}
	}
	for field, text := range map[string]struct {
		value string
		limit int
	}{
		"hostname": {status.Hostname, 256}, "failureDomain": {status.FailureDomain, 256}, "machineState": {status.MachineState, 256},
		"powerState": {status.PowerState, 64},
	} {
		if n := utf8.RuneCountInString(text.value); n > text.limit {
			t.Errorf("%s has %d characters", field, n)
		}
	}
	if len(status.Addresses) > 256 {
		t.Errorf("%d addresses", len(status.Addresses))
	}
	for _, a := range status.Addresses {
		if n := utf8.RuneCountInString(a.Address); n < 1 || n > 256 {
			t.Errorf("an address of %d characters", n)
		}
	}
}

// Annotations are text that anybody may edit.
func FuzzAnnotations(f *testing.F) {
	for _, seed := range [][3]string{
		{"", "", ""},
		{"aaaaa1 2026-03-01T11:59:00Z", `[{"machine":"aaaaa1","began":"2026-03-01T11:00:00Z","taken":true}]`, "capi"},
		{"../users yesterday", `[{"machine":"aaaaa1","failed":"\u001b\n","givenBack":true},{}]`, "\x00"},
		{" ", `{"machine":1}`, "bob"},
		{"aaaaa1", `[null]`, strings.Repeat("x", 2000)},
		{"aaaaa2 0001-01-01T00:00:00Z", `[{"machine":"aaaaa1","putBack":-9223372036854775808,"began":"9999-12-31T23:59:59Z"}]`, "capi"},
	} {
		f.Add(seed[0], seed[1], seed[2], "t0ken")
	}
	f.Fuzz(func(t *testing.T, attempt, deployments, user, claim string) {
		for _, p := range []phase{claiming, deploying, keeping, giveBack} {
			for _, status := range []maas.Status{maas.StatusAllocated, maas.StatusDeploying, maas.StatusDeployed, maas.StatusFailedDeployment, maas.StatusReady} {
				o := seen(p, status, func(o *observation) {
					o.object.Annotations = map[string]string{
						infrav1.ClaimAnnotation: claim, infrav1.ClaimAttemptAnnotation: attempt, infrav1.DeployAttemptsAnnotation: deployments, infrav1.UserAnnotation: user,
					}
				})
				acceptableStatus(t, o)
				m := o.object.DeepCopy()
				changeDeployment(m, "aaaaa1", "m1", o.now, func(d *deployment) { d.Failed = "failed" })
				if all := deploymentsOf(m); len(all) == 0 || len(all) > maxDeployments || all[len(all)-1].Failed != "failed" {
					t.Errorf("a deployment was not written down: %v", all)
				}
			}
		}
	})
}

// MAAS's words for what it refuses are cut and made one line by the client already.
func TestHostileWordsOfMAASStayOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "allocate" {
			return simulator.Fault{Status: 400, ContentType: "text/plain", Body: "a\nb\x1b[31m" + strings.Repeat("very ", 10_000)}
		}
		return simulator.Fault{}
	})
	w.add("w1", false)
	w.pass("w1", time.Minute)
	w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, infrav1.ClaimRefusedReason)
	for _, c := range w.get("w1").Status.Conditions {
		if len(c.Message) > maxMessage+len("…") || strings.ContainsFunc(c.Message, unicode.IsControl) {
			t.Errorf("%s says %q", c.Type, c.Message)
		}
	}
	for _, e := range w.told() {
		if len(e) > 1100 || strings.ContainsFunc(e, unicode.IsControl) {
			t.Errorf("event %q", e)
		}
	}
	_, err := w.maas.Machine(context.Background(), "../users")
	if !errors.Is(err, maas.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
