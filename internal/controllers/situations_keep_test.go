package controllers_test

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// keepSituations: a machine ran, and something happened to it.
func keepSituations() []situation {
	return []situation{
		{
			name:    "An operator released the machine in MAAS while it ran",
			wrong:   ran(func(w *world, id string) error { return w.region.OperatorRelease(id) }),
			shows:   "MachineAllocated=False MachineNotOurs",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com was released by somebody (it is in state Ready, without an owner): delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineLost",
			do:      "Delete the Machine to get another; a MachineHealthCheck does so by itself. To give machines back, scale down instead.",
		},
		{
			name:    "The machine was deleted from MAAS while it ran",
			after:   15 * time.Minute,
			wrong:   ran(func(w *world, id string) error { return w.region.OperatorDelete(id) }),
			shows:   "MachineAllocated=False MachineNotFound",
			message: "MAAS maas.example.com has no machine node1 (aaaaa1) any more: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineLost",
			do:      "Delete the Machine to get another; a MachineHealthCheck does so by itself. MAAS tells nobody of it, so that it is seen minutes later.",
		},
		{
			name: "Somebody else got the machine after an operator released it",
			wrong: ran(func(w *world, id string) error {
				return w.given(id, otherUser)
			}),
			shows:   "MachineAllocated=False MachineNotOurs",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com belongs to user \"alice\" now, and is left alone: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineLost",
			do:      "Delete the Machine to get another. The machine is not touched: it is the other user's.",
		},
		{
			name: "Another program with our user's key took the machine after an operator released it",
			wrong: ran(func(w *world, id string) error {
				return w.given(id, ourUser)
			}),
			shows:   "MachineAllocated=False MachineNotOurs",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com was released, and another program with the key of user \"capmaas\" has it now; it is left alone: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineLost",
			do:      "Delete the Machine to get another. Give each program that uses MAAS a user of its own.",
		},
		{
			name: "CAPMAAS was given the API key of another user of MAAS",
			wrong: func(w *world) {
				w.runs(worker)
				w.startsWith(secondKey)
			},
			shows:   "MachineAllocated=False MachineOfAnotherUser",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com belongs to user \"capmaas\", but the API key is one of user \"capmaas-2\": put a key of user \"capmaas\" into MAAS_API_KEY, and restart the manager; do not release the machine",
			event:   "MachineUnusable",
			do:      "Put a key of the user that owns the machines into `MAAS_API_KEY`, and restart the manager. All machines of that user show this: do not release them.",
			mend:    func(w *world) { w.startsWith(ourKey) },
		},
		{
			name: "CAPMAAS was pointed at another MAAS",
			wrong: func(w *world) {
				w.runs(worker)
				w.pointsAtOther()
			},
			shows:   "MachineAllocated=False MachineInAnotherMAAS",
			message: "machine node1 (aaaaa1) was allocated in MAAS maas.example.com, and MAAS other.example.com has no machine of this claim: point MAAS_ENDPOINT to MAAS maas.example.com; if both are the same MAAS, set annotation infrastructure.cluster.x-k8s.io/maas-host=other.example.com",
			event:   "MachineUnusable",
			do:      "Point `MAAS_ENDPOINT` back to the MAAS that has the machine, and restart the manager: nothing is given up until then, and nothing is claimed in its place. If it is the same MAAS under another name, and the machine was released or deleted there meanwhile, set the annotation; all machines that are still there are found under the new name by themselves.",
			mend:    (*world).pointsBack,
		},
		{
			name:    "An operator marked the running machine broken",
			wrong:   ran(func(w *world, id string) error { return w.marksBroken(id, "the fan is broken") }),
			shows:   "MachineDeployed=False MachineLeftDeployed",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is marked broken (MAAS says: the fan is broken): mark it fixed in MAAS, or delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineUnusable",
			do:      "Delete the Machine to get another, or mark the machine fixed in MAAS. A MachineHealthCheck deletes the Machine by itself.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "An operator has the running machine in rescue mode",
			wrong:   ran(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusRescueMode) }),
			shows:   "MachineDeployed=False MachineLeftDeployed",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Rescue mode (an operator has it in rescue mode): exit rescue mode in MAAS; if you want another machine, delete Machine prod-md-0 in Kubernetes after that",
			event:   "MachineUnusable",
			do:      "Exit rescue mode in MAAS. To get another machine, delete the Machine after that: while it is in rescue mode, MAAS does not release it.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:    "An operator has the running machine tested",
			wrong:   ran(func(w *world, id string) error { return w.region.SetStatus(id, simulator.StatusTesting) }),
			shows:   "MachineDeployed=False MachineLeftDeployed",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Testing (an operator has it tested): wait for the end of the test, or abort it in MAAS; if you want another machine, delete Machine prod-md-0 in Kubernetes after that",
			event:   "MachineUnusable",
			do:      "Wait for the end of the tests, or abort them in MAAS. To get another machine, delete the Machine after that: while it is tested, MAAS does not release it.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed)) },
		},
		{
			name:         "MAAS sees the machine off, for less than five minutes yet",
			wrong:        ran(func(w *world, id string) error { return w.sees(id, "off") }),
			shows:        "PoweredOn=Unknown PoweredOff",
			message:      "MAAS maas.example.com reports machine node1 (aaaaa1) as off, which is often late: CAPMAAS switches it on if it stays off for 5 minutes",
			ready:        "Unknown PoweredOff",
			readyMessage: "MAAS maas.example.com reports machine node1 (aaaaa1) as off, which is often late: CAPMAAS switches it on if it stays off for 5 minutes",
			passes:       true,
			do:           "Nothing yet: what MAAS sees of the power lags. If it stays off for five minutes, the machine is switched on.",
			mend:         func(w *world) { w.must(w.sees("aaaaa1", "on")) },
		},
		{
			name: "The machine is off, and MAAS cannot switch it on",
			wrong: ran(func(w *world, id string) error {
				w.answers("power_on", 500, "Failed talking to node's BMC: IPMI authentication failed")
				return w.sees(id, "off")
			}),
			after:   10 * time.Minute,
			shows:   "PoweredOn=False PoweredOff",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is off and could not be switched on (Failed talking to node's BMC: IPMI authentication failed): check its power settings in MAAS, and its BMC, or switch it on by hand",
			event:   "PoweredOff",
			do:      "Check the machine's power settings in MAAS, and its BMC. Or switch the machine on by hand, or delete the Machine to get another.",
			mend:    (*world).heals,
		},
		{
			name: "The machine is off and locked",
			wrong: ran(func(w *world, id string) error {
				return errors.Join(w.region.Lock(id, true), w.sees(id, "off"))
			}),
			after:   10 * time.Minute,
			shows:   "PoweredOn=False PoweredOff",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is off and locked, so CAPMAAS cannot switch it on: unlock it in MAAS, or switch it on by hand",
			event:   "PoweredOff",
			do:      "Unlock the machine in MAAS, and it is switched on; or switch it on by hand.",
			mend:    func(w *world) { w.must(w.region.Lock("aaaaa1", false)) },
		},
		{
			name: "A machine that was deployed to memory is off",
			wrong: func(w *world) {
				w.runs(worker, func(m *infrav1.MaasMachine) { m.Spec.DeployInMemory = true })
				w.must(w.sees(w.inMAAS(worker).SystemID, "off"))
			},
			after:   10 * time.Minute,
			shows:   "PoweredOn=False PoweredOff",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is off, and was deployed to memory, which is lost: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "PoweredOff",
			do:      "Delete the Machine to get another: what ran in memory is lost.",
		},
		{
			name:         "MAAS cannot tell whether the machine is on",
			wrong:        ran(func(w *world, id string) error { return w.sees(id, "error") }),
			shows:        "PoweredOn=Unknown PowerUnknown",
			message:      "MAAS maas.example.com cannot tell whether machine node1 (aaaaa1) is on: check its power settings there, unless its power type is manual",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Check the machine's power settings in MAAS. A machine whose power type is manual shows this all its life, which does no harm.",
			mend:         func(w *world) { w.must(w.sees("aaaaa1", "on")) },
		},
		{
			name: "MAAS is away while the machine runs",
			wrong: func(w *world) {
				w.runs(worker)
				w.network.breaks()
			},
			on:      cluster,
			shows:   "MAASAvailable=False MAASUnreachable",
			message: "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			ready:   saysSo,
			event:   "MAASUnavailable",
			do:      "Bring MAAS back, or the network to it. The cluster runs on; meanwhile no machine is claimed or released.",
			mend:    (*world).heals,
		},
	}
}

