package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// MaasMachineTemplateResource describes the MaasMachines made from a template.
type MaasMachineTemplateResource struct {
	// metadata holds labels and annotations for the MaasMachines.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is that of the MaasMachines.
	// +required
	Spec MaasMachineSpec `json:"spec"`
}

// MaasMachineTemplateSpec is what is wanted of the machines made from a template.
type MaasMachineTemplateSpec struct {
	// template describes the MaasMachines. It cannot be changed: make another template instead.
	// +required
	Template MaasMachineTemplateResource `json:"template"`
}

// NodeInfo describes the Nodes that a template's machines become, for the cluster autoscaler.
// +kubebuilder:validation:MinProperties=1
type NodeInfo struct {
	// architecture is that of the Node, such as amd64.
	// +optional
	// +kubebuilder:validation:Enum=amd64;arm64;s390x;ppc64le
	Architecture string `json:"architecture,omitempty"`

	// operatingSystem is that of the Node, such as linux.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OperatingSystem string `json:"operatingSystem,omitempty"`
}

// MaasMachineTemplateStatus is what is true of the machines that a template would make.
type MaasMachineTemplateStatus struct {
	// capacity is what a Node from this template offers, for the cluster autoscaler to scale up from zero.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// nodeInfo describes the Nodes, for the cluster autoscaler.
	// +optional
	NodeInfo NodeInfo `json:"nodeInfo,omitempty,omitzero"`

	// conditions tell the state in words.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaasMachineTemplate describes MaasMachines that a control plane or a MachineDeployment makes.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=maasmachinetemplates,scope=Namespaced,categories=cluster-api,shortName=mmt
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,description="Cluster to which this belongs"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.template.spec.image`,description="Image that the machines get"
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.template.spec.resourcePool`,description="MAAS resource pool that the machines come from"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the object was made"
type MaasMachineTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec MaasMachineTemplateSpec `json:"spec,omitempty"`
	// +optional
	Status MaasMachineTemplateStatus `json:"status,omitempty"`
}

// MaasMachineTemplateList is a list of MaasMachineTemplates.
// +kubebuilder:object:root=true
type MaasMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaasMachineTemplate `json:"items"`
}

// GetConditions returns the conditions of the template.
func (t *MaasMachineTemplate) GetConditions() []metav1.Condition { return t.Status.Conditions }

// SetConditions replaces the conditions of the template.
func (t *MaasMachineTemplate) SetConditions(conditions []metav1.Condition) {
	t.Status.Conditions = conditions
}
