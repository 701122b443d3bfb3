package checks

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// zone is a resolver of the test's, and a watch over names that uses it.
type zone struct {
	*testing.T
	now     time.Time
	answer  []string
	err     error
	looked  int
	news    int
	names   *Names
	managed Endpoint
}

var object = types.NamespacedName{Namespace: "default", Name: "c1"}

func newZone(t *testing.T) *zone {
	t.Helper()
	z := &zone{T: t, now: time.Unix(1_800_000_000, 0), managed: Endpoint{Host: "c1.maas", Managed: true, Addresses: []string{"10.0.0.1"}}}
	z.names = NewNames(func(_ context.Context, host string) ([]string, error) {
		z.looked++
		if host != z.managed.Host {
			z.Errorf("%s was looked up", host)
		}
		return z.answer, z.err
	}, func() time.Time { return z.now })
	z.names.Changed = func(o types.NamespacedName) {
		if o == object {
			z.news++
		}
	}
	return z
}

// pass lets time pass in seconds, in each of which the names have their round.
func (z *zone) pass(d time.Duration) {
	z.Helper()
	for end := z.now.Add(d); z.now.Before(end); {
		z.now = z.now.Add(time.Second)
		z.names.Round(z.Context())
	}
}

func (z *zone) says(published Endpoint, verdict Verdict, reason string, parts ...string) {
	z.Helper()
	got := z.names.Watch(object, published)
	if got.Verdict != verdict || got.Reason != reason {
		z.Errorf("found %+v, want %v %s", got, verdict, reason)
	}
	for _, part := range parts {
		if !strings.Contains(got.Message, part) {
			z.Errorf("%q does not say %q", got.Message, part)
		}
	}
}

var notFound = &net.DNSError{Err: "no such host", Name: "c1.maas", IsNotFound: true}

func TestANameIsComparedWithWhatIsPublished(t *testing.T) {
	t.Parallel()
	published := func(addresses ...string) Endpoint {
		return Endpoint{Host: "c1.maas", Managed: true, Addresses: addresses}
	}
	external := Endpoint{Host: "api.example.com"}
	for name, test := range map[string]struct {
		published Endpoint
		addresses []string
		err       error
		want      string
	}{
		"the same":                   {published("10.0.0.1"), []string{"10.0.0.1"}, nil, "EndpointResolves"},
		"in another order":           {published("10.0.0.1", "10.0.0.2"), []string{"10.0.0.2", "10.0.0.1"}, nil, "EndpointResolves"},
		"a few of them":              {published("10.0.0.1", "10.0.0.2"), []string{"10.0.0.2"}, nil, "EndpointResolves"},
		"in another spelling":        {published("fd00::1"), []string{"fd00:0::0001"}, nil, "EndpointResolves"},
		"a stranger":                 {published("10.0.0.1"), []string{"10.9.9.9"}, nil, "EndpointResolvesElsewhere|c1.maas leads to 10.9.9.9, but in MAAS its addresses are 10.0.0.1: look which DNS server"},
		"a stranger beside ours":     {published("10.0.0.1"), []string{"10.9.9.9", "10.0.0.1"}, nil, "EndpointResolvesElsewhere|leads to 10.9.9.9, but"},
		"no such name":               {published("10.0.0.1"), nil, notFound, "EndpointNotResolved|c1.maas cannot be resolved in the management cluster (there is no such name): let the DNS servers of the management cluster forward the domain maas to MAAS"},
		"no address":                 {published("10.0.0.1"), nil, nil, "EndpointNotResolved|(it has no address)"},
		"no server":                  {published("10.0.0.1"), nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}, "EndpointNotResolved|(no DNS server answers in time)"},
		"a server that fails":        {published("10.0.0.1"), nil, &net.DNSError{Err: "server misbehaving on 10.0.0.53:4711"}, "EndpointNotResolved|(the DNS server fails)"},
		"another error":              {published("10.0.0.1"), nil, errors.New("x"), "EndpointNotResolved|(the look-up failed)"},
		"a user's own, anywhere":     {external, []string{"192.0.2.1"}, nil, "EndpointResolves"},
		"a user's own, that is gone": {external, nil, notFound, "EndpointNotResolved|make it known to the DNS servers that the management cluster uses"},
	} {
		got := judgeName(test.published, test.addresses, test.err)
		reason, part, _ := strings.Cut(test.want, "|")
		if got.Reason != reason || (got.Verdict == Fine) != (reason == "EndpointResolves") || !strings.Contains(got.Message, part) || (part == "") != (got.Message == "") {
			t.Errorf("%s: found %+v, want %s", name, got, test.want)
		}
	}
}

