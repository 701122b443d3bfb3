package maasmachine

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/remediation"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=maasremediations,verbs=get;list;watch

// observeRemediation finds the MaasRemediation for which the machine has to be off. What the annotation says counts only while there is one:
// somebody may have removed it by force.
func (r *Reconciler) observeRemediation(ctx context.Context, o *observation) error {
	if o.owner == nil || o.deleting() || !remediation.Of(o.object).KeepsOff() {
		return nil
	}
	list := &infrav1.MaasRemediationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(o.object.Namespace)); err != nil {
		return fmt.Errorf("list the MaasRemediations: %w", err)
	}
	for i := range list.Items {
		if remediation.MachineOf(&list.Items[i]) == o.owner.Name {
			o.remediation = list.Items[i].Name
		}
	}
	return nil
}
