package webhooks

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// abandonedBeforeDeletion refuses to let go of a machine that nobody gives back. It would be let go of, unreleased, at the end of a
// long life, when nobody thinks of it any more.
func abandonedBeforeDeletion(before map[string]string, machine *infrav1.MaasMachine) field.ErrorList {
	value, is := machine.Annotations[infrav1.AbandonAnnotation]
	if was, did := before[infrav1.AbandonAnnotation]; !is || did && was == value {
		return nil
	}
	return field.ErrorList{field.Forbidden(annotationPath(field.NewPath("metadata"), infrav1.AbandonAnnotation),
		"is for a MaasMachine that is being deleted, and whose machine cannot be released: delete its Machine first, and see what its conditions say")}
}

// warnOfAbandoning tells whoever lets go of a machine what that means, and the log who it was.
func warnOfAbandoning(ctx context.Context, before, now *infrav1.MaasMachine) admission.Warnings {
	reason, is := now.Annotations[infrav1.AbandonAnnotation]
	if _, was := before.Annotations[infrav1.AbandonAnnotation]; was || !is || !leaves(now) {
		return nil
	}
	user := "unknown"
	if request, err := admission.RequestFromContext(ctx); err == nil {
		user = request.UserInfo.Username
	}
	log.FromContext(ctx).Info("A MaasMachine is abandoned: its machine is not released", "user", user, "reason", reason, "systemID", now.Spec.SystemID)
	return admission.Warnings{fmt.Sprintf(
		"machine %s is not released, and CAPMAAS forgets it: see to it in MAAS, where it keeps running and stays with the API key's user", now.Spec.SystemID)}
}
