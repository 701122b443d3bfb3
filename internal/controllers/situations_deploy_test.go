package controllers_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// deploySituations: a machine is claimed, and the image does not come to run on it.
func deploySituations() []situation {
	return []situation{
		{
			name:    "The image was deleted from MAAS, or never was there",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.Image = "custom/u-2204" }),
			shows:   "MachineAllocated=False ImageNotFound",
			message: "MAAS maas.example.com has no image custom/u-2204, which spec.image of MaasMachine default/prod-md-0 asks for: upload it, or name another one in a new MaasMachineTemplate",
			others: []string{
				"prod CheckFailed: MAAS maas.example.com has no image custom/u-2204, which spec.image of MaasMachine default/prod-md-0 asks for: upload it, or name another one in a new MaasMachineTemplate",
			},
			do: "Upload the image to MAAS, or name one that MAAS has in a new MaasMachineTemplate. No machine is claimed before.",
		},
		{
			name: "MAAS has no addresses left in the machine's subnet",
			region: func(c *simulator.Config) {
				c.Subnets = []simulator.Subnet{{CIDR: "10.30.0.0/29", Gateway: "10.30.0.1", Reserved: []string{"10.30.0.1-10.30.0.6"}}}
			},
			wrong:   adds(worker),
			shows:   "MachineDeployed=False DeployRefused",
			message: "MAAS maas.example.com could not deploy machine node1 (aaaaa1) (No more IPs available in subnet: 10.30.0.0/29): set that right in MAAS, whose log tells more; CAPMAAS tries again by itself",
			event:   "DeployFailed",
			do:      "Free or add addresses in the subnet in MAAS: remove addresses that nobody uses, shrink its reserved ranges, or make the subnet larger. It is tried again by itself.",
		},
		{
			name: "The machine has no network",
			region: func(c *simulator.Config) {
				for i := range c.Machines {
					c.Machines[i].Subnet = "none"
				}
			},
			wrong:   adds(worker),
			shows:   "MachineDeployed=False DeployRefused",
			message: "MAAS maas.example.com refuses to deploy machine node1 (aaaaa1) (network: Node must be configured to use a network): set that right in MAAS, and CAPMAAS tries again by itself; or delete Machine prod-md-0 in Kubernetes to get another",
			event:   "DeployFailed",
			do:      "Configure an interface of the machine in MAAS with a subnet and an address; it is tried again by itself. Or delete the Machine to get another.",
		},
		{
			name: "MAAS fails at every deployment",
			wrong: func(w *world) {
				w.answers("deploy", 500, "Internal server error")
				w.add(worker)
			},
			shows:   "MachineDeployed=False DeployRefused",
			message: "MAAS maas.example.com could not deploy machine node1 (aaaaa1) (Internal server error): set that right in MAAS, whose log tells more; CAPMAAS tries again by itself",
			event:   "DeployFailed",
			do:      "Look into MAAS's own log. It is tried again by itself, never twice at the same time.",
			mend:    (*world).heals,
		},
		{
			name: "The user data is too large for MAAS",
			wrong: func(w *world) {
				w.answers("deploy", 413, "<html>")
				w.add(worker)
			},
			shows:   "MachineDeployed=False DeployRefused",
			message: "the bootstrap data of Machine prod-md-0 has 1 KiB, which makes a request of 5 KiB, too large for MAAS maas.example.com or for a proxy before it: make its files fewer or shorter in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to",
			event:   "DeployFailed",
			do:      "Make the bootstrap data smaller: fewer or shorter files in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to.",
			mend:    (*world).heals,
		},
		{
			name: "The installation fails on a machine",
			wrong: func(w *world) {
				w.installs(worker)
				w.must(w.region.FailDeployment(w.inMAAS(worker).SystemID, "Installation failed: curtin: no disk of 100 GB or more"))
			},
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) failed (MAAS says: Installation failed: curtin: no disk of 100 GB or more)",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) failed (MAAS says: Installation failed: curtin: no disk of 100 GB or more): the machine is given back, and another one is claimed",
			passes:  true,
			do:      "Nothing for the cluster: another machine is tried by itself. Look at the installation output of the one that failed in MAAS. If it is at fault, mark it broken there, or it may be claimed again in a while.",
			mend:    func(*world) {},
		},
		{
			name:   "The installation does not end on a machine",
			region: func(c *simulator.Config) { c.Durations.DeployTimeout = 3 * time.Hour },
			wrong: func(w *world) {
				w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
					return simulator.Trouble{Stuck: e.Moment == simulator.MomentInstall && e.Hostname == "node1"}
				})
				w.add(worker)
			},
			after:   48 * time.Minute,
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) did not finish within 45m",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) did not finish within 45m: the machine is given back, and another one is claimed",
			passes:  true,
			do:      "Nothing for the cluster: another machine is tried by itself. Look at the events in MAAS of the one that did not finish. If your machines need longer, set `spec.template.spec.deployTimeout` in a new MaasMachineTemplate.",
			mend:    func(*world) {},
		},
		{
			name: "The installation fails on every machine",
			wrong: func(w *world) {
				w.badInstalls("curtin: no space left on device")
				w.add(worker)
			},
			after:   20 * time.Minute,
			shows:   "MachineDeployed=False MachineDeployFailed",
			message: "the deployment of machine node3 (aaaaa3) failed (MAAS says: curtin: no space left on device), and before it on node1, node2 alike: look at http://maas.example.com/MAAS/r/machine/aaaaa3; suspect image custom/u-2404 first, then the machines; then delete Machine prod-md-0 in Kubernetes to get another",
			event:   "DeployFailed",
			also: []string{
				"prod-md-0 DeployFailed: the deployment of machine node1 (aaaaa1) failed (MAAS says: curtin: no space left on device): the machine is given back, and another one is claimed",
				"prod-md-0 DeployFailed: the deployment of machine node2 (aaaaa2) failed (MAAS says: curtin: no space left on device): the machine is given back, and another one is claimed",
			},
			do: "Look at the machines' installation output in MAAS. What fails everywhere alike is rather the image, or the bootstrap data: correct it, in a new MaasMachineTemplate if need be. Then delete the Machine to get another; a MachineHealthCheck does so by itself.",
		},
		{
			name: "The installation fails on a machine that is to be kept then",
			wrong: func(w *world) {
				w.badInstalls("Installation failed: curtin: no disk of 100 GB or more")
				w.add(worker, func(m *infrav1.MaasMachine) { m.Spec.KeepFailed = true })
			},
			after:   6 * time.Minute,
			shows:   "MachineDeployed=False MachineDeployFailed",
			message: "the deployment of machine node1 (aaaaa1) in MAAS maas.example.com failed (MAAS says: Installation failed: curtin: no disk of 100 GB or more): look at http://maas.example.com/MAAS/r/machine/aaaaa1; delete Machine prod-md-0 in Kubernetes to get another, this one is kept (spec.keepFailed)",
			event:   "DeployFailed",
			do:      "Look at the machine's installation output in MAAS, and on the machine. Then delete the Machine to get another, and release the one that failed in MAAS.",
		},
		{
			name:   "The only machine that fits failed a moment ago",
			region: func(c *simulator.Config) { c.Machines = c.Machines[:1] },
			wrong: func(w *world) {
				w.badInstalls("Installation failed: curtin: no disk of 100 GB or more")
				w.add(worker)
			},
			after:   6 * time.Minute,
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: 1 machine is Ready, this one is avoided after a failed deployment (node1): look at them in MAAS; CAPMAAS tries them again in a while if nothing else fits, or at once without their tag capmaas-avoid-until-…",
			event:   "NoMachineAvailable",
			also: []string{
				"prod-md-0 DeployFailed: the deployment of machine node1 (aaaaa1) failed (MAAS says: Installation failed: curtin: no disk of 100 GB or more): the machine is given back, and another one is claimed",
			},
			do: "Look at the machine in MAAS, or add machines. For a quarter of an hour it is not taken; then it is tried again if nothing else fits.",
		},
		{
			name: "An operator locked the machine before it was deployed",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.region.Lock(w.inMAAS(worker).SystemID, true))
			},
			shows:   "MachineDeployed=False MachineLocked",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is locked, and MAAS refuses to deploy it: unlock it in MAAS",
			event:   "MachineUnusable",
			do:      "Unlock the machine in MAAS. The deployment then goes on.",
			mend:    func(w *world) { w.must(w.region.Lock("aaaaa1", false)) },
		},
		{
			name: "An operator aborted the deployment",
			wrong: func(w *world) {
				w.installs(worker)
				w.must(w.aborts(w.inMAAS(worker).SystemID))
			},
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) was aborted by user \"capmaas-2\"",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) was aborted by user \"capmaas-2\": the machine is given back, and another one is claimed",
			passes:  true,
			do:      "Nothing for the cluster: another machine is tried by itself, and the one whose deployment was aborted is avoided for a while.",
			mend:    func(*world) {},
		},
		{
			name: "An operator released the machine while it was being installed",
			wrong: func(w *world) {
				w.installs(worker)
				w.must(w.region.OperatorRelease(w.inMAAS(worker).SystemID))
			},
			after:   2 * time.Minute,
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) ended when somebody released the machine",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) ended when somebody released the machine: another one is claimed",
			passes:  true,
			do:      "Nothing: another machine is claimed, which counts as an attempt. The machine that was released is avoided for a while. To give machines back, scale down instead.",
		},
		{
			name: "Somebody else got the machine while it was being installed, and no attempts are left",
			wrong: func(w *world) {
				w.add(worker, func(m *infrav1.MaasMachine) { m.Spec.DeployAttempts = 1 })
				w.until(func() bool { return w.inMAAS(worker).Status == simulator.StatusDeploying })
				w.must(w.given(w.inMAAS(worker).SystemID, otherUser))
			},
			shows:   "MachineAllocated=False MachineNotOurs",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com belongs to user \"alice\" now, and is left alone: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineLost",
			do:      "Delete the Machine to get another; a MachineHealthCheck does so by itself. The machine is not touched: it is the other user's.",
		},
		{
			name: "An operator marked the machine broken before it was deployed",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.marksBroken(w.inMAAS(worker).SystemID, "the fan is broken"))
			},
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) ended when it was marked broken (MAAS says: the fan is broken)",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) ended when it was marked broken (MAAS says: the fan is broken): another one is claimed",
			passes:  true,
			do:      "Nothing for the cluster: another machine is tried by itself. Repair the broken one, and mark it fixed in MAAS.",
			mend:    func(*world) {},
		},
		{
			name: "An operator has the machine in rescue mode before it was deployed",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.region.SetStatus(w.inMAAS(worker).SystemID, simulator.StatusRescueMode))
			},
			shows:   "MachineDeployed=False MachineInRescueMode",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Rescue mode (an operator has it in rescue mode): exit rescue mode in MAAS, and the deployment goes on",
			event:   "MachineUnusable",
			do:      "Exit rescue mode in MAAS. The deployment then goes on.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusAllocated)) },
		},
		{
			name: "An operator has the machine tested before it was deployed",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.region.SetStatus(w.inMAAS(worker).SystemID, simulator.StatusTesting))
			},
			shows:   "MachineDeployed=False MachineTesting",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Testing (an operator has it tested): wait for the end of the test, or abort it in MAAS, and the deployment goes on",
			passes:  true,
			do:      "Wait for the end of the tests, or abort them in MAAS. The deployment then goes on.",
			mend:    func(w *world) { w.must(w.region.SetStatus("aaaaa1", simulator.StatusAllocated)) },
		},
		{
			name: "The machine failed a hardware test before it was deployed",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.region.SetStatus(w.inMAAS(worker).SystemID, simulator.StatusFailedTesting))
			},
			shows:   "MachineDeployed=False MachineFailedTesting",
			message: "machine node1 (aaaaa1) in MAAS maas.example.com is in state Failed testing (it failed a hardware test): first override the failed test in MAAS, or mark it broken; after either, delete Machine prod-md-0 in Kubernetes to get another",
			event:   "MachineUnusable",
			do:      "Look at the test's results in MAAS, and override the failed test or mark the machine broken there. After either, delete the Machine to get another.",
		},
		{
			name: "The machine was deleted from MAAS while it was being installed",
			wrong: func(w *world) {
				w.installs(worker)
				w.must(w.region.OperatorDelete(w.inMAAS(worker).SystemID))
			},
			after:   2 * time.Minute,
			shows:   "MachineDeployed=False MachineDeploying",
			message: "machine node2 (aaaaa2) in MAAS maas.example.com is in state Deploying (MAAS is installing the image); before, the deployment of machine node1 (aaaaa1) ended when the machine was deleted from MAAS",
			event:   "DeployFailed",
			note:    "the deployment of machine node1 (aaaaa1) ended when the machine was deleted from MAAS: another one is claimed",
			passes:  true,
			do:      "Nothing: another machine is claimed, which counts as an attempt.",
		},
		{
			name: "The bootstrap data went away between the claim and the deployment",
			wrong: func(w *world) {
				w.claims(worker)
				w.must(w.client.Delete(context.Background(), &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: worker + "-bootstrap"},
				}))
			},
			shows:   "MachineDeployed=False WaitingForBootstrapData",
			message: "the Secret prod-md-0-bootstrap with the bootstrap data of Machine prod-md-0 is not there: look at KubeadmConfig prod-md-0; if it does not come back, delete Machine prod-md-0 in Kubernetes to get another",
			do:      "Look at the KubeadmConfig of the Machine. If the Secret does not come back, delete the Machine to get another.",
		},
		{
			name: "The API key was revoked between the claim and the deployment",
			wrong: func(w *world) {
				w.claims(worker)
				w.revoked()
			},
			shows:        "MachineAllocated=Unknown MAASKeyRefused",
			message:      "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			ready:        "Unknown MAASKeyRefused",
			readyMessage: "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			},
			do:   "Make a key in MAAS for the same user, put it into `MAAS_API_KEY`, and restart the manager. The deployment then goes on.",
			mend: (*world).heals,
		},
	}
}
