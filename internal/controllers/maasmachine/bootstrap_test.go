package maasmachine

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/userdata"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// bootstrapData changes the Secret of a machine, as whoever makes the data would.
func (w *world) bootstrapData(name string, change func(*corev1.Secret)) {
	w.Helper()
	secret := &corev1.Secret{}
	if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name + "-bootstrap"}, secret); err != nil {
		w.Fatal(err)
	}
	change(secret)
	if err := w.client.Update(context.Background(), secret); err != nil {
		w.Fatal(err)
	}
}

func TestNothingIsClaimedForBootstrapDataThatIsOfNoUse(t *testing.T) {
	t.Parallel()
	value := func(text string) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.Data["value"] = []byte(text) }
	}
	format := func(text string) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.Data["format"] = []byte(text) }
	}
	for name, test := range map[string]struct {
		change       func(*corev1.Secret)
		reason, says string
	}{
		"Ignition":                           {format("ignition"), infrav1.UnsupportedBootstrapFormatReason, `is in format "ignition", and only cloud-config is supported`},
		"Ignition that nobody calls so":      {value(`{"ignition":{"version":"3.4.0"}}`), infrav1.UnsupportedBootstrapFormatReason, `is in format "ignition"`},
		"a format of several lines":          {format("a\nb" + strings.Repeat("c", 500)), infrav1.UnsupportedBootstrapFormatReason, `is in format "a bccc`},
		"no value":                           {func(s *corev1.Secret) { s.Data = nil }, infrav1.WaitingForBootstrapDataReason, `has nothing under the key "value"`},
		"an empty value":                     {value(""), infrav1.WaitingForBootstrapDataReason, `has nothing under the key "value"`},
		"white space":                        {value(" \n"), infrav1.InvalidBootstrapDataReason, "is empty"},
		"no mark":                            {value("write_files: []\n"), infrav1.InvalidBootstrapDataReason, "begins with nothing that cloud-init knows"},
		"binary":                             {value("\x00\x01"), infrav1.InvalidBootstrapDataReason, "is binary"},
		"a script of Windows":                {value("#!/bin/sh\r\n"), infrav1.InvalidBootstrapDataReason, "line ends of Windows"},
		"packed badly":                       {value("\x1f\x8b"), infrav1.InvalidBootstrapDataReason, "packed with gzip, and cannot be unpacked"},
		"a format of its own, and of no use": {func(s *corev1.Secret) { format("cloud-config")(s); value("hello")(s) }, infrav1.InvalidBootstrapDataReason, "begins with nothing"},
		"too much": {func(s *corev1.Secret) { s.Data["value"] = padded(6 << 20) },
			infrav1.BootstrapDataTooLargeReason, "has 6.0 MiB, which makes a request of 12.0 MiB, and MAAS takes at most 10.0 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.add("w1", false)
			w.bootstrapData("w1", test.change)
			w.pass("w1", time.Minute)
			w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, test.reason)
			message := conditions.Get(w.get("w1"), infrav1.MachineReadyCondition).Message
			if !strings.Contains(message, test.says) || strings.Contains(message, "\n") || len(message) > 300 {
				t.Errorf("message: %q", message)
			}
			if len(w.region.Requests()) != 0 {
				t.Error("MAAS was asked for something")
			}
			w.bootstrapData("w1", func(s *corev1.Secret) { s.Data = map[string][]byte{"value": []byte(userData)} })
			w.until("w1", w.provisioned("w1"))
		})
	}
}

// padded is cloud-config of a size, of bytes that base64 writes with many characters to be escaped.
func padded(size int) []byte {
	text := []byte(userData + "#")
	random := rand.New(rand.NewPCG(1, 2))
	for len(text) < size {
		text = append(text, "~?>"[random.IntN(3)])
	}
	return text
}

