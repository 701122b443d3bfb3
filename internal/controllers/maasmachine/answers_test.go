package maasmachine

import (
	"context"
	"errors"
	"testing"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// TestWhatBecameOfARequest: what MAAS says is told in its own words, and only silence is Unknown.
func TestWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	said := func(kind maas.Kind, status int, words string) error {
		return &maas.Error{Kind: kind, Operation: "deploy_machine", StatusCode: status, Message: words, Said: true}
	}
	silent := func(kind maas.Kind, status int, words string) error {
		return &maas.Error{Kind: kind, Operation: "deploy_machine", StatusCode: status, Message: words}
	}
	o := seen(deploying, maas.StatusAllocated, func(o *observation) {
		o.machine.Architecture, o.object.Spec.Image = "arm64/generic", "u-2404"
		o.bootstrap.size, o.bootstrap.request = 900<<10, 1300<<10
		o.object.Spec.Storage, o.object.Spec.Subnets = "100GB", []string{"10.99.0.0/24", "space:dmz"}
	})
	erasing := seen(giveBack, maas.StatusFailedDiskErasing)
	const orReplace = "set that right in MAAS, and CAPMAAS tries again by itself; or delete Machine w1 in Kubernetes to get another"
	for name, test := range map[string]struct {
		request request
		err     error
		want    string // the reason, and "Unknown" where it is
		after   time.Duration
		message string
	}{
		"taken, and not to be seen": {o.toDeploy(), nil, "DeployOutcomeUnknown Unknown", moving,
			"MAAS maas.test took the request to deploy machine m1 (aaaaa1), but does not show it yet: CAPMAAS looks again by itself"},
		"MAAS failed, and says why": {o.toDeploy(), said(maas.KindOutcomeUnknown, 503, "No more IPs available."), "DeployRefused", scarce,
			"MAAS maas.test could not deploy machine m1 (aaaaa1) (No more IPs available): set that right in MAAS, whose log tells more; CAPMAAS tries again by itself"},
		"MAAS failed at a release": {o.toRelease(o.machine), said(maas.KindOutcomeUnknown, 500, "IPMI failed"), "ReleaseFailed", scarce,
			"MAAS maas.test could not release machine m1 (aaaaa1) (IPMI failed): check its power settings in MAAS, and its BMC; CAPMAAS tries again by itself"},
		"MAAS failed at a claim": {o.toAllocate("aaaaa2"), said(maas.KindOutcomeUnknown, 500, "Internal server error"), "ClaimRefused", scarce,
			"MAAS maas.test could not allocate machine aaaaa2 (Internal server error): look into MAAS's own log; CAPMAAS tries again by itself"},
		"a proxy answered": {o.toDeploy(), silent(maas.KindOutcomeUnknown, 504, "504 Gateway Timeout"), "DeployOutcomeUnknown Unknown", releasing,
			"MAAS maas.test gave no usable answer (504 Gateway Timeout) to the request to deploy machine m1 (aaaaa1): CAPMAAS looks and tries again by itself; if it stays so, look into MAAS's own log"},
		"nobody answered": {o.toRelease(o.machine), silent(maas.KindOutcomeUnknown, 0, "no answer in time"), "ReleaseOutcomeUnknown Unknown", releasing,
			"MAAS maas.test gave no usable answer (no answer in time) to the request to release machine m1 (aaaaa1): CAPMAAS looks and tries again by itself; if it stays so, look into MAAS's own log"},
		"busy": {o.toRelease(o.machine), silent(maas.KindUnavailable, 409, "busy"), "Releasing", releasing,
			"MAAS maas.test was too busy with other changes to release machine m1 (aaaaa1): CAPMAAS tries again by itself"},
		"away": {o.toDeploy(), silent(maas.KindUnavailable, 0, "cannot connect: connection refused"), "MAASUnreachable Unknown", releasing,
			"MAAS maas.test is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it"},
		"refused": {o.toDeploy(), said(maas.KindInvalid, 400, "network: Node must be configured"), "DeployRefused", scarce,
			"MAAS maas.test refuses to deploy machine m1 (aaaaa1) (network: Node must be configured): " + orReplace},
		"no such image": {o.toDeploy(), said(maas.KindInvalid, 400, "distro_series: 'custom/u-2404' is not a valid distro_series. It should be one of: ''."), "DeployRefused", scarce,
			"MAAS maas.test has no image custom/u-2404 for arm64, the architecture of machine m1 (aaaaa1): upload it, or name another one in a new MaasMachineTemplate"},
		"too large": {o.toDeploy(), silent(maas.KindInvalid, 413, "the request is too large"), "DeployRefused", scarce,
			"the bootstrap data of Machine w1 has 900 KiB, which makes a request of 1.3 MiB, too large for MAAS maas.test or for a proxy before it: make its files fewer or shorter in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to"},
		"a field that MAAS does not accept": {o.toAllocateAny(), said(maas.KindInvalid, 400, "subnets: No matching subnets found."), "ClaimRefused", scarce,
			`MAAS maas.test does not accept spec.subnets "10.99.0.0/24, space:dmz" (No matching subnets found): correct it in a new MaasMachineTemplate`},
		"something else that MAAS does not accept": {o.toAllocateAny(), said(maas.KindInvalid, 400, "agent_name: too long"), "ClaimRefused", scarce,
			"MAAS maas.test refuses to allocate machines (agent_name: too long): correct what the spec asks for in a new MaasMachineTemplate"},
		"forbidden, without a word": {o.toAllocateAny(), silent(maas.KindForbidden, 403, ""), "ClaimRefused", scarce,
			`MAAS maas.test does not let the API key's user "capi" allocate machines: give it the right in MAAS`},
		"forbidden, with words": {o.toRelease(o.machine), said(maas.KindForbidden, 403, "no"), "ReleaseFailed", scarce,
			`MAAS maas.test does not let the API key's user "capi" release machine m1 (aaaaa1) (no): look in MAAS who owns it and whether it is locked; if another user owns it, leave it alone`},
		"refused after the disks were not erased": {erasing.toRelease(erasing.machine), said(maas.KindConflict, 409, "no"), "ReleaseFailed", scarce,
			"MAAS maas.test refuses to release machine m1 (aaaaa1) (no): erasing its disks failed: mark it broken in MAAS, or release it there without erasing; either way its old data is still on the disks"},
	} {
		w := o.waitAfter(test.err, test.request)
		got := w.reason
		if w.unknown {
			got += " Unknown"
		}
		if got != test.want || w.after != test.after || w.condition != test.request.condition || w.message != test.message {
			t.Errorf("%s\ngot  %s %s %s\n     %s\nwant %s %s %s\n     %s", name, w.condition, got, w.after, w.message,
				test.request.condition, test.want, test.after, test.message)
		}
	}
}

func TestWhoIsAway(t *testing.T) {
	t.Parallel()
	o := nothingYet()
	for err, want := range map[error]string{
		maas.ErrUnauthorized: infrav1.MAASKeyRefusedReason,
		maas.ErrForbidden:    infrav1.MAASKeyLacksRightsReason,
		maas.ErrNotMAAS:      infrav1.NotMAASReason,
		context.Canceled:     infrav1.MAASUnreachableReason,
	} {
		if reason, message := o.away(err); reason != want || message == "" {
			t.Errorf("%v: %s: %s", err, reason, message)
		}
	}
	_, message := o.away(errors.New("list the control plane's MaasMachines: refused"))
	if want := "MAAS maas.test was not asked (list the control plane's MaasMachines: refused): CAPMAAS tries again by itself"; message != want {
		t.Errorf("got  %s\nwant %s", message, want)
	}
}
