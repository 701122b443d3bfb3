package v1beta1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EndpointKind says who publishes the address of a control plane.
// +kubebuilder:validation:Enum=MaasDNS;External
type EndpointKind string

const (
	// EndpointMaasDNS is a DNS record in MAAS that CAPMAAS makes, keeps and removes.
	EndpointMaasDNS EndpointKind = "MaasDNS"
	// EndpointExternal is an address that the user owns (a virtual IP, a load balancer); CAPMAAS leaves DNS alone.
	EndpointExternal EndpointKind = "External"
)

// APIEndpoint is where a control plane is reached. Both fields are empty until it is known.
type APIEndpoint struct {
	// host is a DNS name or an IP address.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host"`

	// port is a TCP port; 6443 where nothing else is asked for.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// MaasClusterSpec is what the user wants of a cluster's infrastructure.
type MaasClusterSpec struct {
	// dnsDomain is the MAAS domain in which the control plane's record is made. MAAS must be authoritative for it. It cannot be
	// changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DNSDomain string `json:"dnsDomain"`

	// controlPlaneEndpoint is where the control plane is reached. Left empty, CAPMAAS fills it with the name of a DNS record that
	// it manages. Given, it is the user's own address.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// controlPlaneEndpointKind says who publishes that address: MaasDNS or External. Where it is empty, the kind is MaasDNS if no
	// host was given, else External; CAPMAAS then writes it down. It cannot be changed.
	// +optional
	ControlPlaneEndpointKind EndpointKind `json:"controlPlaneEndpointKind,omitempty"`

	// failureDomains are the MAAS zones that the control plane is spread over. Without any, none are published.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	FailureDomains []string `json:"failureDomains,omitempty"`

	// lxdConfig is a field of an earlier provider. It is kept as it was stored, and has no effect.
	// +optional
	LXDConfig *apiextensionsv1.JSON `json:"lxdConfig,omitempty"`
}

// MaasClusterInitialization tells Cluster API how far the first provisioning is.
// +kubebuilder:validation:MinProperties=1
type MaasClusterInitialization struct {
	// provisioned is true once the control plane's endpoint is known. It never turns back.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// MaasClusterNetwork is how the control plane is reached by name.
type MaasClusterNetwork struct {
	// dnsName is the DNS name of the control plane's endpoint; empty where that is an IP address.
	// +optional
	DNSName string `json:"dnsName,omitempty"`
}

// MaasClusterStatus is what is true of a cluster's infrastructure.
type MaasClusterStatus struct {
	// conditions tell the state in words; Ready is the summary.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization tells Cluster API how far the first provisioning is.
	// +optional
	Initialization MaasClusterInitialization `json:"initialization,omitempty,omitzero"`

	// failureDomains are the zones of the spec, as Cluster API reads them.
	// +optional
	FailureDomains FailureDomains `json:"failureDomains,omitempty"`

	// network is how the control plane is reached by name.
	// +optional
	Network MaasClusterNetwork `json:"network,omitempty,omitzero"`
}

// MaasCluster is the infrastructure that a Cluster's machines share: its failure domains and the control plane's endpoint.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=maasclusters,scope=Namespaced,categories=cluster-api,shortName=mc
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,description="Cluster to which this belongs"
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.controlPlaneEndpoint.host`,description="Where the control plane is reached"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the endpoint of the control plane is published"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Message",type=string,priority=10,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="Message of the condition Ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the object was made"
type MaasCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec MaasClusterSpec `json:"spec,omitempty"`
	// +optional
	Status MaasClusterStatus `json:"status,omitempty"`
}

// MaasClusterList is a list of MaasClusters.
// +kubebuilder:object:root=true
type MaasClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaasCluster `json:"items"`
}

// GetConditions returns the conditions of the cluster.
func (c *MaasCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions of the cluster.
func (c *MaasCluster) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }
