package controllers_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// prerequisiteSituations: something is missing that has to be there before hardware is claimed.
func prerequisiteSituations() []situation {
	return []situation{
		{
			name: "The MaasCluster is not provisioned",
			wrong: func(w *world) {
				edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) {
					c.Spec.ControlPlaneEndpointKind, c.Spec.ControlPlaneEndpoint = infrav1.EndpointExternal, infrav1.APIEndpoint{}
				})
				w.add(worker)
			},
			unclear: true,
			shows:   "MachineAllocated=False WaitingForClusterInfrastructure",
			message: "waiting until the MaasCluster is provisioned",
			do:      "Look at the conditions of the MaasCluster.",
			mend:    external(infrav1.APIEndpoint{Host: "10.0.0.1", Port: 6443}),
		},
		{
			name:    "A MaasMachine was made by hand, without a Machine",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.OwnerReferences = nil }),
			unclear: true,
			shows:   "MachineAllocated=False WaitingForOwnerMachine",
			message: "waiting for the Machine that owns this object",
			do:      "Delete it. Machines are made by a MachineDeployment, a control plane, or as a Machine that refers to a MaasMachine.",
		},
		{
			name:    "The Machine's cluster does not exist",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Labels = map[string]string{clusterv1.ClusterNameLabel: "pord"} }),
			unclear: true,
			shows:   "MachineAllocated=False WaitingForClusterInfrastructure",
			message: "waiting for the Cluster",
			do:      "Correct the label `cluster.x-k8s.io/cluster-name`, or make the Cluster.",
		},
		{
			name: "The Machine is deleted before a machine was claimed",
			wrong: func(w *world) {
				w.add(worker)
				w.deleteOwner(worker)
			},
			shows:   "MachineAllocated=False WaitingForOwnerMachine",
			message: "the Machine or its Cluster is being deleted: no machine is claimed any more",
			passes:  true,
			do:      "Nothing: it goes away with its Machine.",
		},
		{
			name: "The bootstrap provider has not made the bootstrap data",
			wrong: func(w *world) {
				w.add(worker)
				edit(w, &clusterv1.Machine{}, worker, func(m *clusterv1.Machine) { m.Spec.Bootstrap.DataSecretName = nil })
			},
			unclear: true,
			shows:   "MachineAllocated=False WaitingForBootstrapData",
			message: "waiting for the bootstrap data",
			do:      "Workers wait here until the control plane is initialized. If it stays, look at the KubeadmConfig of the Machine.",
		},
		{
			name: "The bootstrap data is in Ignition's format",
			wrong: func(w *world) {
				w.add(worker)
				edit(w, &corev1.Secret{}, worker+"-bootstrap", func(s *corev1.Secret) { s.Data["format"] = []byte("ignition") })
			},
			shows:   "MachineAllocated=False UnsupportedBootstrapFormat",
			message: "the bootstrap data is in format \"ignition\", and only cloud-config is supported: set the format of the bootstrap provider",
			do:      "Drop `format: ignition` from the KubeadmConfigTemplate or the KubeadmControlPlane.",
			mend: func(w *world) {
				edit(w, &corev1.Secret{}, worker+"-bootstrap", func(s *corev1.Secret) { s.Data["format"] = []byte("cloud-config") })
			},
		},
		{
			name: "A MaasMachine was copied with its claim",
			wrong: func(w *world) {
				w.runs(controller)
				w.add(worker, func(m *infrav1.MaasMachine) {
					metav1.SetMetaDataAnnotation(&m.ObjectMeta, infrav1.ClaimAnnotation, w.get(controller).Annotations[infrav1.ClaimAnnotation])
				})
			},
			shows:   "MachineAllocated=False InvalidClaim",
			message: "the claim in annotation infrastructure.cluster.x-k8s.io/maas-claim is that of MaasMachine default.prod-cp-0, whose machine it is: delete this object",
			do:      "Delete the copy. Copies that are meant to be machines of their own are made without annotations.",
		},
		{
			name: "Somebody edited the provider ID so that it names another machine than the system ID",
			wrong: func(w *world) {
				w.runs(worker)
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/zzzzz9" })
			},
			unclear: true,
			shows:   "MachineAllocated=False InvalidClaim",
			message: "spec.systemID and spec.providerID name different machines",
			do:      "Set `spec.providerID` back to the machine that `spec.systemID` names.",
			mend: func(w *world) {
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/aaaaa1" })
			},
		},
		{
			name:    "The provider ID is another provider's",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "aws:///eu-1/i-0123" }),
			unclear: true,
			shows:   "MachineAllocated=False InvalidClaim",
			message: "spec.providerID is not of the form maas:///<zone>/<system ID>",
			do:      "Delete the Machine to get another, and leave `spec.providerID` empty.",
		},
		{
			name: "MAAS is away while a machine is to be claimed",
			wrong: func(w *world) {
				w.stands()
				w.network.breaks()
				w.add(worker)
			},
			shows:        "MachineAllocated=Unknown MAASUnreachable",
			message:      "MAAS maas.example.com cannot be read: maas: whoami: cannot connect: connection refused",
			ready:        "Unknown MAASUnreachable",
			readyMessage: "MAAS maas.example.com cannot be read: maas: whoami: cannot connect: connection refused",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			},
			passes: true,
			do:     "Bring MAAS back, or the network to it. Claims go on by themselves.",
			mend:   (*world).heals,
		},
		{
			name: "The API key was revoked before a machine was claimed",
			wrong: func(w *world) {
				w.stands()
				w.revoked()
				w.add(worker)
			},
			unclear:      true,
			shows:        "MachineAllocated=Unknown MAASKeyRefused",
			message:      "MAAS maas.example.com cannot be read: maas: whoami: MAAS does not know this API key (its first part); it may have been deleted",
			ready:        "Unknown MAASKeyRefused",
			readyMessage: "MAAS maas.example.com cannot be read: maas: whoami: MAAS does not know this API key (its first part); it may have been deleted",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com refuses our API key: MAAS does not know this API key (its first part); it may have been deleted. Make a key in MAAS, and put it into MAAS_API_KEY",
			},
			do:   "Make a key in MAAS for the same user, and put it into `MAAS_API_KEY`.",
			mend: (*world).heals,
		},
	}
}
