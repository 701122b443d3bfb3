package controllers_test

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// claimSituations: no machine is claimed.
func claimSituations() []situation {
	return []situation{
		{
			name:    "MAAS has no machine at all that our user may see",
			region:  func(c *simulator.Config) { c.Machines = nil },
			wrong:   adds(worker),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: MAAS maas.example.com shows none to the API key's user \"capmaas\": add machines and commission them, or look at that user's rights",
			event:   "NoMachineAvailable",
			do:      "Add machines to MAAS and commission them. If MAAS has machines, the API key's user may not see them: look at its rights.",
			mend: func(w *world) {
				_, err := w.region.AddMachine(simulator.Machine{Hostname: "node1"})
				w.must(err)
			},
		},
		{
			name: "The pool has machines, but all of them are deployed",
			region: func(c *simulator.Config) {
				deployed := simulator.StatusDeployed
				c.Machines[0].Status, c.Machines[1].Status = &deployed, &deployed
			},
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.ResourcePool = "workers" }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 2 in pool \"workers\", none of these is Ready (2 Deployed): add machines to MAAS, wait until some are released, or ask for less",
			event:   "NoMachineAvailable",
			do:      "Wait until some are released, add machines to the pool in MAAS, or ask for another pool in a new MaasMachineTemplate. Do not release machines in MAAS that are deployed: they are nodes of clusters. To give some back, scale a cluster down.",
			mend:    func(w *world) { w.must(w.region.OperatorRelease("aaaaa2")) },
		},
		{
			name:    "The pool is empty",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.ResourcePool = "spare" }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines is in pool \"spare\": put machines into it, or correct spec.resourcePool in a new MaasMachineTemplate; ZonesAndPoolsFound of the MaasCluster says whether the pool exists",
			event:   "NoMachineAvailable",
			do:      "Put machines into the pool in MAAS, or ask for another one in a new MaasMachineTemplate. Whether the pool exists is told by `ZonesAndPoolsFound` of the MaasCluster.",
		},
		{
			name:    "The pool's name is misspelled",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.ResourcePool = "wrokers" }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines is in pool \"wrokers\": put machines into it, or correct spec.resourcePool in a new MaasMachineTemplate; ZonesAndPoolsFound of the MaasCluster says whether the pool exists",
			event:   "NoMachineAvailable",
			others: []string{
				"prod CheckFailed: MAAS maas.example.com has no resource pool \"wrokers\", which spec.resourcePool of MaasMachine default/prod-md-0 asks for: make it in MAAS, or name another one in a new MaasMachineTemplate",
			},
			do: "Correct the name in a new MaasMachineTemplate, or make the pool in MAAS. `ZonesAndPoolsFound` of the MaasCluster says that MAAS has no such pool.",
		},
		{
			name: "No machine has the tag",
			wrong: adds(worker, func(m *infrav1.MaasMachine) {
				m.Spec.ResourcePool, m.Spec.Tags = "workers", []string{"ssd", "gpu"}
			}),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 2 in pool \"workers\", 1 of them has tag \"ssd\", this one does not have tag \"gpu\": give the tag to a machine, or drop it in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Give a machine of those that are left the tag in MAAS, or ask without it in a new MaasMachineTemplate.",
		},
		{
			name: "Every machine has a tag that is not wanted",
			region: func(c *simulator.Config) {
				for i := range c.Machines {
					c.Machines[i].Tags = []string{"old"}
				}
			},
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.NotTags = []string{"old"} }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: all 3 machines have tag \"old\", which spec.notTags excludes (node1, node2, node3): remove the tag from one, or drop it in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Take the tag off a machine in MAAS, or drop it from `notTags` in a new MaasMachineTemplate.",
		},
		{
			name: "The Machine's failure domain is a zone without machines",
			wrong: func(w *world) {
				w.add(worker)
				edit(w, &clusterv1.Machine{}, worker, func(m *clusterv1.Machine) { m.Spec.FailureDomain = "rack2" })
			},
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines is in zone \"rack2\": put machines into it in MAAS, or change failureDomain in the MachineDeployment or failureDomains in the MaasCluster",
			event:   "NoMachineAvailable",
			do:      "Put machines into the zone in MAAS, or name another one: `failureDomain` in the MachineDeployment, or `failureDomains` in the MaasCluster, from which a control plane takes its zones.",
		},
		{
			name:    "No machine has enough cores",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.MinCPU = 64 }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines has 64 cores or more (spec.minCPU): add larger machines, or ask for less in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Ask for fewer in a new MaasMachineTemplate, or add larger machines to MAAS.",
		},
		{
			name:    "No machine has enough memory",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.MinMemory = 65536 }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines has 65536 MiB of memory or more (spec.minMemory): add larger machines, or ask for less in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Ask for less in a new MaasMachineTemplate, or add larger machines to MAAS.",
		},
		{
			name:    "No machine has a disk that is large enough",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.MinDiskSize = 2000 }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines has a boot disk of 2000 GB or more (spec.minDiskSize): add larger machines, or ask for less in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Ask for less in a new MaasMachineTemplate. Only the disk that the machine boots from counts.",
		},
		{
			name: "No machine has the architecture",
			region: func(c *simulator.Config) {
				c.Images = append(c.Images, simulator.Image{Name: "custom/u-2404", Architecture: "arm64"})
			},
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.Architecture = "arm64" }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines is of architecture \"arm64\": add such machines, or correct spec.architecture in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Correct the architecture in a new MaasMachineTemplate, or add such machines to MAAS.",
		},
		{
			name:    "Nothing satisfies the storage that is asked for",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.Storage = "root:900(nvme)" }),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 3 machines are Ready, none of these has storage \"root:900(nvme)\": add such machines, or ask for less in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Ask for less in `storage` of a new MaasMachineTemplate. MAAS's documentation of allocate tells its syntax.",
		},
		{
			name:    "The storage that is asked for is not in MAAS's syntax",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.Storage = "100GB" }),
			shows:   "MachineAllocated=False ClaimRefused",
			message: "MAAS maas.example.com does not accept spec.storage \"100GB\" (Malformed storage constraint, \"100GB\"): correct it in a new MaasMachineTemplate",
			event:   "ClaimRefused",
			do:      "Correct storage in a new MaasMachineTemplate: `root:100(ssd)` asks for a disk of 100 GB with the tag `ssd` to boot from.",
		},
		{
			name:    "A subnet that is asked for does not exist",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.Subnets = []string{"10.99.0.0/24"} }),
			shows:   "MachineAllocated=False ClaimRefused",
			message: "MAAS maas.example.com does not accept spec.subnets \"10.99.0.0/24\" (No matching subnets found): correct it in a new MaasMachineTemplate",
			event:   "ClaimRefused",
			do:      "Correct subnets in a new MaasMachineTemplate: names or CIDRs as MAAS has them, or `space:dmz`.",
		},
		{
			name: "All machines that are Ready are locked",
			wrong: func(w *world) {
				for _, id := range []string{"aaaaa1", "aaaaa2", "aaaaa3"} {
					w.must(w.region.Lock(id, true))
				}
				w.add(worker)
			},
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 3 machines are Ready, all of these are locked (node1, node2, node3): unlock one in MAAS",
			event:   "NoMachineAvailable",
			do:      "Unlock a machine in MAAS.",
		},
		{
			name: "Another MaasMachine got the only machine that fits",
			wrong: func(w *world) {
				ssd := func(m *infrav1.MaasMachine) { m.Spec.Tags = []string{"ssd"} }
				w.runs(controller, ssd)
				w.add(worker, ssd)
			},
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 1 of 3 machines has tag \"ssd\", this one is not Ready (Deployed): add machines to MAAS, wait until some are released, or ask for less",
			event:   "NoMachineAvailable",
			do:      "Give another machine the tag in MAAS, or make fewer replicas.",
		},
		{
			name: "MAAS is too busy with other changes to claim a machine",
			wrong: func(w *world) {
				w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
					if r.Op == "allocate" {
						return simulator.Fault{Status: 409, ContentType: "text/html", Body: "<h1>Conflict</h1>"}
					}
					return simulator.Fault{}
				})
				w.add(worker)
			},
			shows:   "MachineAllocated=False Claiming",
			message: "MAAS maas.example.com was too busy with other changes to allocate machine aaaaa1: CAPMAAS tries again by itself",
			passes:  true,
			do:      "Wait: it is tried again. If it stays so for long, look at what else changes machines in MAAS.",
			mend:    (*world).heals,
		},
		{
			name: "Somebody else is always quicker to take the machines",
			wrong: func(w *world) {
				w.answers("allocate", 409, "No available machine matches constraints: [('system_id', ['aaaaa1'])] (resolved to \"system_id=aaaaa1\")")
				w.add(worker)
			},
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 3 machines are Ready, all of these were taken by others first (node1, node2, node3): CAPMAAS tries again by itself",
			event:   "NoMachineAvailable",
			passes:  true,
			do:      "Wait: it is tried again every half minute. Look in MAAS at who takes the machines.",
			mend:    (*world).heals,
		},
		{
			name: "The API key's user may not allocate machines",
			wrong: func(w *world) {
				w.answers("allocate", 403, "")
				w.add(worker)
			},
			shows:   "MachineAllocated=False ClaimRefused",
			message: "MAAS maas.example.com does not let the API key's user \"capmaas\" allocate machines: give it the right in MAAS",
			event:   "ClaimRefused",
			do:      "Give the API key's user the right in MAAS. While no machine is allocated, the key of a user who has it does as well.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS fails at every claim",
			wrong: func(w *world) {
				w.answers("allocate", 500, "Internal server error")
				w.add(worker)
			},
			shows:   "MachineAllocated=False ClaimRefused",
			message: "MAAS maas.example.com could not allocate machine aaaaa1 (Internal server error): look into MAAS's own log; CAPMAAS tries again by itself",
			event:   "ClaimRefused",
			do:      "Look into MAAS's own log. The same machine is asked for until MAAS answers, and none is lost if one of the requests took effect.",
			mend:    (*world).heals,
		},
	}
}

// answers makes MAAS refuse every call of an operation.
func (w *world) answers(op string, status int, body string) {
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == op && r.Method == "POST" {
			return simulator.Fault{Status: status, Body: body}
		}
		return simulator.Fault{}
	})
}
