package maasmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// findCandidate chooses the machine to claim, and keeps other claims of this process off it; or it finds out why there is none.
func (r *Reconciler) findCandidate(ctx context.Context, o *observation) error {
	ctx, cancel := context.WithTimeout(ctx, 2*readPatience)
	defer cancel()
	want := o.constraints()
	free, err := r.Inventory.Free(ctx, inventory.NewConstraints(want.Storage, want.Interfaces, want.Subnets))
	if errors.Is(err, maas.ErrInvalid) {
		o.malformed = err
		return nil
	}
	if err != nil {
		return err
	}
	prefer := r.preferences(o)
	want.Satisfying = systemIDs(free)
	ranked, _ := placement.Choose(free, want, prefer)
	for i := range ranked {
		if r.Reservations.Reserve(client.ObjectKeyFromObject(o.object), ranked[i].SystemID) {
			o.candidate = ranked[i].SystemID
			return nil
		}
	}
	all, err := r.Inventory.All(ctx, wideViewAge)
	if err != nil {
		return err
	}
	if want.Storage == "" && want.Interfaces == "" && len(want.Subnets) == 0 {
		all = corrected(all, want.Satisfying, prefer)
	}
	fitting, why := placement.Choose(all, want, prefer)
	switch o.scarcity = why.String(); {
	case len(all) == 0:
		o.scarcity = fmt.Sprintf("no machine available: MAAS %s shows none to the API key's user %q: add machines and commission them, or look at that user's rights",
			o.maasHost, o.user)
	case len(fitting) > 0:
		o.scarcity = "no machine available: those that fit were taken a moment ago: CAPMAAS tries again by itself"
	}
	return nil
}

// wideViewAge is how old a look at all machines may be, which is heavy and serves explanations alone.
const wideViewAge = time.Minute

// corrected is a look at all machines, corrected by the list of free ones from which claims are made: a machine that is Ready and
// not in that list was allocated in between. If it became free in between instead, the next look finds it. Of those that another
// claim got before us that is known, and said.
func corrected(all []maas.Machine, free map[string]bool, prefer placement.Preferences) []maas.Machine {
	all = slices.Clone(all)
	for i := range all {
		m := &all[i]
		if m.Status == maas.StatusReady && !m.Locked && !free[m.SystemID] && !prefer.Taken(m.SystemID) {
			m.Status = maas.StatusAllocated
		}
	}
	return all
}

// preferences say what is better among the machines that fit.
func (r *Reconciler) preferences(o *observation) placement.Preferences {
	taken := r.Reservations.TakenFrom(client.ObjectKeyFromObject(o.object))
	return placement.Preferences{PeersByZone: o.peersByZone, Avoided: o.avoided(), Taken: func(systemID string) bool {
		refused, _ := o.did(claim{systemID})
		return refused || taken(systemID)
	}}
}

// observePeers counts the machines of a control plane by zone, for one that is still to be chosen.
func (r *Reconciler) observePeers(ctx context.Context, o *observation) error {
	if !o.controlPlane() || o.systemID() != "" || o.constraints().Zone != "" {
		return nil
	}
	peers := &infrav1.MaasMachineList{}
	err := r.Client.List(ctx, peers, client.InNamespace(o.object.Namespace), client.MatchingLabels{
		clusterv1.ClusterNameLabel: o.object.Labels[clusterv1.ClusterNameLabel],
	}, client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return fmt.Errorf("list the control plane's MaasMachines: %w", err)
	}
	o.peersByZone = map[string]int{}
	for i := range peers.Items {
		if peer := &peers.Items[i]; peer.Name != o.object.Name && peer.Status.FailureDomain != "" {
			o.peersByZone[peer.Status.FailureDomain]++
		}
	}
	return nil
}

func systemIDs(machines []maas.Machine) map[string]bool {
	ids := map[string]bool{}
	for i := range machines {
		ids[machines[i].SystemID] = true
	}
	return ids
}

// searches remembers when MAAS was last asked for the machines of a claim.
type searches struct {
	mu   sync.Mutex
	last map[client.ObjectKey]time.Time
}

// searchAgain is how often a claim that waits looks whether a machine carries it all the same.
const searchAgain = 10 * time.Minute

func (s *searches) due(object client.Object, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, asked := s.last[client.ObjectKeyFromObject(object)]
	return !asked || now.Sub(last) >= searchAgain
}

func (s *searches) done(object client.Object, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[client.ObjectKey]time.Time{}
	}
	s.last[client.ObjectKeyFromObject(object)] = now
}

func (s *searches) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, key)
}
