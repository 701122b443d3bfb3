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
			message: "this object was deleted, but its Machine prod-md-0 was not: delete the Machine instead, or confirm with annotation infrastructure.cluster.x-k8s.io/maas-confirm-delete",
			event:   "Held",
			do:      "Delete the Machine. If the MaasMachine alone is really to go, confirm with the annotation `infrastructure.cluster.x-k8s.io/maas-confirm-delete`.",
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
			do:           "Unpause the Cluster: `clusterctl move` pauses it, and so may somebody by hand.",
			mend: func(w *world) {
				edit(w, &clusterv1.Cluster{}, cluster, func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
			},
		},
		{
			name:    "An operator locked the machine, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.Lock(id, true) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is locked, and MAAS refuses to release it: unlock it",
			event:   "ReleaseFailed",
			do:      "Unlock the machine in MAAS. The release then goes on.",
			mend:    func(w *world) { w.must(w.region.Lock("aaaaa1", false)) },
		},
		{
			name:    "An operator has the machine in rescue mode, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusRescueMode) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is Rescue mode: an operator has it in rescue mode, and cannot be released: exit rescue mode",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Rescue mode: an operator has it in rescue mode",
			others: []string{
				"prod-md-0 ReleaseFailed: machine node1 (aaaaa1) in MAAS maas.example.com is Rescue mode: an operator has it in rescue mode, and cannot be released: exit rescue mode",
			},
			do:   "Exit rescue mode in MAAS. The release then goes on.",
			mend: func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "An operator has the machine tested, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusTesting) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is Testing: an operator has it tested, and cannot be released: wait for the end of the test, or abort it",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Testing: an operator has it tested",
			others: []string{
				"prod-md-0 ReleaseFailed: machine node1 (aaaaa1) in MAAS maas.example.com is Testing: an operator has it tested, and cannot be released: wait for the end of the test, or abort it",
			},
			do:   "Wait for the end of the tests, or abort them in MAAS. The release then goes on.",
			mend: func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "The machine failed a hardware test, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusFailedTesting) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is Failed testing: it failed a hardware test, and cannot be released: override the failed test, or mark it broken",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Failed testing: it failed a hardware test",
			others: []string{
				"prod-md-0 ReleaseFailed: machine node1 (aaaaa1) in MAAS maas.example.com is Failed testing: it failed a hardware test, and cannot be released: override the failed test, or mark it broken",
			},
			do:   "Override the failed test in MAAS, or mark the machine broken. The release then goes on.",
			mend: func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "The machine was marked broken but still runs, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusBroken) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is Broken: it was marked broken (MAAS says: Deployed), and cannot be released: switch it off",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Broken: it was marked broken (MAAS says: Deployed)",
			others: []string{
				"prod-md-0 ReleaseFailed: machine node1 (aaaaa1) in MAAS maas.example.com is Broken: it was marked broken (MAAS says: Deployed), and cannot be released: switch it off",
			},
			do:   "Switch the machine off in MAAS. It was given back when it was marked broken, so nothing else is needed.",
			mend: func(w *world) { w.must(w.sees("aaaaa1", "off")) },
		},
		{
			name:    "MAAS cannot find the hardware any more, and now its Machine is deleted",
			wrong:   deleted(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusMissing) }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is Missing: MAAS cannot find the hardware, and cannot be released: commission it again, or delete it from MAAS",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Missing: MAAS cannot find the hardware",
			others: []string{
				"prod-md-0 ReleaseFailed: machine node1 (aaaaa1) in MAAS maas.example.com is Missing: MAAS cannot find the hardware, and cannot be released: commission it again, or delete it from MAAS",
			},
			do:   "Commission the machine again, or delete it from MAAS.",
			mend: func(w *world) { w.must(w.region.OperatorDelete("aaaaa1")) },
		},
		{
			name:    "MAAS is away when a Machine is deleted",
			wrong:   deleted(func(w *world, _ string) error { w.network.breaks(); return nil }),
			shows:   "Deleting=True MAASUnreachable",
			message: "MAAS maas.example.com cannot be read: maas: whoami: cannot connect: connection refused",
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
			unclear: true,
			shows:   "Deleting=True MAASKeyRefused",
			message: "MAAS maas.example.com cannot be read: maas: whoami: MAAS does not know this API key (its first part); it may have been deleted",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com refuses our API key: MAAS does not know this API key (its first part); it may have been deleted. Make a key in MAAS, and put it into MAAS_API_KEY",
			},
			do:   "Make a key in MAAS for the same user, and put it into `MAAS_API_KEY`. The release goes on by itself.",
			mend: (*world).heals,
		},
		{
			name:    "MAAS does not allow our user to release the machine",
			wrong:   deleted(func(w *world, _ string) error { w.answers("release", 403, ""); return nil }),
			unclear: true,
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com refuses: maas: release machine: not permitted, no reason given: the user lacks the right, or the machine is locked or another user's",
			event:   "ReleaseFailed",
			do:      "Look at the machine in MAAS: who owns it, and whether it is locked. Release it there by hand if CAPMAAS may not.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS cannot switch the machine off to release it",
			wrong: deleted(func(w *world, _ string) error {
				w.answers("release", 500, "Power action failed: IPMI authentication failed")
				return nil
			}),
			unclear: true,
			shows:   "Deleting=True ReleaseOutcomeUnknown",
			message: "MAAS maas.example.com gave no usable answer, and shows no effect: maas: release machine: Power action failed: IPMI authentication failed (it may have taken effect)",
			do:      "Check the machine's power settings in MAAS, and its BMC. It is tried again by itself. For hardware beyond hope there is the annotation `infrastructure.cluster.x-k8s.io/maas-abandon`, with the reason as its value.",
			mend:    (*world).heals,
		},
		{
			name: "Erasing the machine's disks failed, and MAAS refuses to try again",
			wrong: deleted(func(w *world, id string) error {
				w.answers("release", 409, "Machine cannot be released in its current state ('Failed disk erasing').")
				return w.region.SetStatus(id, simulator.StatusFailedDiskErasing)
			}),
			unclear: true,
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com refuses: maas: release machine: Machine cannot be released in its current state ('Failed disk erasing').",
			event:   "MachineLost",
			note:    "machine node1 (aaaaa1) in MAAS maas.example.com is Failed disk erasing: erasing its disks failed",
			others: []string{
				"prod-md-0 ReleaseFailed: MAAS maas.example.com refuses: maas: release machine: Machine cannot be released in its current state ('Failed disk erasing').",
			},
			do:   "Mark the machine broken in MAAS, or release it there without erasing.",
			mend: (*world).heals,
		},
		{
			name:    "CAPMAAS has the API key of another user of MAAS when a Machine is deleted",
			wrong:   deleted(func(w *world, _ string) error { w.startsWith(secondKey); return nil }),
			shows:   "Deleting=True ReleaseBlocked",
			message: "machine aaaaa1 in MAAS maas.example.com is Deployed and belongs to user \"capmaas\" and carries our claim, but the API key belongs to user \"capmaas-2\": use a key of its owner, or release it in MAAS, or let go of it with annotation infrastructure.cluster.x-k8s.io/maas-abandon",
			event:   "MachineLost",
			note:    "machine aaaaa1 in MAAS maas.example.com is Deployed and belongs to user \"capmaas\" and carries our claim, but the API key belongs to user \"capmaas-2\": use a key of its owner, or release it in MAAS",
			others: []string{
				"prod-md-0 ReleaseFailed: machine aaaaa1 in MAAS maas.example.com is Deployed and belongs to user \"capmaas\" and carries our claim, but the API key belongs to user \"capmaas-2\": use a key of its owner, or release it in MAAS, or let go of it with annotation infrastructure.cluster.x-k8s.io/maas-abandon",
			},
			do:   "Put a key of the user that owns the machines into `MAAS_API_KEY`.",
			mend: func(w *world) { w.startsWith(ourKey) },
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
			message: "machine aaaaa3 in MAAS maas.example.com was not claimed by CAPMAAS, so it is not released: release it there, or let go of it with annotation infrastructure.cluster.x-k8s.io/maas-abandon",
			event:   "MachineLost",
			note:    "machine aaaaa3 in MAAS maas.example.com is not ours",
			others: []string{
				"prod-md-0 ReleaseFailed: machine aaaaa3 in MAAS maas.example.com was not claimed by CAPMAAS, so it is not released: release it there, or let go of it with annotation infrastructure.cluster.x-k8s.io/maas-abandon",
			},
			do: "Release the machine in MAAS if it is not needed, and let go of it with the annotation `infrastructure.cluster.x-k8s.io/maas-abandon`.",
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
			message: "spec.systemID and spec.providerID name different machines: correct it, or release the machine in MAAS and let go of it with annotation infrastructure.cluster.x-k8s.io/maas-abandon",
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
			message: "the address cannot be taken out of the control plane's DNS record, which comes before the release: write the DNS record prod-abc123.maas: maas: update dns resource: not permitted, no reason given: the user lacks the right",
			do:      "Use the API key of an administrator of MAAS: only they may write DNS records. The release then goes on.",
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
			message: "MAAS maas.example.com did not answer a claim of machine aaaaa1: waiting until it can have no effect any more",
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
