package v1beta1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// AddressSelector chooses which address of a machine counts. Without any field, it is that of the boot interface.
// +kubebuilder:validation:MinProperties=1
type AddressSelector struct {
	// subnet is the name or the CIDR of the MAAS subnet in which the address lies.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Subnet string `json:"subnet,omitempty"`

	// interface is the name of the interface that has the address, such as eno1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Interface string `json:"interface,omitempty"`
}

// MaasMachineSpec is what the user wants of a machine.
type MaasMachineSpec struct {
	// providerID is maas:///<zone>/<system ID>, set by CAPMAAS once the machine is deployed, and equal to that of its Node.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProviderID string `json:"providerID,omitempty"`

	// systemID is MAAS's name for the machine that was claimed, set by CAPMAAS.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SystemID string `json:"systemID,omitempty"`

	// failureDomain is the MAAS zone to take a machine from. It counts only where the owner Machine names none; where the machine
	// really is stands in status.failureDomain.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// image is what is deployed: custom/<name> for an image of your own, else <operating system>/<series>. A bare name is an image
	// of your own.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Image string `json:"image"`

	// deployInMemory deploys to memory and leaves the disks alone. MAAS loses such a machine when its power goes.
	// +optional
	DeployInMemory bool `json:"deployInMemory,omitempty"`

	// resourcePool is the MAAS resource pool to take a machine from. Without it, any will do.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ResourcePool string `json:"resourcePool,omitempty"`

	// minCPU is the least number of cores.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinCPU int32 `json:"minCPU,omitempty"`

	// minMemory is the least amount of memory, in MiB.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinMemory int32 `json:"minMemory,omitempty"`

	// minDiskSize is the least size of the disk that the machine boots from, in GB (10⁹ bytes, as MAAS counts).
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinDiskSize int32 `json:"minDiskSize,omitempty"`

	// tags are MAAS tags that the machine must all have.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Tags []string `json:"tags,omitempty"`

	// notTags are MAAS tags of which the machine must have none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	NotTags []string `json:"notTags,omitempty"`

	// architecture is amd64, arm64, … or MAAS's longer form amd64/generic. Without it, any will do.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Architecture string `json:"architecture,omitempty"`

	// storage is a constraint on the machine's disks, in MAAS's own syntax, such as "root:100(ssd),data:500": the first is the disk
	// that the machine boots from, sizes are in GB. MAAS checks it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Storage string `json:"storage,omitempty"`

	// interfaces is a constraint on the machine's network interfaces, in MAAS's own syntax, such as "eth0:space=dmz;eth1:vid=20".
	// MAAS checks it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Interfaces string `json:"interfaces,omitempty"`

	// subnets are those in which the machine must have a link, all of them, as MAAS specifies subnets: a name, a CIDR, or
	// "space:dmz". MAAS checks them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Subnets []string `json:"subnets,omitempty"`

	// deployTimeout is how long a deployment may take, from when MAAS is first asked for it until the image runs, such as 45m or
	// 1h30m. One that takes longer is given up as if it had failed. Without it, 45 minutes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	DeployTimeout *metav1.Duration `json:"deployTimeout,omitempty"`

	// deployAttempts is how many machines may be tried, one after the other: where a deployment fails, its machine is released, avoided
	// for a while, and another one is claimed. When all are used up, this object is reported as failed, for Cluster API to replace. Without
	// it, 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	DeployAttempts int32 `json:"deployAttempts,omitempty"`

	// keepFailed keeps a machine whose deployment failed for a person to look at: no other one is tried, and when this object is deleted,
	// it is let go of and not released.
	// +optional
	KeepFailed bool `json:"keepFailed,omitempty"`

	// release says how the machine is given back. Unlike most of the spec it may be changed at any time, also while the machine is being
	// released.
	// +optional
	Release ReleasePolicy `json:"release,omitempty,omitzero"`

	// addressFrom chooses which of the machine's addresses counts. Without it, that of the boot interface.
	// +optional
	AddressFrom AddressSelector `json:"addressFrom,omitempty,omitzero"`

	// parent is a field of an earlier provider. It is kept as it was stored, and has no effect.
	// +optional
	Parent string `json:"parent,omitempty"`

	// lxd is a field of an earlier provider. It is kept as it was stored, and has no effect.
	// +optional
	LXD *apiextensionsv1.JSON `json:"lxd,omitempty"`
}

// MaasMachineInitialization tells Cluster API how far the first provisioning is.
// +kubebuilder:validation:MinProperties=1
type MaasMachineInitialization struct {
	// provisioned is true once the machine is deployed and its provider ID is set. It never turns back.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// MaasMachineStatus is what is true of a machine.
type MaasMachineStatus struct {
	// conditions tell the state in words; Ready is the summary.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization tells Cluster API how far the first provisioning is.
	// +optional
	Initialization MaasMachineInitialization `json:"initialization,omitempty,omitzero"`

	// failureDomain is the MAAS zone in which the machine is.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureDomain string `json:"failureDomain,omitempty"`

	// addresses are the names and addresses of the machine; the first internal IP is the one that counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// hostname is the machine's name in MAAS, without its domain.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Hostname string `json:"hostname,omitempty"`

	// machineState is the state of the machine as MAAS names it, such as Deployed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	MachineState string `json:"machineState,omitempty"`

	// powerState is what MAAS last saw of the machine's power: on, off, unknown or error. It may lag by minutes.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PowerState string `json:"powerState,omitempty"`
}

// MaasMachine is one machine of a cluster, claimed from MAAS.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=maasmachines,scope=Namespaced,categories=cluster-api,shortName=mm
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,description="Cluster to which this belongs"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the machine is deployed, ours, and running"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.status.hostname`,description="Name of the machine in MAAS"
// +kubebuilder:printcolumn:name="SystemID",type=string,JSONPath=`.spec.systemID`,description="MAAS's identifier of the machine"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.machineState`,description="State of the machine in MAAS"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.failureDomain`,description="MAAS zone in which the machine is"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the object was made"
// +kubebuilder:printcolumn:name="Power",type=string,priority=10,JSONPath=`.status.powerState`,description="What MAAS last saw of the machine's power"
// +kubebuilder:printcolumn:name="ProviderID",type=string,priority=10,JSONPath=`.spec.providerID`,description="Provider ID that the machine and its Node share"
// +kubebuilder:printcolumn:name="Message",type=string,priority=10,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="Message of the condition Ready"
type MaasMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec MaasMachineSpec `json:"spec,omitempty"`
	// +optional
	Status MaasMachineStatus `json:"status,omitempty"`
}

// MaasMachineList is a list of MaasMachines.
// +kubebuilder:object:root=true
type MaasMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaasMachine `json:"items"`
}

// GetConditions returns the conditions of the machine.
func (m *MaasMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions of the machine.
func (m *MaasMachine) SetConditions(conditions []metav1.Condition) { m.Status.Conditions = conditions }
