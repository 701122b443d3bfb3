package controllers_test

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// releaseSituations: an object is deleted, and its machine cannot be given back.
func releaseSituations() []situation {
	return []situation{
		{
			name: "The MaasMachine was deleted without its Machine",
			wrong: func(w *world) {
				w.runs(worker)
				w.deleteOnly(worker)
			},
			shows:   "Deleting=True HeldUntilConfirmed",
			message: "this object was deleted, but Machine prod-md-0 was not: delete that instead; or, to release the machine and all on it, annotate this MaasMachine with infrastructure.cluster.x-k8s.io/maas-confirm-delete=yes",
			event:   "Held",
			do:      "Delete the Machine. If the MaasMachine alone is really to go, and the machine with all on it to be released, confirm with the annotation `infrastructure.cluster.x-k8s.io/maas-confirm-delete` on the MaasMachine, whatever its value.",
			mend:    func(w *world) { w.deleteOwner(worker) },
		},
		{
			name: "The Cluster and its Machine are paused, and the Machine is deleted",
			wrong: deleted(func(w *world, _ string) error {
				edit(w, &clusterv1.Cluster{}, cluster, func(c *clusterv1.Cluster) { yes := true; c.Spec.Paused = &yes })
				return nil
			}),
			shows:        "Paused=True Paused",
			message:      "Cluster spec.paused is set to true",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "First find out why it is paused: `clusterctl move` pauses a Cluster, and one that was moved away stays paused here. Else set `spec.paused` of the Cluster to false, or remove the annotation `cluster.x-k8s.io/paused`.",
			mend: func(w *world) {
				edit(w, &clusterv1.Cluster{}, cluster, func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
			},
		},
		{
			name:    "An operator locked the machine, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.Lock(id, true) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is locked, and MAAS refuses to release it: unlock it in MAAS",
			event:   "ReleaseFailed",
			do:      "Unlock the machine in MAAS. The release then goes on.",
			mend:    func(w *world) { w.must(w.region.Lock("aaaaa1", false)) },
		},
		{
			name:    "An operator has the machine in rescue mode, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusRescueMode) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Rescue mode (an operator has it in rescue mode), and cannot be released: exit rescue mode in MAAS",
			event:   "ReleaseFailed",
			do:      "Exit rescue mode in MAAS. The release then goes on.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "An operator has the machine tested, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusTesting) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Testing (an operator has it tested), and cannot be released: wait for the end of the test, or abort it in MAAS",
			event:   "ReleaseFailed",
			do:      "Wait for the end of the tests, or abort them in MAAS. The release then goes on.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "The machine failed a hardware test, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusFailedTesting) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Failed testing (it failed a hardware test), and cannot be released: override the failed test in MAAS, or mark it broken",
			event:   "ReleaseFailed",
			do:      "Override the failed test in MAAS, or mark the machine broken. The release then goes on.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "The machine was marked broken but still runs, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusBroken) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is marked broken and was given back with that, but is still on: switch it off in MAAS; nothing else is needed",
			event:   "ReleaseFailed",
			do:      "Switch the machine off in MAAS. It was given back when it was marked broken, so nothing else is needed.",
			mend:    func(w *world) { w.must(w.sees("aaaaa1", "off")) },
		},
		{
			name:    "MAAS cannot find the hardware any more, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusMissing) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Missing (MAAS cannot find the hardware), and cannot be released: commission it again in MAAS, or delete it there",
			event:   "ReleaseFailed",
			do:      "Commission the machine again, or delete it from MAAS.",
			mend:    func(w *world) { w.must(w.region.OperatorDelete("aaaaa1")) },
		},
		{
			name:    "MAAS is away when a Machine is deleted",
			wrong:   deleted(func(w *world, _ string) error { w.network.breaks(); return nil }),
			shows:   "Deleting=True MAASUnreachable",
			message: "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			},
			passes: true,
			do:     "Bring MAAS back, or the network to it. The release goes on by itself.",
			mend:   (*world).heals,
		},
		{
			name: "The API key was revoked, and now a Machine is deleted",
			wrong: deleted(func(w *world, _ string) error {
				w.revoked()
				return nil
			}),
			shows:   "Deleting=True MAASKeyRefused",
			message: "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			},
			do:   "Make a key in MAAS for the same user, put it into `MAAS_API_KEY`, and restart the manager. The release then goes on.",
			mend: (*world).heals,
		},
		{
			name:    "MAAS does not allow our user to release the machine",
			wrong:   deleted(func(w *world, _ string) error { w.answers("release", 403, ""); return nil }),
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com does not let the API key's user \"capmaas\" release machine node1 (aaaaa1): look in MAAS who owns it and whether it is locked; if another user owns it, leave it alone",
			event:   "ReleaseFailed",
			do:      "Look at the machine in MAAS: who owns it, and whether it is locked. If another user owns it, leave it alone; if not, give the API key's user the right to release it.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS cannot switch the machine off to release it",
			wrong: deleted(func(w *world, _ string) error {
				w.answers("release", 500, "Power action failed: IPMI authentication failed")
				return nil
			}),
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com could not release machine node1 (aaaaa1) (Power action failed: IPMI authentication failed): check its power settings in MAAS, and its BMC; CAPMAAS tries again by itself",
			event:   "ReleaseFailed",
			do:      "Check the machine's power settings in MAAS, and its BMC. It is tried again by itself. For hardware beyond hope there is the annotation `infrastructure.cluster.x-k8s.io/maas-abandon` on the MaasMachine, with the reason as its value.",
			mend:    (*world).heals,
		},
		{
			name: "Erasing the machine's disks failed, and MAAS refuses to try again",
			wrong: deleted(func(w *world, id string) error {
				erases(infrav1.EraseSecure)(w)
				w.answers("release", 409, "Machine cannot be released in its current state ('Failed disk erasing').")
				return w.region.SetStatus(id, simulator.StatusFailedDiskErasing)
			}),
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com refuses to release machine node1 (aaaaa1) (Machine cannot be released in its current state ('Failed disk erasing')): erasing its disks failed: mark it broken in MAAS, or release it there without erasing; either way its old data is still on the disks",
			event:   "ReleaseFailed",
			do:      "Mark the machine broken in MAAS, or release it there without erasing. Either way its old data is still on the disks.",
			mend:    (*world).heals,
		},
		{
			name:    "CAPMAAS has the API key of another user of MAAS when a Machine is deleted",
			wrong:   deleted(func(w *world, _ string) error { w.startsWith(secondKey); return nil }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com belongs to user \"capmaas\", but the API key is one of user \"capmaas-2\": put a key of user \"capmaas\" into MAAS_API_KEY, and restart the manager; the release goes on then",
			event:   "ReleaseFailed",
			do:      "Put a key of the user that owns the machines into `MAAS_API_KEY`, and restart the manager. The release then goes on.",
			mend:    func(w *world) { w.startsWith(ourKey) },
		},
		{
			name: "The MaasMachine names a machine that CAPMAAS never claimed",
			wrong: func(w *world) {
				w.must(errors.Join(w.region.SetStatus("aaaaa3", simulator.StatusDeployed), w.region.SetOwner("aaaaa3", ourUser)))
				w.add(worker, func(m *infrav1.MaasMachine) {
					m.Spec.SystemID, m.Spec.ProviderID = "aaaaa3", "maas:///rack1/aaaaa3"
				})
				w.look()
				w.delete(worker)
			},
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node3 (aaaaa3) in MAAS maas.example.com was never allocated for this MaasMachine, so it is left alone: annotate this MaasMachine with infrastructure.cluster.x-k8s.io/maas-abandon=<reason>; release the machine in MAAS only if nobody uses it",
			event:   "ReleaseFailed",
			do:      "Let go of it with the annotation `infrastructure.cluster.x-k8s.io/maas-abandon` on the MaasMachine, with the reason as its value. Release the machine in MAAS only if nobody uses it: look there who owns it.",
			mend: func(w *world) {
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) {
					metav1.SetMetaDataAnnotation(&m.ObjectMeta, infrav1.AbandonAnnotation, "released by hand")
				})
			},
		},
		{
			name: "The MaasMachine's provider ID was edited, and now its Machine is deleted",
			wrong: deleted(func(w *world, _ string) error {
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/zzzzz9" })
				return nil
			}),
			shows:   "Deleting=True ReleaseBlocked",
			message: "spec.systemID names machine aaaaa1, and spec.providerID machine zzzzz9: set spec.providerID back to maas:///<zone>/aaaaa1, and the release goes on; or release aaaaa1 (not zzzzz9) in MAAS, and set annotation infrastructure.cluster.x-k8s.io/maas-abandon=<reason>",
			event:   "ReleaseFailed",
			do:      "Set `spec.providerID` back to the machine that `spec.systemID` names. The release then goes on.",
			mend: func(w *world) {
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/aaaaa1" })
			},
		},
		{
			name: "The machine's address cannot be taken out of the control plane's DNS record",
			wrong: func(w *world) {
				w.runs(controller)
				w.until(func() bool {
					shows, _ := w.condition(controller, "DNSAttached")
					return shows == "DNSAttached=True DNSAttached"
				})
				w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
					if r.Method == "PUT" {
						return simulator.Fault{Status: 403}
					}
					return simulator.Fault{}
				})
				w.delete(controller)
			},
			on:      controller,
			shows:   "Deleting=True LeavingDNS",
			message: "MAAS maas.example.com does not let the API key's user write the DNS record prod-abc123.maas: make that user an administrator in MAAS; the release waits for it",
			event:   "ReleaseFailed",
			do:      "Make the API key's user an administrator in MAAS: only they may write DNS records. Do not switch to another user's key: machines stay with the user that claimed them. The release then goes on.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS did not answer a claim, and then the Machine was deleted",
			wrong: func(w *world) {
				w.answers("allocate", 504, "<html>")
				w.add(worker)
				w.until(func() bool { return w.get(worker).Annotations[infrav1.ClaimAttemptAnnotation] != "" })
				w.delete(worker)
			},
			after:   time.Minute,
			shows:   "Deleting=True ClaimOutcomeUnknown",
			message: "MAAS maas.example.com did not answer when it was asked to allocate machine aaaaa1: waiting some minutes, so that a late answer leaves no machine allocated",
			passes:  true,
			do:      "Wait some minutes: until then, MAAS may still claim a machine for the unanswered request, which would have to be released.",
			mend:    (*world).heals,
		},
	}
}

// deleted lets a machine run, something happen, and its Machine be deleted.
func deleted(then func(w *world, systemID string) error) func(*world) {
	return func(w *world) {
		w.runs(worker)
		w.must(then(w, w.inMAAS(worker).SystemID))
		w.delete(worker)
	}
}
