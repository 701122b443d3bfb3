package checks

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

const (
	// lookUpPatience is how long a look-up may take.
	lookUpPatience = 3 * time.Second
	// settleTime is what MAAS and resolvers get to learn of a change in a record. MAAS 3.4 to 3.7 take 1 to 5 seconds, and records of
	// ours are kept for 10 by resolvers.
	settleTime = 15 * time.Second
	// goodFor is how long a look-up is good that found what is published, and badFor one that did not.
	goodFor, badFor = 5 * time.Minute, 30 * time.Second
	// sureAfter is how many look-ups in a row have to fail before we say so: resolvers remember that there was no such name.
	sureAfter = 2
	// atOnce is how many names are looked up at a time.
	atOnce = 4
	// round is how often we look what is due.
	round = time.Second
)

// Endpoint is what is published for a control plane.
type Endpoint struct {
	Host string
	// Managed says that the name is a record in MAAS of the given addresses; else it is the user's own, and may lead anywhere.
	Managed   bool
	Addresses []string
}

func (e Endpoint) equal(other Endpoint) bool {
	return e.Host == other.Host && e.Managed == other.Managed && slices.Equal(e.Addresses, other.Addresses)
}

// Names looks up the names of control planes as every process in the management cluster does, and compares what it gets with what is
// published. Nobody waits for it. It is safe for concurrent use.
type Names struct {
	// Changed, if set, is called when there is something new to say of an object's endpoint. It must not block. It is set before the first use.
	Changed func(types.NamespacedName)

	lookUp func(ctx context.Context, host string) ([]string, error)
	now    func() time.Time

	mu      sync.Mutex
	watched map[types.NamespacedName]*watch
}

// watch is what is known of one object's endpoint.
type watch struct {
	published Endpoint
	since     time.Time // when this was first published
	looked    time.Time // when the last look-up began that counts; zero for never
	failures  int       // look-ups in a row that did not find what is published
	found     Finding   // what is said
}

// NewNames returns a watch over names, which looks nothing up yet. LookUp resolves a name to addresses; nil means the resolver of the
// process. Now is the clock; nil means time.Now.
func NewNames(lookUp func(ctx context.Context, host string) ([]string, error), now func() time.Time) *Names {
	if lookUp == nil {
		lookUp = net.DefaultResolver.LookupHost
	}
	if now == nil {
		now = time.Now
	}
	return &Names{lookUp: lookUp, now: now, watched: map[types.NamespacedName]*watch{}}
}

// Watch says what is published for an object, and returns what is known of it.
func (n *Names) Watch(object types.NamespacedName, published Endpoint) Finding {
	published.Addresses = slices.Clone(published.Addresses)
	slices.Sort(published.Addresses)
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.watched[object]
	if w == nil || w.published.Host != published.Host || w.published.Managed != published.Managed {
		w = &watch{found: notLookedUp(published)}
		n.watched[object] = w
	}
	if !w.published.equal(published) {
		w.published, w.since, w.failures = published, n.now(), 0
	}
	switch found, known := withoutLookUp(published); {
	case known:
		w.found = found
	case w.found.Reason == infrav1.NoAddressPublishedReason:
		w.found = notLookedUp(published)
	}
	return w.found
}

// Forget ends the watch over an object's endpoint.
func (n *Names) Forget(object types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.watched, object)
}

// NeedLeaderElection says that only the leader looks.
func (n *Names) NeedLeaderElection() bool { return true }

// Start looks up what is due until ctx ends. It implements the manager's Runnable.
func (n *Names) Start(ctx context.Context) error {
	ticker := time.NewTicker(round)
	defer ticker.Stop()
	for {
		n.Round(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Round looks up all names that are due, once. Start does it every second.
func (n *Names) Round(ctx context.Context) {
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for object, published := range n.due() {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			n.look(ctx, object, published)
		})
	}
	wait.Wait()
}

// due returns what has to be looked up now.
func (n *Names) due() map[types.NamespacedName]Endpoint {
	n.mu.Lock()
	defer n.mu.Unlock()
	due := map[types.NamespacedName]Endpoint{}
	for object, w := range n.watched {
		if _, known := withoutLookUp(w.published); !known && !n.now().Before(w.next()) {
			due[object] = w.published
		}
	}
	return due
}

// next says when a name has to be looked up.
func (w *watch) next() time.Time {
	switch {
	case !w.looked.After(w.since) && !w.published.Managed:
		return w.since
	case !w.looked.After(w.since):
		return w.since.Add(settleTime)
	case w.failures > 0:
		return w.looked.Add(badFor)
	}
	return w.looked.Add(goodFor)
}

func (n *Names) look(ctx context.Context, object types.NamespacedName, published Endpoint) {
	began := n.now()
	looking, cancel := context.WithTimeout(ctx, lookUpPatience)
	defer cancel()
	addresses, err := n.lookUp(looking, published.Host)
	if ctx.Err() != nil {
		return // we end; that says nothing of the name
	}
	if n.learn(object, published, began, judgeName(published, addresses, err)) && n.Changed != nil {
		n.Changed(object)
	}
}

// learn keeps what a look-up came to, and says whether that is news.
func (n *Names) learn(object types.NamespacedName, published Endpoint, began time.Time, found Finding) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.watched[object]
	if w == nil || !w.published.equal(published) {
		return false // it is of another name, or from before a change
	}
	w.looked = began
	if found.Verdict == Fine {
		w.failures = 0
	} else if w.failures++; w.failures < sureAfter {
		return false
	}
	news = w.found != found
	w.found = found
	return news
}
