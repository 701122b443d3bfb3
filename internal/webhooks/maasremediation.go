package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-maasremediation,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=maasremediations,versions=v1beta1,name=validation.maasremediation.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=10
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-maasremediationtemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=maasremediationtemplates,versions=v1beta1,name=validation.maasremediationtemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=10

type remediationValidator struct{}

// ValidateCreate refuses a MaasRemediation whose times make no sense.
func (remediationValidator) ValidateCreate(_ context.Context, remediation *infrav1.MaasRemediation) (admission.Warnings, error) {
	if slices.Contains(remediation.Finalizers, infrav1.RemediationFinalizer) {
		return nil, nil // it comes back as it was stored
	}
	return nil, refusal("MaasRemediation", remediation.Name, wellFormedStrategy(remediation.Spec.Strategy, field.NewPath("spec", "strategy")))
}

// ValidateUpdate refuses such a change. Whoever watches a remediation may give it more time, or fewer tries.
func (remediationValidator) ValidateUpdate(_ context.Context, before, now *infrav1.MaasRemediation) (admission.Warnings, error) {
	if leaves(now) || equality.Semantic.DeepEqual(before.Spec, now.Spec) {
		return nil, nil
	}
	return nil, refusal("MaasRemediation", now.Name, wellFormedStrategy(now.Spec.Strategy, field.NewPath("spec", "strategy")))
}

// ValidateDelete lets every MaasRemediation go.
func (remediationValidator) ValidateDelete(context.Context, *infrav1.MaasRemediation) (admission.Warnings, error) {
	return nil, nil
}

type remediationTemplateValidator struct{}

// ValidateCreate refuses a template of which no MaasRemediation could be made.
func (remediationTemplateValidator) ValidateCreate(_ context.Context, template *infrav1.MaasRemediationTemplate) (admission.Warnings, error) {
	return nil, refusal("MaasRemediationTemplate", template.Name,
		wellFormedStrategy(template.Spec.Template.Spec.Strategy, field.NewPath("spec", "template", "spec", "strategy")))
}

// ValidateUpdate refuses changes: what remediations were made by can be read as long as they are there. Cluster API's topology controller
// asks with a dry run what an update would change, and must be told.
func (remediationTemplateValidator) ValidateUpdate(ctx context.Context, before, now *infrav1.MaasRemediationTemplate) (admission.Warnings, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, err
	}
	if leaves(now) || topology.IsDryRunRequest(request, now) || equality.Semantic.DeepEqual(before.Spec, now.Spec) {
		return nil, nil
	}
	return nil, refusal("MaasRemediationTemplate", now.Name, field.ErrorList{field.Forbidden(field.NewPath("spec"),
		"cannot be changed: make another template with the change, and refer to that one in the MachineHealthCheck")})
}

// ValidateDelete lets every template go.
func (remediationTemplateValidator) ValidateDelete(context.Context, *infrav1.MaasRemediationTemplate) (admission.Warnings, error) {
	return nil, nil
}

const (
	// No server boots in less, and none that takes longer is waited for.
	shortestRemediationTimeout, longestRemediationTime = time.Minute, 24 * time.Hour
	maxRetryLimit                                      = 10
)

func wellFormedStrategy(strategy infrav1.RemediationStrategy, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if t := strategy.Type; t != "" && t != infrav1.RebootRemediation {
		found = append(found, field.NotSupported(path.Child("type"), t, []infrav1.RemediationType{infrav1.RebootRemediation}))
	}
	if n := strategy.RetryLimit; n != nil && (*n < 0 || *n > maxRetryLimit) {
		found = append(found, field.Invalid(path.Child("retryLimit"), *n, fmt.Sprintf("must be from 0 to %d", maxRetryLimit)))
	}
	if t := strategy.Timeout; t != nil && (t.Duration < shortestRemediationTimeout || t.Duration > longestRemediationTime) {
		found = append(found, notBetween(path.Child("timeout"), t, "from a minute to a day, such as 20m: a server takes minutes until it boots"))
	}
	if t := strategy.CoolDown; t != nil && (t.Duration < 0 || t.Duration > longestRemediationTime) {
		found = append(found, notBetween(path.Child("coolDown"), t, "at most a day, such as 30m"))
	}
	return found
}

func notBetween(path *field.Path, d *metav1.Duration, wanted string) *field.Error {
	return field.Invalid(path, d.Duration.String(), "must be "+wanted)
}
