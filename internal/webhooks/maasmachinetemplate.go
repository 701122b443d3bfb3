package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-maasmachinetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=maasmachinetemplates,versions=v1beta1,name=validation.maasmachinetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=10

type templateValidator struct{}

// ValidateCreate refuses a template from which no machine could be made.
func (templateValidator) ValidateCreate(_ context.Context, template *infrav1.MaasMachineTemplate) (admission.Warnings, error) {
	return nil, refusal("MaasMachineTemplate", template.Name, newTemplate(template))
}

// ValidateUpdate refuses changes of the machines' spec. Cluster API's topology controller asks with a dry run what an update would
// change, and must be told.
func (templateValidator) ValidateUpdate(ctx context.Context, before, now *infrav1.MaasMachineTemplate) (admission.Warnings, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, err
	}
	return nil, refusal("MaasMachineTemplate", now.Name, changedTemplate(before, now, topology.IsDryRunRequest(request, now)))
}

// ValidateDelete lets every template go.
func (templateValidator) ValidateDelete(context.Context, *infrav1.MaasMachineTemplate) (admission.Warnings, error) {
	return nil, nil
}

func newTemplate(template *infrav1.MaasMachineTemplate) field.ErrorList {
	path := field.NewPath("spec", "template")
	found := withoutClaim(template.Spec.Template.ObjectMeta.Annotations, nil, path.Child("metadata"))
	// A template has no finalizer to be known by. One with an owner was stored before, or was made from one that was.
	if len(template.OwnerReferences) > 0 {
		return found
	}
	spec := template.Spec.Template.Spec
	found = append(found, wellFormed(spec, path.Child("spec"))...)
	found = append(found, withoutLXD(spec, path.Child("spec"))...)
	for _, name := range []struct{ field, value string }{{"systemID", spec.SystemID}, {"providerID", spec.ProviderID}} {
		if name.value != "" {
			found = append(found, field.Forbidden(path.Child("spec", name.field), "names one machine, and a template makes many: remove it"))
		}
	}
	return found
}

func changedTemplate(before, now *infrav1.MaasMachineTemplate, topologyDryRun bool) field.ErrorList {
	if leaves(now) {
		return nil
	}
	path := field.NewPath("spec", "template")
	found := withoutClaim(now.Spec.Template.ObjectMeta.Annotations, before.Spec.Template.ObjectMeta.Annotations, path.Child("metadata"))
	if topologyDryRun {
		return found
	}
	return append(found, kept(before.Spec.Template.Spec, now.Spec.Template.Spec, path.Child("spec"),
		"cannot be changed: machines may have been made by it. Make another template with the change, and refer to that one")...)
}

// withoutClaim refuses annotations that would give all machines of a template one claim, unless they were there before.
func withoutClaim(now, before map[string]string, metadata *field.Path) field.ErrorList {
	var found field.ErrorList
	for _, key := range []string{
		infrav1.ClaimAnnotation, infrav1.ClaimAttemptAnnotation, infrav1.DeployAttemptsAnnotation, infrav1.AbandonAnnotation, infrav1.ConfirmDeleteAnnotation,
		infrav1.MarkBrokenAnnotation, infrav1.RemediationAnnotation,
	} {
		value, there := now[key]
		if was, stood := before[key]; there && (!stood || was != value) {
			found = append(found, field.Forbidden(annotationPath(metadata, key),
				"belongs to one machine, and all machines of this template would share it: remove it"))
		}
	}
	return found
}
