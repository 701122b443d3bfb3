package webhooks

import (
	"context"
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-maasmachine,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=maasmachines,versions=v1beta1,name=validation.maasmachine.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1,timeoutSeconds=10

type machineValidator struct{}

// ValidateCreate refuses a MaasMachine that asks for what cannot be.
func (machineValidator) ValidateCreate(_ context.Context, machine *infrav1.MaasMachine) (admission.Warnings, error) {
	return nil, refusal("MaasMachine", machine.Name, newMachine(machine))
}

// ValidateUpdate refuses changes of what the machine was claimed by, and of which machine it is.
func (machineValidator) ValidateUpdate(ctx context.Context, before, now *infrav1.MaasMachine) (admission.Warnings, error) {
	return warnOfAbandoning(ctx, before, now), refusal("MaasMachine", now.Name, changedMachine(before, now))
}

// ValidateDelete lets every MaasMachine go; whether its machine may be released is the reconciler's question.
func (machineValidator) ValidateDelete(context.Context, *infrav1.MaasMachine) (admission.Warnings, error) {
	return nil, nil
}

func newMachine(machine *infrav1.MaasMachine) field.ErrorList {
	if wasStoredBefore(machine) {
		return nil
	}
	spec := field.NewPath("spec")
	found := wellFormed(machine.Spec, spec)
	found = append(found, withoutLXD(machine.Spec, spec)...)
	found = append(found, identity(machine.Spec, spec)...)
	found = append(found, abandonedBeforeDeletion(nil, machine)...)
	return append(found, attemptHasClaim(machine)...)
}

func changedMachine(before, now *infrav1.MaasMachine) field.ErrorList {
	if leaves(now) {
		return nil
	}
	spec := field.NewPath("spec")
	found := kept(before.Spec, now.Spec, spec,
		"cannot be changed: the machine was chosen and installed by it. For another machine, make another template and let the Machine be replaced",
		"failureDomain", "keepFailed", "release", "deployTimeout", "deployAttempts", "systemID", "providerID")
	if before.Spec.FailureDomain != now.Spec.FailureDomain {
		if fault := placeFault(now.Spec.FailureDomain); fault != "" {
			found = append(found, field.Invalid(spec.Child("failureDomain"), now.Spec.FailureDomain, fault))
		}
	}
	if !equality.Semantic.DeepEqual(before.Spec.Release, now.Spec.Release) {
		found = append(found, wellFormedRelease(now.Spec.Release, spec.Child("release"))...)
	}
	if !equality.Semantic.DeepEqual(before.Spec.DeployTimeout, now.Spec.DeployTimeout) || before.Spec.DeployAttempts != now.Spec.DeployAttempts {
		found = append(found, wellFormedAttempts(now.Spec, spec)...)
	}
	if gaveMachineBack(before, now) {
		before = before.DeepCopy()
		before.Spec.SystemID = ""
		delete(before.Annotations, infrav1.UserAnnotation)
	}
	found = append(found, sameMachine(before.Spec, now.Spec, spec)...)
	if wrong := fixedAnnotation(infrav1.ClaimAnnotation, before.Annotations, now.Annotations,
		"by this claim the machine in MAAS is known as this object's, and without it the machine would be lost"); wrong != nil {
		found = append(found, wrong)
	}
	if hadNothing := before.Spec.SystemID == "" && (now.Spec.SystemID != "" || now.Annotations[infrav1.ClaimAttemptAnnotation] == ""); hadNothing {
		before = before.DeepCopy()
		delete(before.Annotations, infrav1.UserAnnotation) // what was asked for as this user was got, or refused
	}
	if wrong := fixedAnnotation(infrav1.UserAnnotation, before.Annotations, now.Annotations,
		"it says whose the machine is in MAAS, and without it the machine could be taken for somebody else's"); wrong != nil {
		found = append(found, wrong)
	}
	found = append(found, abandonedBeforeDeletion(before.Annotations, now)...)
	if before.Annotations[infrav1.ClaimAttemptAnnotation] != now.Annotations[infrav1.ClaimAttemptAnnotation] {
		found = append(found, attemptHasClaim(now)...)
	}
	return found
}

// sameMachine checks that the names of the machine are set once, and well. Names that contradict each other may be set right.
func sameMachine(before, now infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	if before.SystemID == now.SystemID && before.ProviderID == now.ProviderID {
		return nil
	}
	if len(identity(before, path)) > 0 {
		return identity(now, path)
	}
	var found field.ErrorList
	for _, name := range []struct{ field, was, is string }{
		{"systemID", before.SystemID, now.SystemID}, {"providerID", before.ProviderID, now.ProviderID},
	} {
		if name.was != "" && name.was != name.is {
			found = append(found, field.Forbidden(path.Child(name.field),
				"is "+strconv.Quote(name.was)+", and cannot be changed or removed: it says which machine is this object's"))
		}
	}
	if len(found) > 0 {
		return found
	}
	return identity(now, path)
}

// gaveMachineBack says that an update drops a machine that never ran: its deployment failed, and the object says that it is given back.
func gaveMachineBack(before, now *infrav1.MaasMachine) bool {
	if before.Spec.SystemID == "" || now.Spec.SystemID != "" || before.Spec.ProviderID != "" {
		return false
	}
	var attempts []struct {
		Machine   string `json:"machine"`
		GivenBack bool   `json:"givenBack"`
	}
	err := json.Unmarshal([]byte(now.Annotations[infrav1.DeployAttemptsAnnotation]), &attempts)
	last := len(attempts) - 1
	return err == nil && last >= 0 && attempts[last].Machine == before.Spec.SystemID && attempts[last].GivenBack
}

// attemptHasClaim refuses the mark of an allocation under way on an object that never claimed anything.
func attemptHasClaim(machine *infrav1.MaasMachine) field.ErrorList {
	if machine.Annotations[infrav1.ClaimAttemptAnnotation] == "" || machine.Annotations[infrav1.ClaimAnnotation] != "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(annotationPath(field.NewPath("metadata"), infrav1.ClaimAttemptAnnotation),
		"is the controller's, and makes no sense without a claim: remove it")}
}
