// Package identity knows which MAAS user we are, and whether MAAS answers to our key.
package identity

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// fresh is how long an answer is believed. A user may gain or lose rights, or be renamed, at any time.
	fresh = time.Minute
	// failureFresh keeps many callers from asking a MAAS that is down one after the other.
	failureFresh = 5 * time.Second
	// patience is how long an answer may take; the question is the smallest that MAAS knows.
	patience = 15 * time.Second
)

// Identity asks MAAS who we are, and remembers the answer for a while. It is safe for concurrent use.
type Identity struct {
	maas *maas.Client
	now  func() time.Time

	mu    sync.Mutex
	asked time.Time
	user  maas.User
	err   error
}

// New returns an identity; it asks nothing yet.
func New(client *maas.Client) *Identity { return NewWithClock(client, time.Now) }

// NewWithClock returns an identity whose answers age by the clock now.
func NewWithClock(client *maas.Client, now func() time.Time) *Identity {
	return &Identity{maas: client, now: now}
}

// User returns the user that our key belongs to, at most a minute old. An error is one of package maas.
func (i *Identity) User(ctx context.Context) (maas.User, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	age := i.now().Sub(i.asked)
	if !i.asked.IsZero() && (i.err == nil && age < fresh || i.err != nil && age < failureFresh) {
		return i.user, i.err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	user, err := i.maas.WhoAmI(asking)
	if ctx.Err() != nil {
		return user, err // our caller went away; that says nothing of MAAS
	}
	i.user, i.err, i.asked = user, err, i.now()
	return user, err
}

// NeedLeaderElection says that a standby looks too: it may have to take over.
func (i *Identity) NeedLeaderElection() bool { return false }

// Start asks once a minute until ctx ends, so that the log and the metrics tell of a MAAS that is down even while no object
// exists. It implements the manager's Runnable.
func (i *Identity) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("maas").WithValues("endpoint", i.maas.Endpoint())
	ticker := time.NewTicker(fresh)
	defer ticker.Stop()
	said := ""
	for {
		user, err := i.User(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if news := describe(user, err); news != said {
			said = news
			logger.Info(news)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// describe says in one line what MAAS answered.
func describe(user maas.User, err error) string {
	switch {
	case err != nil:
		return "MAAS is not available: " + err.Error()
	case !user.IsSuperuser:
		return "MAAS answers; the key belongs to " + user.Username + ", who is no administrator: DNS records cannot be written"
	}
	return "MAAS answers; the key belongs to " + user.Username
}
