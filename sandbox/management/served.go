package management

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// awaitServed waits until the API server serves the kind that a CRD defines, in all its versions. Other objects are there at once.
func awaitServed(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if object.GetKind() != "CustomResourceDefinition" {
		return nil
	}
	for _, kind := range servedKinds(object) {
		for {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)
			err := c.List(ctx, list, client.Limit(1))
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting for %s: %w", object.GetName(), err)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// servedKinds are the list kinds of a CRD, one for each version that is served.
func servedKinds(crd *unstructured.Unstructured) []schema.GroupVersionKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var out []schema.GroupVersionKind
	for _, each := range versions {
		version, ok := each.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		if name, ok := version["name"].(string); ok {
			out = append(out, schema.GroupVersionKind{Group: group, Version: name, Kind: kind + "List"})
		}
	}
	return out
}
