package webhooks

import (
	"context"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-maascluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=maasclusters,versions=v1beta1,name=validation.maascluster.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=10

type clusterValidator struct{}

// ValidateCreate refuses a MaasCluster whose control plane could not be reached.
func (clusterValidator) ValidateCreate(_ context.Context, cluster *infrav1.MaasCluster) (admission.Warnings, error) {
	return nil, refusal("MaasCluster", cluster.Name, newCluster(cluster))
}

// ValidateUpdate refuses changes of how the control plane is reached.
func (clusterValidator) ValidateUpdate(_ context.Context, before, now *infrav1.MaasCluster) (admission.Warnings, error) {
	return nil, refusal("MaasCluster", now.Name, changedCluster(before, now))
}

// ValidateDelete lets every MaasCluster go.
func (clusterValidator) ValidateDelete(context.Context, *infrav1.MaasCluster) (admission.Warnings, error) {
	return nil, nil
}

func newCluster(cluster *infrav1.MaasCluster) field.ErrorList {
	if wasStoredBefore(cluster) {
		return nil
	}
	path := field.NewPath("spec")
	var found field.ErrorList
	if domain := cluster.Spec.DNSDomain; domain == "" {
		found = append(found, field.Required(path.Child("dnsDomain"), "must be a DNS domain of MAAS, in which the control plane gets its name"))
	} else if fault := domainFault(domain); fault != "" {
		found = append(found, field.Invalid(path.Child("dnsDomain"), domain, fault))
	}
	found = append(found, endpointHost(cluster.Spec, path.Child("controlPlaneEndpoint", "host"))...)
	found = append(found, zones(cluster.Spec.FailureDomains, path.Child("failureDomains"))...)
	if cluster.Spec.LXDConfig != nil {
		found = append(found, field.Forbidden(path.Child("lxdConfig"), noLXDHosts))
	}
	return found
}

func changedCluster(before, now *infrav1.MaasCluster) field.ErrorList {
	if leaves(now) {
		return nil
	}
	path := field.NewPath("spec")
	var found field.ErrorList
	if before.Spec.DNSDomain != now.Spec.DNSDomain {
		found = append(found, field.Forbidden(path.Child("dnsDomain"), "cannot be changed: the name of the control plane is in "+strconv.Quote(before.Spec.DNSDomain)))
	}
	if kind := before.Spec.ControlPlaneEndpointKind; kind != "" && kind != now.Spec.ControlPlaneEndpointKind {
		found = append(found, field.Forbidden(path.Child("controlPlaneEndpointKind"), "cannot be changed: it is "+string(kind)))
	}
	found = append(found, changedEndpoint(before.Spec, now.Spec, path.Child("controlPlaneEndpoint"))...)
	if !slices.Equal(before.Spec.FailureDomains, now.Spec.FailureDomains) {
		found = append(found, zones(now.Spec.FailureDomains, path.Child("failureDomains"))...)
	}
	if now.Spec.LXDConfig != nil && !sameJSON(before.Spec.LXDConfig, now.Spec.LXDConfig) {
		found = append(found, field.Forbidden(path.Child("lxdConfig"), noLXDHosts))
	}
	if wrong := fixedAnnotation(infrav1.EndpointMarkAnnotation, before.Annotations, now.Annotations,
		"by this mark the DNS record in MAAS is known as this cluster's"); wrong != nil {
		found = append(found, wrong)
	}
	return found
}

const noLXDHosts = "LXD hosts are not supported by this provider: remove the field"

// changedEndpoint checks that an endpoint is set once, and well. Clients and certificates hold on to it.
func changedEndpoint(before, now infrav1.MaasClusterSpec, path *field.Path) field.ErrorList {
	const because = "cannot be changed once it is set: the cluster's nodes, clients and certificates hold on to it"
	var found field.ErrorList
	if was, is := before.ControlPlaneEndpoint.Host, now.ControlPlaneEndpoint.Host; was != is {
		if was != "" {
			found = append(found, field.Forbidden(path.Child("host"), because))
		} else {
			found = append(found, endpointHost(now, path.Child("host"))...)
		}
	}
	if was := before.ControlPlaneEndpoint.Port; was != 0 && was != now.ControlPlaneEndpoint.Port {
		found = append(found, field.Forbidden(path.Child("port"), because))
	}
	return found
}

// endpointHost checks a host that was given.
func endpointHost(spec infrav1.MaasClusterSpec, path *field.Path) field.ErrorList {
	host := spec.ControlPlaneEndpoint.Host
	if host == "" {
		return nil
	}
	fault := hostFault(host)
	if fault == "" && spec.ControlPlaneEndpointKind == infrav1.EndpointMaasDNS {
		fault = recordFault(host, spec.DNSDomain)
	}
	if fault == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, host, fault)}
}

// zones checks the names of failure domains.
func zones(names []string, path *field.Path) field.ErrorList {
	var found field.ErrorList
	for i, name := range names {
		switch {
		case name == "":
			found = append(found, field.Invalid(path.Index(i), name, "must be the name of a zone in MAAS"))
		case placeFault(name) != "":
			found = append(found, field.Invalid(path.Index(i), name, placeFault(name)))
		case slices.Contains(names[:i], name):
			found = append(found, field.Duplicate(path.Index(i), name))
		}
	}
	return found
}
