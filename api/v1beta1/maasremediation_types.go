package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// RemediationType is a way to heal a machine.
// +kubebuilder:validation:Enum=Reboot
type RemediationType string

// RebootRemediation switches a machine off and on again.
const RebootRemediation RemediationType = "Reboot"

// RemediationStrategy says how a machine whose health check failed is healed, and what becomes of it if that is in vain.
type RemediationStrategy struct {
	// type is Reboot: the machine is switched off and on again. Without it, that.
	// +optional
	Type RemediationType `json:"type,omitempty"`

	// retryLimit is how often a machine is switched off and on again at most, before it is given up and handed to Cluster API for
	// replacement. 0 hands it over at once. What was done within the last day counts, also for an earlier MaasRemediation of the machine.
	// Without it, 2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// timeout is how long the Node may take to become healthy after its machine was switched on again, and how long a machine may take to
	// switch off, such as 20m or 1h30m. Without it, 20 minutes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// coolDown is the least time from one power cycle of a machine to its next, also if the machine was healthy in between. Without it, 30
	// minutes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	CoolDown *metav1.Duration `json:"coolDown,omitempty"`

	// markBroken says whether a machine that did not become healthy is marked broken in MAAS when it is given back, so that nobody gets it
	// before an operator marked it fixed. MAAS erases no disks and runs no release scripts then. Without it, true, unless spec.release of the
	// MaasMachine asks for one of these.
	// +optional
	MarkBroken *bool `json:"markBroken,omitempty"`
}

// MaasRemediationSpec says how a machine is healed.
type MaasRemediationSpec struct {
	// strategy says what is done, how often, and what becomes of the machine if that is in vain.
	// +optional
	Strategy RemediationStrategy `json:"strategy,omitempty,omitzero"`
}

// MaasRemediationStatus is what is true of a remediation. All of it can be made anew: what was done is written down on the MaasMachine.
type MaasRemediationStatus struct {
	// conditions tell the state in words.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// retryCount is how often the machine was switched off and on again, as far as it counts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryCount int32 `json:"retryCount,omitempty"`

	// lastRemediated is when the last power cycle began.
	// +optional
	LastRemediated metav1.Time `json:"lastRemediated,omitempty,omitzero"`
}

// MaasRemediation heals the machine of one Machine whose health check failed. A MachineHealthCheck makes it from a MaasRemediationTemplate, with the
// Machine's name, and deletes it once the Machine is healthy.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=maasremediations,scope=Namespaced,categories=cluster-api,shortName=mr
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,description="Cluster to which this belongs"
// +kubebuilder:printcolumn:name="Remediating",type=string,JSONPath=`.status.conditions[?(@.type=="Remediating")].status`,description="Whether something is being done about the machine"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Remediating")].reason`,description="Reason of the condition Remediating"
// +kubebuilder:printcolumn:name="Retries",type=integer,JSONPath=`.status.retryCount`,description="How often the machine was switched off and on again, as far as it counts"
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastRemediated`,description="Time since the last power cycle began"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the object was made"
// +kubebuilder:printcolumn:name="Message",type=string,priority=10,JSONPath=`.status.conditions[?(@.type=="Remediating")].message`,description="Message of the condition Remediating"
type MaasRemediation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec MaasRemediationSpec `json:"spec,omitempty"`
	// +optional
	Status MaasRemediationStatus `json:"status,omitempty"`
}

// MaasRemediationList is a list of MaasRemediations.
// +kubebuilder:object:root=true
type MaasRemediationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaasRemediation `json:"items"`
}

// GetConditions returns the conditions of the remediation.
func (r *MaasRemediation) GetConditions() []metav1.Condition { return r.Status.Conditions }

// SetConditions replaces the conditions of the remediation.
func (r *MaasRemediation) SetConditions(conditions []metav1.Condition) {
	r.Status.Conditions = conditions
}

// MaasRemediationTemplateResource describes the MaasRemediations made from a template.
type MaasRemediationTemplateResource struct {
	// metadata holds labels and annotations for the MaasRemediations.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is that of the MaasRemediations.
	// +optional
	Spec MaasRemediationSpec `json:"spec,omitempty,omitzero"`
}

// MaasRemediationTemplateSpec is what is wanted of the remediations made from a template.
type MaasRemediationTemplateSpec struct {
	// template describes the MaasRemediations. It cannot be changed: make another template instead.
	// +required
	Template MaasRemediationTemplateResource `json:"template"`
}

// MaasRemediationTemplate describes the MaasRemediations that a MachineHealthCheck makes. `clusterctl move` takes all of a namespace along: it
// belongs to no Cluster.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=maasremediationtemplates,scope=Namespaced,categories=cluster-api,shortName=mrt
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io/move="
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Retries",type=integer,JSONPath=`.spec.template.spec.strategy.retryLimit`,description="How often a machine is switched off and on again at most"
// +kubebuilder:printcolumn:name="Timeout",type=string,JSONPath=`.spec.template.spec.strategy.timeout`,description="How long the Node may take to become healthy"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since the object was made"
type MaasRemediationTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec MaasRemediationTemplateSpec `json:"spec,omitempty"`
}

// MaasRemediationTemplateList is a list of MaasRemediationTemplates.
// +kubebuilder:object:root=true
type MaasRemediationTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaasRemediationTemplate `json:"items"`
}
