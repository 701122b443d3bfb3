package follow

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

func TestAControlPlaneIsGivenUpWhenEachOfItsMachinesFailedForGood(t *testing.T) {
	t.Parallel()
	deployed := func(reason, message string) metav1.Condition {
		return metav1.Condition{Type: infrav1.MachineDeployedCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	failed := deployed(infrav1.DeployFailedReason, "the deployment failed: bad disk")
	for _, test := range []struct {
		name     string
		change   func(*state)
		want     string
		hopeless bool
	}{
		{"it serves", func(*state) {}, "", false},
		{"it is being deployed", func(s *state) {
			s.workload.serves = false
			s.maas["cp"] = maasMachine("abc123", deployed(infrav1.DeployingReason, "MAAS is installing the image"))
		}, "", false},
		{"its deployment failed", func(s *state) {
			s.workload.serves = false
			s.maas["cp"] = maasMachine("abc123", failed)
		}, "the deployment failed: bad disk (MachineDeployFailed)", true},
		{"its deployment failed, but it served before", func(s *state) { s.maas["cp"] = maasMachine("abc123", failed) }, "", false},
		{"one of two failed", func(s *state) {
			s.workload.serves = false
			s.maas["cp"] = maasMachine("abc123", failed)
			s.machines = append(s.machines, machine("cp2", true, ""))
			s.maas["cp2"] = maasMachine("def456", deployed(infrav1.DeployingReason, "MAAS is installing the image"))
		}, "", false},
		{"a worker failed", func(s *state) {
			s.workload.serves = false
			s.maas["a-worker"] = maasMachine("def456", failed)
		}, "", false},
		{"kubeadm failed", func(s *state) {
			s.workload.serves = false
			s.failures = map[string][]string{"abc123": {"[ERROR ImagePull]: no", "error: preflight"}}
		}, "machine calm-dingo was deployed, but cloud-init failed in it: [ERROR ImagePull]: no", true},
		{"it has no machine yet", func(s *state) {
			s.workload.serves = false
			s.machines = s.machines[:1]
		}, "", false},
	} {
		s := halfWay()
		test.change(s)
		if got := s.hopeless(); (got != "") != test.hopeless || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAFailureCountsOnceItHasLasted(t *testing.T) {
	t.Parallel()
	var v verdict
	start := time.Unix(0, 0)
	for _, step := range []struct {
		after time.Duration
		why   string
		final bool
	}{
		{0, "broken", false},
		{grace - time.Second, "broken", false},
		{grace, "", false}, // another machine was claimed
		{grace + time.Second, "broken", false},
		{2*grace + time.Second, "broken", true},
	} {
		if got := v.of(step.why, start.Add(step.after)); (got != "") != step.final {
			t.Errorf("after %s: %q", step.after, got)
		}
	}
}

func TestComplaintsNameWhereToReadMore(t *testing.T) {
	t.Parallel()
	s := halfWay()
	s.failures = map[string][]string{"def456": {"[ERROR Port-6443]: in use"}}
	f := &follower{Options: Options{Layout: host.Layout{Root: "/x", State: "/x/.sandbox", Build: "/x/_build"}}}
	got := f.whereToLook(s)
	for _, want := range []string{"brave-crane says: [ERROR Port-6443]: in use", "make sandbox-logs MACHINE=brave-crane"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "calm-dingo") {
		t.Errorf("a machine that waits for nothing is named: %q", got)
	}
	if row := s.row(s.machines[0]); row.waiting != "cloud-init failed: [ERROR Port-6443]: in use" {
		t.Errorf("the row says %q", row.waiting)
	}
	s.machines[0].Status.NodeRef = clusterv1.MachineNodeReference{Name: "brave-crane"}
	if out := bootstrapFailures(f.Layout, s); len(out) != 0 {
		t.Errorf("failures of machines that are Nodes: %v", out)
	}
}
