// Package v1beta1 is the Kubernetes API of CAPMAAS: the kinds of group infrastructure.cluster.x-k8s.io, version v1beta1,
// which obey Cluster API's contract v1beta2.
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&MaasCluster{}, &MaasClusterList{},
		&MaasMachine{}, &MaasMachineList{},
		&MaasMachineTemplate{}, &MaasMachineTemplateList{},
		&MaasRemediation{}, &MaasRemediationList{},
		&MaasRemediationTemplate{}, &MaasRemediationTemplateList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
