package management

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is how the API server knows what the sandbox applied.
const fieldOwner = client.FieldOwner("capmaas-sandbox")

// applyPatience is how long the API server may take to accept all objects.
const applyPatience = 2 * time.Minute

// Apply applies the objects to the API server, server-side: namespaces and CRDs first, then the others, some at a time. What the
// server does not know or cannot do yet is tried again for two minutes, or until ctx ends; then the error says what kept it.
func Apply(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, applyPatience)
	defer cancel()
	var first, then []*unstructured.Unstructured
	for _, object := range objects {
		if kind := object.GetKind(); kind == "Namespace" || kind == "CustomResourceDefinition" {
			first = append(first, object)
		} else {
			then = append(then, object)
		}
	}
	if err := applyAll(ctx, c, first); err != nil {
		return err
	}
	for _, object := range first {
		if err := awaitServed(ctx, c, object); err != nil {
			return err
		}
	}
	return applyAll(ctx, c, then)
}

func applyAll(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	const atOnce = 8
	var (
		work   sync.WaitGroup
		slots  = make(chan struct{}, atOnce)
		failed = make([]error, len(objects))
	)
	for i, object := range objects {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			failed[i] = applyOne(ctx, c, object)
		})
	}
	work.Wait()
	return errors.Join(failed...)
}

func applyOne(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	configuration := client.ApplyConfigurationFromUnstructured(object)
	for {
		err := c.Apply(ctx, configuration, fieldOwner, client.ForceOwnership)
		if err == nil {
			return nil
		}
		if !isVerdict(err) && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(250 * time.Millisecond):
				continue
			}
		}
		return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
	}
}

// isVerdict says whether the API server looked at a request and refused it for good. All else may pass: a kind whose CRD is not
// served yet, a webhook that starts, a server that is away.
func isVerdict(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err)
}
