package checks

import (
	"context"
	"sync"
	"time"
)

const (
	// interval is how long an answer is good enough in which all was found that was looked for.
	interval = 10 * time.Minute
	// floor is how young an answer may be and still be asked for again, because something is missing in it.
	floor = 30 * time.Second
	// failureFresh keeps many callers from asking a MAAS that is down one after the other.
	failureFresh = 5 * time.Second
	// patience is how long an answer may take. MAAS takes seconds for many images.
	patience = 15 * time.Second
)

// fact is one question to MAAS and the last answer to it. Whoever asks while somebody does waits for that answer.
type fact[T any] struct {
	ask func(context.Context) (T, error)
	now func() time.Time

	mu       sync.Mutex
	value    T
	answered time.Time // when the value was asked for; zero where there is none
	err      error
	failed   time.Time // when the error came
}

// get returns an answer that is younger than maxAge.
func (f *fact[T]) get(ctx context.Context, maxAge time.Duration) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	began := f.now()
	if !f.answered.IsZero() && began.Sub(f.answered) < maxAge {
		return f.value, nil
	}
	if f.err != nil && began.Sub(f.failed) < failureFresh {
		return f.value, f.err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	value, err := f.ask(asking)
	switch {
	case err == nil:
		f.value, f.answered, f.err = value, began, nil
	case ctx.Err() == nil:
		f.err, f.failed = err, f.now()
	}
	// If our caller went away, that says nothing of MAAS.
	return value, err
}

// last returns the last answer, however old.
func (f *fact[T]) last() (value T, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value, !f.answered.IsZero()
}

// settle judges a fact, and looks again before it says that something is missing. An error leaves what was found before.
func settle[T any](ctx context.Context, f *fact[T], judge func(T) Finding) Finding {
	value, err := f.get(ctx, interval)
	if err != nil {
		old, known := f.last()
		if !known {
			return Finding{}
		}
		value = old
	}
	found := judge(value)
	if err != nil || found.Verdict != Wrong {
		return found
	}
	if value, err = f.get(ctx, floor); err != nil {
		return found
	}
	return judge(value)
}

// settleAll is settle for wishes of which there may be none: what nobody wishes for is not missing, and MAAS is not asked.
func settleAll[W, T any](
	ctx context.Context, host string, f *fact[[]T], wishes []W, judge func(host string, wishes []W, has []T) Finding,
) Finding {
	if len(wishes) == 0 {
		return judge(host, nil, nil)
	}
	return settle(ctx, f, func(has []T) Finding { return judge(host, wishes, has) })
}