// joinSituations: a machine is deployed, and its Node or its control plane does not come to be.
func joinSituations() []situation {
	return []situation{
		{
			name:         "No Node registers",
			wrong:        func(w *world) { w.initialised(); w.runs(worker) },
			shows:        "NodeProviderIDSet=False WaitingForNode",
			message:      "machine node1 (aaaaa1) has not joined the cluster yet: if it stays so, look at cloud-init and kubelet on it, and whether it reaches the control plane's endpoint",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Look at cloud-init and the kubelet on the machine, and whether it reaches the control plane's endpoint.",
			mend:         func(w *world) { w.node("node1", "", w.inMAAS(worker).Addresses...) },
		},
		{
			name: "The Node has another provider ID",
			wrong: func(w *world) {
				w.initialised()
				w.runs(worker)
				w.node("node1", "openstack:///4711", w.inMAAS(worker).Addresses...)
			},
			shows:        "NodeProviderIDSet=False NodeProviderIDConflict",
			message:      "Node node1 has provider ID openstack:///4711, which cannot be changed: remove what sets it (a kubelet argument, a cloud controller); then drain and delete the Node in the workload cluster and restart the kubelet on it",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			event:        "NodeProviderIDConflict",
			do:           "Something else sets it, such as a kubelet argument `provider-id` or a cloud controller: remove that. Then drain and delete the Node in the workload cluster, and restart the kubelet on the machine, which registers it anew.",
		},
		{
			name: "Two Nodes have the machine's address",
			wrong: func(w *world) {
				w.initialised()
				w.runs(worker)
				w.node("one", "", w.inMAAS(worker).Addresses...)
				w.node("two", "", w.inMAAS(worker).Addresses...)
			},
			shows:        "NodeProviderIDSet=False WaitingForNode",
			message:      "several Nodes (one, two) have an address, the system UUID or the name of machine node1 (aaaaa1): compare their system UUID and addresses with MAAS, and delete in the workload cluster those that no machine runs as",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Compare the system UUID and the addresses of each Node with those of the machines in MAAS, and delete in the workload cluster those that no machine runs as.",
			mend: func(w *world) {
				w.must(w.workload.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "two"}}))
			},
		},
		{
			name:         "The workload cluster cannot be reached",
			wrong:        func(w *world) { w.runs(worker) },
			shows:        "NodeProviderIDSet=Unknown WorkloadClusterUnreachable",
			message:      "the management cluster cannot reach workload cluster prod: look at APIServerAvailable of MaasCluster prod",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Look at the MaasCluster's `APIServerAvailable`, and whether the management cluster reaches the control plane's endpoint.",
			mend: func(w *world) {
				w.initialised()
				w.node("node1", "", w.inMAAS(worker).Addresses...)
			},
		},
		{
			name: "The API server of a further control-plane machine does not come up",
			wrong: func(w *world) {
				w.stands()
				w.initialised()
				w.runs(controller)
			},
			on:           controller,
			shows:        "DNSAttached=False DNSAttachPending",
			message:      "waiting for the API server on machine node1 (aaaaa1): if it stays so, look at cloud-init and kubelet there, and at APIServerPodHealthy of Machine prod-cp-0",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Look at cloud-init and the kubelet on the machine, and at the Machine's condition `APIServerPodHealthy`.",
		},
		{
			name: "A control-plane machine has no address in the subnet that was chosen",
			wrong: func(w *world) {
				w.runs(controller, func(m *infrav1.MaasMachine) { m.Spec.AddressFrom.Subnet = "10.99.0.0/24" })
			},
			on:           controller,
			shows:        "DNSAttached=False DNSAttachPending",
			message:      "machine node1 (aaaaa1) in MAAS maas.example.com has no address in subnet 10.99.0.0/24, as spec.addressFrom asks: correct addressFrom in a new MaasMachineTemplate, or connect machines so in MAAS and roll them out anew",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Correct `addressFrom` in a new MaasMachineTemplate, or connect machines to that subnet in MAAS, and roll the machines out anew: MAAS does not change the network of a machine that is deployed.",
		},
		{
			name: "MAAS refuses to put the machine's address into the control plane's DNS record",
			wrong: func(w *world) {
				w.stands()
				w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
					if r.Method == "PUT" {
						return simulator.Fault{Status: 403}
					}
					return simulator.Fault{}
				})
				w.runs(controller)
			},
			on:           controller,
			shows:        "DNSAttached=False DNSAttachPending",
			message:      "MAAS maas.example.com does not let the API key's user write the DNS record prod-abc123.maas: make that user an administrator in MAAS",
			ready:        "True Ready",
			readyMessage: "machine node1 (aaaaa1) in MAAS maas.example.com",
			do:           "Make the API key's user an administrator in MAAS: only they may write DNS records. Do not switch to another user's key: machines stay with the user that claimed them.",
			mend:         (*world).heals,
		},
	}
}

// ran lets a machine run, and then something happen to it.
func ran(then func(w *world, systemID string) error) func(*world) {
	return func(w *world) {
		w.runs(worker)
		w.must(then(w, w.inMAAS(worker).SystemID))
	}
}

// sees lets MAAS see a power state, and the manager start. MAAS 3.2 and newer log nothing of it, so that one that runs sees it only
// when the machine's turn comes, after seven to thirteen minutes.
func (w *world) sees(systemID, state string) error {
	w.starts()
	return w.region.SetPower(systemID, state)
}

// given lets an operator release a machine, and somebody get it and deploy it.
func (w *world) given(systemID, user string) error {
	err := w.region.OperatorRelease(systemID)
	w.clock.Advance(time.Minute)
	return errors.Join(err, w.region.SetOwner(systemID, user), w.region.SetStatus(systemID, simulator.StatusDeployed))
}
