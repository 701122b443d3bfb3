// Package webhooks refuses illegal objects when they are written, with the path of the field and what is wanted instead.
//
// Three things always pass: objects that are being deleted, what an update leaves as it was, and objects that come back as they
// were stored before (from a move between management clusters, or from a backup). So nothing that an earlier provider stored is
// stuck because of a rule that is younger than it. The rules are pure functions; they ask neither MAAS nor the API server.
package webhooks

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// Setup adds the webhooks of all kinds to the manager's webhook server.
func Setup(mgr ctrl.Manager) error {
	for kind, complete := range map[string]func() error{
		"MaasCluster":             ctrl.NewWebhookManagedBy(mgr, &infrav1.MaasCluster{}).WithValidator(clusterValidator{}).Complete,
		"MaasMachine":             ctrl.NewWebhookManagedBy(mgr, &infrav1.MaasMachine{}).WithValidator(machineValidator{}).Complete,
		"MaasMachineTemplate":     ctrl.NewWebhookManagedBy(mgr, &infrav1.MaasMachineTemplate{}).WithValidator(templateValidator{}).Complete,
		"MaasRemediation":         ctrl.NewWebhookManagedBy(mgr, &infrav1.MaasRemediation{}).WithValidator(remediationValidator{}).Complete,
		"MaasRemediationTemplate": ctrl.NewWebhookManagedBy(mgr, &infrav1.MaasRemediationTemplate{}).WithValidator(remediationTemplateValidator{}).Complete,
	} {
		if err := complete(); err != nil {
			return fmt.Errorf("set up the webhook for %s: %w", kind, err)
		}
	}
	return nil
}

// refusal is the answer that users see; nil if there is nothing to refuse.
func refusal(kind, name string, found field.ErrorList) error {
	if len(found) == 0 {
		return nil
	}
	return apierrors.NewInvalid(infrav1.GroupVersion.WithKind(kind).GroupKind(), name, found)
}

// leaves says that an object is being deleted. Whatever is written to it then, above all without a finalizer, helps it to go.
func leaves(object metav1.Object) bool { return !object.GetDeletionTimestamp().IsZero() }

// wasStoredBefore says that a MaasCluster or MaasMachine which is being created is not new: `clusterctl move` and backups create
// objects with the finalizer that was on them; Cluster API and people create them without.
func wasStoredBefore(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetFinalizers(), func(name string) bool {
		return name == infrav1.ClusterFinalizer || name == infrav1.MachineFinalizer
	})
}

// annotationPath is where an annotation stands.
func annotationPath(metadata *field.Path, key string) *field.Path {
	return metadata.Child("annotations").Key(key)
}

// fixedAnnotation reports an annotation that was set and is different now, or gone.
func fixedAnnotation(key string, before, now map[string]string, because string) *field.Error {
	if was := before[key]; was == "" || was == now[key] {
		return nil
	}
	return field.Forbidden(annotationPath(field.NewPath("metadata"), key), "cannot be changed or removed: "+because)
}