// What we let pass, MAAS takes; what we refuse is really too much.
func TestLargestBootstrapDataThatMAASTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const step = 64 << 10
	tooLarge := padded(6 << 20)
	size := 4 << 20
	for userdata.RequestSize(tooLarge[:size+step]) <= userdata.MaxRequest {
		size += step
	}
	largest, tooLarge := tooLarge[:size], tooLarge[:size+step]

	for name, test := range map[string]struct {
		data  []byte
		taken bool
	}{"largest": {largest, true}, "too large": {tooLarge, false}} {
		machine, err := w.maas.Allocate(context.Background(), maas.AllocateParams{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.maas.Deploy(context.Background(), machine.SystemID, maas.DeployParams{UserData: test.data, DistroSeries: "jammy"})
		if taken := err == nil; taken != test.taken {
			t.Errorf("%s: MAAS says %v", name, err)
		}
		o := seen("", 0, func(o *observation) {
			o.bootstrap = bootstrapOf(&corev1.Secret{Data: map[string][]byte{"value": test.data}}, "custom/u-2404")
		})
		if reason, _ := o.unusable(); (reason == "") != test.taken {
			t.Errorf("%s: we say %q", name, reason)
		}
	}
}

func TestBootstrapDataThatChangesAfterTheClaim(t *testing.T) {
	t.Parallel()
	claimed := func(w *world) {
		w.Helper()
		w.steps = 1
		w.add("w1", false)
		w.until("w1", func() bool { return w.get("w1").Spec.SystemID != "" })
		w.steps = 0
	}
	t.Run("to other data", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		claimed(w)
		const more = 30_000
		w.bootstrapData("w1", func(s *corev1.Secret) { s.Data["value"] = padded(more) })
		w.until("w1", w.provisioned("w1"))
		for _, r := range w.region.Requests() {
			if r.Op == "deploy" && r.Received < more {
				t.Errorf("deployed with the data from before: %d bytes", r.Received)
			}
		}
	})
	for name, test := range map[string]struct {
		change func(*corev1.Secret)
		reason string
	}{
		"to nothing":                {func(s *corev1.Secret) { delete(s.Data, "value") }, infrav1.WaitingForBootstrapDataReason},
		"to what cloud-init cannot": {func(s *corev1.Secret) { s.Data["value"] = []byte("hello") }, infrav1.InvalidBootstrapDataReason},
		"to Ignition":               {func(s *corev1.Secret) { s.Data["format"] = []byte("ignition") }, infrav1.UnsupportedBootstrapFormatReason},
		"to too much":               {func(s *corev1.Secret) { s.Data["value"] = padded(6 << 20) }, infrav1.BootstrapDataTooLargeReason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			claimed(w)
			w.bootstrapData("w1", test.change)
			w.pass("w1", 2*time.Minute)
			w.expect("w1", infrav1.MachineDeployedCondition, metav1.ConditionFalse, test.reason)
			w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionTrue, infrav1.MachineAllocatedReason)
			if n := w.calls("deploy"); n != 0 {
				t.Errorf("%d requests to deploy", n)
			}
			w.bootstrapData("w1", func(s *corev1.Secret) { s.Data = map[string][]byte{"value": []byte(userData)} })
			w.until("w1", w.provisioned("w1"))
		})
	}
	t.Run("and goes away", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		claimed(w)
		if err := w.client.Delete(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w1-bootstrap"}}); err != nil {
			t.Fatal(err)
		}
		w.pass("w1", 2*time.Minute)
		w.expect("w1", infrav1.MachineDeployedCondition, metav1.ConditionFalse, infrav1.WaitingForBootstrapDataReason)
		w.delete("w1")
		w.until("w1", w.goneFrom("w1"))
		if owned := w.owned(); len(owned) != 0 {
			t.Errorf("still ours: %v", owned)
		}
	})
}

// What was seen a moment ago is not what is sent.
func TestBootstrapDataThatChangesWhileItIsDeployed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*corev1.Secret){
		"to nothing": func(s *corev1.Secret) { delete(s.Data, "value") },
		"to no use":  func(s *corev1.Secret) { s.Data["value"] = []byte("hello") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.steps = 1
			w.add("w1", false)
			w.until("w1", func() bool { return w.get("w1").Spec.SystemID != "" })
			r := w.reconciler()
			o, err := r.observeObjects(t.Context(), w.get("w1"))
			if err != nil {
				t.Fatal(err)
			}
			o.direct = true
			r.observeWorld(t.Context(), &o)
			w.bootstrapData("w1", change)
			failure, err := r.deploy(t.Context(), &o)
			if err == nil || failure != nil || strings.Contains(err.Error(), "hello") {
				t.Errorf("got %v, %v", failure, err)
			}
			if n := w.calls("deploy"); n != 0 {
				t.Errorf("%d requests to deploy", n)
			}
		})
	}
}

// A token is asked for where the workload cluster is, and nowhere else.
func TestJoinTokensAreLookedAtBeforeAClaim(t *testing.T) {
	t.Parallel()
	const joining = userData + "bootstrapToken:\n  token: abc123.0123456789abcdef\n"
	for name, test := range map[string]struct {
		expires     string // of the token's Secret; "" for none, "-" for one that does not expire
		initialized bool
		reason      string // "" for a claim
	}{
		"valid":                       {"2026-03-01T12:10:00Z", true, ""},
		"without end":                 {"-", true, ""},
		"expired":                     {"2026-03-01T12:00:00Z", true, infrav1.BootstrapTokenExpiredReason},
		"gone":                        {"", true, infrav1.BootstrapTokenExpiredReason},
		"there is no cluster to join": {"", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.steps = 3
			w.editCluster(func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = &test.initialized })
			if test.expires != "" {
				token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abc123"}}
				if test.expires != "-" {
					token.Data = map[string][]byte{"expiration": []byte(test.expires)}
				}
				if err := w.workload.Create(context.Background(), token); err != nil {
					t.Fatal(err)
				}
			}
			w.add("w1", false)
			w.bootstrapData("w1", func(s *corev1.Secret) { s.Data["value"] = []byte(joining) })
			w.pass("w1", 30*time.Second)
			if test.reason == "" {
				if len(w.owned()) != 1 {
					t.Errorf("nothing is claimed: %s", w.story("w1"))
				}
				return
			}
			w.expect("w1", infrav1.MachineAllocatedCondition, metav1.ConditionFalse, test.reason)
			if len(w.owned()) != 0 {
				t.Error("a machine is claimed")
			}
		})
	}
}
