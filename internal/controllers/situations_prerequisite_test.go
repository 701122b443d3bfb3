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
			shows:   "MachineAllocated=False WaitingForClusterInfrastructure",
			message: "waiting until MaasCluster prod is provisioned: look at its conditions",
			do:      "Look at the conditions of the MaasCluster.",
			mend:    external(infrav1.APIEndpoint{Host: "10.0.0.1", Port: 6443}),
		},
		{
			name:    "A MaasMachine was made by hand, without a Machine",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.OwnerReferences = nil }),
			shows:   "MachineAllocated=False WaitingForOwnerMachine",
			message: "no Machine owns this object yet, which Cluster API sets within seconds: delete it if it was made by hand",
			do:      "Delete it. Machines are made by a MachineDeployment, a control plane, or as a Machine that refers to a MaasMachine.",
		},
		{
			name:    "The Machine's cluster does not exist",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Labels = map[string]string{clusterv1.ClusterNameLabel: "pord"} }),
			shows:   "MachineAllocated=False WaitingForClusterInfrastructure",
			message: "Cluster default/pord, which label cluster.x-k8s.io/cluster-name names, does not exist: make it, or correct the label",
			do:      "Correct the label `cluster.x-k8s.io/cluster-name`, or make the Cluster.",
		},
		{
			name: "The Machine is deleted before a machine was claimed",
			wrong: func(w *world) {
				w.add(worker)
				w.deleteOwner(worker)
			},
			shows:   "MachineAllocated=False WaitingForOwnerMachine",
			message: "Machine prod-md-0 or its Cluster is being deleted: no machine is allocated for it any more",
			passes:  true,
			do:      "Nothing: it goes away with its Machine.",
		},
		{
			name: "The bootstrap provider has not made the bootstrap data",
			wrong: func(w *world) {
				w.add(worker)
				edit(w, &clusterv1.Machine{}, worker, func(m *clusterv1.Machine) { m.Spec.Bootstrap.DataSecretName = nil })
			},
			shows:   "MachineAllocated=False WaitingForBootstrapData",
			message: "waiting for the bootstrap data of Machine prod-md-0: workers wait until the control plane is initialized; if it stays so after that, look at KubeadmConfig prod-md-0",
			do:      "Workers wait here until the control plane is initialized. If it stays, look at the KubeadmConfig of the Machine.",
		},
		{
			name: "The bootstrap data is in Ignition's format",
			wrong: func(w *world) {
				w.add(worker)
				edit(w, &corev1.Secret{}, worker+"-bootstrap", func(s *corev1.Secret) { s.Data["format"] = []byte("ignition") })
			},
			shows:   "MachineAllocated=False UnsupportedBootstrapFormat",
			message: "the bootstrap data of Machine prod-md-0 is in format \"ignition\", and only cloud-config is supported: set the format in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to",
			event:   "UnsupportedBootstrapFormat",
			do:      "Drop `format: ignition` in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to. The KubeadmConfig of the Machine is made from it.",
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
			message: "this object is a copy, for its annotation infrastructure.cluster.x-k8s.io/maas-claim is that of MaasMachine default/prod-cp-0: delete this copy, and its Machine if it has one; the machine of the other is not touched",
			event:   "InvalidClaim",
			do:      "Delete the copy, and its Machine if it has one. Copies that are meant to be machines of their own are made without annotations.",
		},
		{
			name: "Somebody edited the provider ID so that it names another machine than the system ID",
			wrong: func(w *world) {
				w.runs(worker)
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/zzzzz9" })
			},
			shows:   "MachineAllocated=False InvalidClaim",
			message: "spec.systemID names machine aaaaa1, and spec.providerID machine zzzzz9: set spec.providerID back to maas:///<zone>/aaaaa1",
			event:   "InvalidClaim",
			do:      "Set `spec.providerID` back to the machine that `spec.systemID` names.",
			mend: func(w *world) {
				edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///rack1/aaaaa1" })
			},
		},
		{
			name:    "The provider ID is another provider's",
			wrong:   adds(worker, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "aws:///eu-1/i-0123" }),
			shows:   "MachineAllocated=False InvalidClaim",
			message: "spec.providerID is not of the form maas:///<zone>/<system ID>: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "InvalidClaim",
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
			message:      "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			ready:        "Unknown MAASUnreachable",
			readyMessage: "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
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
			shows:        "MachineAllocated=Unknown MAASKeyRefused",
			message:      "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			ready:        "Unknown MAASKeyRefused",
			readyMessage: "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			},
			do:   "Make a key in MAAS for the same user, put it into `MAAS_API_KEY`, and restart the manager. The claim then goes on.",
			mend: (*world).heals,
		},
	}
}
