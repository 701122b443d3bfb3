package maasmachine

import (
	"context"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// wantsWords says that something failed on a machine, so that MAAS's own words for it are worth a request.
func (o observation) wantsWords(m *maas.Machine) bool {
	switch m.Status {
	case maas.StatusFailedDeployment:
		return true
	case maas.StatusFailedReleasing, maas.StatusFailedDiskErasing:
		return o.givesBack()
	}
	// MAAS put it back.
	return o.givesBack() && o.asked[m.SystemID].moved && stateOf(m).release == releaseIt
}

// givesBack says that the machines are to be given back: the object goes, or the deployment failed and another machine is to follow.
func (o observation) givesBack() bool { return o.deleting() || o.triesAnother() }

// observeRequests looks up what was asked of the machines that are to be given back.
func (r *Reconciler) observeRequests(o *observation) {
	all := o.notFree()
	if !o.givesBack() {
		all = slices.DeleteFunc(all, func(m *maas.Machine) bool { return m.SystemID == o.systemID() })
	}
	o.asked = map[string]asked{}
	for _, m := range all {
		o.asked[m.SystemID] = r.retries.see(client.ObjectKeyFromObject(o.object), m.SystemID, o.releasesHow(m), m.Status.String(), o.now)
	}
}

// giveBack releases a machine as the spec says, and remembers that.
func (r *Reconciler) giveBack(ctx context.Context, o *observation, systemID string) error {
	params := o.releaseParams()
	if systemID != o.systemID() && slices.Contains(o.notedExtras(), systemID) {
		params = maas.ReleaseParams{Comment: comment(o)} // nothing was installed on it: there is nothing to erase
	}
	err := r.release(ctx, o, systemID, params)
	r.noteRequest(o, systemID, err)
	return err
}

// noteRequest remembers what MAAS answered when a machine was to be given back.
func (r *Reconciler) noteRequest(o *observation, systemID string, err error) {
	for _, m := range o.notFree() {
		if m.SystemID == systemID {
			r.retries.note(client.ObjectKeyFromObject(o.object), systemID, o.releasesHow(m), m.Status.String(), r.now(), err)
		}
	}
}

func (r *Reconciler) erasesOnRelease(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	return r.MAAS.ErasesOnRelease(ctx)
}

// region remembers what MAAS says of itself.
type region struct {
	mu      sync.Mutex
	version maas.Version
	asked   time.Time
}

// versionFresh is how long a version is believed. MAAS may be upgraded at any time.
const versionFresh = 5 * time.Minute

func (r *region) versionOf(ctx context.Context, api *maas.Client, now time.Time) (maas.Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && now.Sub(r.asked).Abs() < versionFresh {
		return r.version, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	version, err := api.Version(ctx)
	if err != nil {
		return maas.Version{}, err
	}
	r.version, r.asked = version, now
	return version, nil
}
