package maasmachine

import (
	"context"
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// wideView is a look at all machines, which is heavy: MAAS sends 15 to 60 KB for each. It serves explanations alone, so it is
// shared and may be a minute old.
type wideView struct {
	mu   sync.Mutex
	at   time.Time
	seen []maas.Machine
}

const wideViewAge = time.Minute

func (v *wideView) look(ctx context.Context, from reader, now time.Time) ([]maas.Machine, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen != nil && now.Sub(v.at) < wideViewAge {
		return v.seen, nil
	}
	seen, err := from.Machines(ctx, maas.MachineFilter{})
	if err != nil {
		return nil, err
	}
	v.seen, v.at = seen, now
	return seen, nil
}
