package maascluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
)

// outcome is what a step came to.
type outcome struct {
	step     step
	state    endpoint.State // of the record, after publish
	err      error          // why the step is not done
	waits    bool           // for somebody else
	removed  bool           // a record was there to remove, and is gone
	released bool           // nothing holds the object any more
}

// patience is how long a step may take in MAAS. A reconcile has a minute, and there must be time left to say what happened.
const patience = 35 * time.Second

// act does one step.
func (r *Reconciler) act(ctx context.Context, object *infrav1.MaasCluster, next step, seen facts) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := outcome{step: next}
	switch next.(type) {
	case waitForOwner, waitForHost, waitForMachines:
		done.waits = true
		return done
	case useExternal:
		return done
	case letGo:
		done.released = true
		return done
	}
	// A MAAS that just did not answer a small question is spared the large ones.
	if isAway(seen.region.Err) {
		done.err = seen.region.Err
		return done
	}
	switch next.(type) {
	case publish:
		record, ok := endpoint.RecordOf(object)
		if !ok {
			done.err = &invalidHostError{host: object.Spec.ControlPlaneEndpoint.Host}
			break
		}
		done.state, done.err = r.Endpoint.Ensure(ctx, record, seen.members)
	case removeRecord:
		if record, ok := endpoint.RecordOf(object); ok {
			done.removed, done.err = r.Endpoint.Remove(ctx, record)
		}
		done.released = done.err == nil
	}
	return done
}

// invalidHostError says that a record cannot be made for the host that the spec names.
type invalidHostError struct{ host string }

func (e *invalidHostError) Error() string {
	return fmt.Sprintf("spec.controlPlaneEndpoint.host %s is not a name in a DNS domain, which a DNS record in MAAS needs: make the MaasCluster anew, without a host, or, for an "+
		"address of your own, with controlPlaneEndpointKind External", e.host)
}

// writeDown stores a choice in the spec. Somebody else's write in between makes it fail, so that two choices never mix.
func (r *Reconciler) writeDown(ctx context.Context, object *infrav1.MaasCluster, choice writeChoice, cluster string) (ctrl.Result, error) {
	before := object.DeepCopy()
	if choice.needsSuffix {
		choice.host = endpoint.ChooseHost(cluster, object.Spec.DNSDomain, drawn(r.Suffix, endpoint.NewSuffix))
	}
	object.Spec.ControlPlaneEndpointKind = choice.kind
	object.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: choice.host, Port: choice.port}
	if choice.needsToken {
		if object.Annotations == nil {
			object.Annotations = map[string]string{}
		}
		object.Annotations[infrav1.EndpointMarkAnnotation] = drawn(r.Mark, endpoint.NewToken)
	}
	err := r.Client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write the endpoint down: %w", err)
	}
	if before.Spec.ControlPlaneEndpoint.Host != choice.host {
		r.Recorder.Eventf(object, nil, corev1.EventTypeNormal, telemetry.EndpointChosen, telemetry.ActionPublishEndpoint,
			"the control plane will be reached at %s:%d", choice.host, choice.port)
	}
	return ctrl.Result{}, nil
}

// drawn draws as asked for, or else in the usual way.
func drawn(as, usual func() string) string {
	if as != nil {
		return as()
	}
	return usual()
}
