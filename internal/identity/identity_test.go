package identity

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// newWorld returns an identity against a region, with a clock that the test moves.
func newWorld(t *testing.T) (*Identity, *simulator.Region, func(time.Duration)) {
	t.Helper()
	region, err := simulator.New(simulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := maas.New(maas.Config{Endpoint: server.URL, APIKey: simulator.DefaultAPIKey})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	i := New(client)
	i.now = func() time.Time { return now }
	return i, region, func(d time.Duration) { now = now.Add(d) }
}

func TestTheUserIsRememberedForAMinute(t *testing.T) {
	t.Parallel()
	i, region, advance := newWorld(t)
	ask := func(wantRequests int) {
		t.Helper()
		user, err := i.User(t.Context())
		if err != nil || user.Username != "admin" || !user.IsSuperuser {
			t.Errorf("user %+v, %v", user, err)
		}
		if got := len(region.Requests()); got != wantRequests {
			t.Errorf("MAAS was asked %d times, want %d", got, wantRequests)
		}
	}
	ask(1)
	advance(fresh - time.Second)
	ask(1)
	advance(time.Second)
	ask(2)
}

func TestAFailureIsRememberedForSecondsOnly(t *testing.T) {
	t.Parallel()
	i, region, advance := newWorld(t)
	region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: http.StatusServiceUnavailable} })
	for range 2 {
		if _, err := i.User(t.Context()); !errors.Is(err, maas.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
	}
	if got := len(region.Requests()); got != 1 {
		t.Errorf("MAAS was asked %d times, want once", got)
	}
	region.SetIntercept(nil)
	advance(failureFresh)
	if user, err := i.User(t.Context()); err != nil || user.Username != "admin" {
		t.Errorf("user %+v, %v", user, err)
	}
}

func TestAnswersInWords(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		user maas.User
		err  error
	}{
		"MAAS answers; the key belongs to root":                                                      {maas.User{Username: "root", IsSuperuser: true}, nil},
		"MAAS answers; the key belongs to u, who is no administrator: DNS records cannot be written": {maas.User{Username: "u"}, nil},
		"MAAS is not available: maas: whoami: the API key was not accepted":                          {maas.User{}, &maas.Error{Kind: maas.KindUnauthorized, Operation: "whoami"}},
	} {
		if got := describe(test.user, test.err); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}