func TestWhatNeedsNoLookUpIsNotLookedUp(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.says(Endpoint{Host: "10.0.0.1"}, Fine, "EndpointResolves")
	z.pass(time.Minute)
	z.says(Endpoint{Host: "c1.maas", Managed: true}, Unknown, "NoAddressPublished", "no machine of the control plane has joined")
	z.pass(time.Minute)
	if z.looked != 0 {
		t.Errorf("looked up %d times", z.looked)
	}
}

func TestANameThatResolvesIsLookedUpEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.answer = []string{"10.0.0.1"}
	z.says(Endpoint{Host: "c1.maas", Managed: true}, Unknown, "NoAddressPublished")
	z.says(z.managed, Unknown, "EndpointNotLookedUp", "is being looked up")
	z.pass(settleTime - time.Second)
	if z.looked != 0 {
		t.Error("looked up before DNS could know")
	}
	z.pass(time.Second)
	z.says(z.managed, Fine, "EndpointResolves")
	if z.looked != 1 || z.news != 1 {
		t.Errorf("looked up %d times, told %d times", z.looked, z.news)
	}
	z.pass(goodFor)
	if z.looked != 2 || z.news != 1 {
		t.Errorf("looked up %d times, told %d times", z.looked, z.news)
	}
	z.names.Forget(object)
	z.pass(goodFor)
	if z.looked != 2 {
		t.Error("a name that nobody watches is looked up")
	}
}

func TestOneFailureIsNotBelieved(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.err = notFound
	z.says(z.managed, Unknown, "EndpointNotLookedUp")
	z.pass(settleTime)
	z.says(z.managed, Unknown, "EndpointNotLookedUp")
	z.pass(badFor)
	z.says(z.managed, Wrong, "EndpointNotResolved")
	if z.looked != 2 || z.news != 1 {
		t.Errorf("looked up %d times, told %d times", z.looked, z.news)
	}
	z.pass(2 * badFor)
	if z.looked != 4 || z.news != 1 {
		t.Errorf("looked up %d times, told %d times", z.looked, z.news)
	}
	z.err, z.answer = nil, []string{"10.0.0.1"}
	z.pass(badFor)
	z.says(z.managed, Fine, "EndpointResolves")
	if z.news != 2 {
		t.Errorf("told %d times", z.news)
	}
}

func TestAChangeOfTheRecordGetsTimeToBecomeKnown(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.answer = []string{"10.0.0.1"}
	z.says(z.managed, Unknown, "EndpointNotLookedUp")
	z.pass(settleTime)
	moved := z.managed
	moved.Addresses = []string{"10.0.0.2"}
	z.says(moved, Fine, "EndpointResolves") // of before
	z.pass(settleTime)
	z.says(moved, Fine, "EndpointResolves")
	z.pass(badFor)
	z.says(moved, Wrong, "EndpointResolvesElsewhere")
	z.answer = []string{"10.0.0.2"}
	z.pass(badFor)
	z.says(moved, Fine, "EndpointResolves")
}

func TestAResolverThatHangsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	var looking atomic.Int32
	names := NewNames(func(ctx context.Context, _ string) ([]string, error) {
		looking.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	names.Watch(object, Endpoint{Host: "api.example.com"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); names.Round(ctx) }()
	for looking.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := names.Watch(object, Endpoint{Host: "api.example.com"}); got.Reason != "EndpointNotLookedUp" {
		t.Errorf("found %+v", got)
	}
	cancel()
	<-done
	if got := names.Watch(object, Endpoint{Host: "api.example.com"}); got.Reason != "EndpointNotLookedUp" {
		t.Errorf("the end of the manager says something of the name: %+v", got)
	}
}

func TestTheProcessResolverIsUsed(t *testing.T) {
	t.Parallel()
	names := NewNames(nil, nil)
	// An address, because a bare system knows no names.
	addresses, err := names.lookUp(t.Context(), "127.0.0.1")
	if err != nil || !slices.Equal(addresses, []string{"127.0.0.1"}) {
		t.Errorf("127.0.0.1 leads to %v, %v", addresses, err)
	}
}
