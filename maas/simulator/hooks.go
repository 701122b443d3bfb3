package simulator

import "slices"

// hooks are functions that somebody had a region ask, in order. The list is
// replaced, never changed in place: whoever took it may go on without the lock.
type hooks[F any] []*F

// addHook adds f to one of the region's lists, until remove is called.
func addHook[F any](r *Region, list *hooks[F], f F) (remove func()) {
	added := &f
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(slices.Clone(*list), added)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		*list = slices.DeleteFunc(slices.Clone(*list), func(other *F) bool { return other == added })
	}
}
