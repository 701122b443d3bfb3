package maascluster

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
)

// checked is what the standing checks found. The zero value says nothing.
type checked struct {
	findings checks.Findings
	name     checks.Finding // of the endpoint's name
	asked    bool           // whether there is anything in it
}

// lacks says that something is missing in MAAS.
func (c checked) lacks() bool {
	for _, found := range []checks.Finding{c.findings.Domain, c.findings.ZonesAndPools, c.findings.Images} {
		if found.Verdict == checks.Wrong {
			return true
		}
	}
	return false
}

// check asks for what must be true beside the endpoint. It comes after the step, so that nothing waits for it.
func (r *Reconciler) check(ctx context.Context, object *infrav1.MaasCluster, seen facts, done outcome) checked {
	key := client.ObjectKeyFromObject(object)
	if seen.deleting {
		r.Names.Forget(key)
		return checked{}
	}
	also := checked{asked: true}
	// A MAAS that is away is not asked for more; what was known of it stays on the object.
	if seen.region.Err == nil && !isAway(done.err) {
		also.findings = r.Checks.Look(ctx, seen.wishes)
	}
	published := checks.Endpoint{Host: seen.host, Managed: seen.kind == infrav1.EndpointMaasDNS, Addresses: done.state.Addresses}
	switch {
	case isStep[useExternal](done.step), isStep[publish](done.step) && done.err == nil:
		also.name = r.Names.Watch(key, published)
	}
	return also
}
