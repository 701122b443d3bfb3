// Package compatibility mends what earlier providers stored, so that the API server accepts our writes to it.
package compatibility

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object has conditions.
type Object interface {
	client.Object
	conditions.Setter
}

// MendStatus drops the conditions of an object whose type is not among types, and those that miss what is required now: a
// condition of an earlier contract has no reason while it is True. They have to go before anything else is written, for every
// write of conditions sends the stored ones back. The fields in also are written along, whatever they are now; with none, and
// nothing to drop, nothing is written.
func MendStatus(ctx context.Context, c client.Client, object Object, conditionTypes []string, also map[string]any) error {
	kept := slices.DeleteFunc(slices.Clone(object.GetConditions()), func(condition metav1.Condition) bool {
		return !slices.Contains(conditionTypes, condition.Type) || !isComplete(condition)
	})
	if len(kept) == len(object.GetConditions()) && len(also) == 0 {
		return nil
	}
	status := map[string]any{"conditions": kept}
	for field, value := range also {
		status[field] = value
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("encode the mended status: %w", err)
	}
	if err := c.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("mend the stored status: %w", err)
	}
	return nil
}

func isComplete(condition metav1.Condition) bool {
	return condition.Reason != "" && condition.Status != "" && !condition.LastTransitionTime.IsZero()
}
