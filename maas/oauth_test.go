package maas

import (
	"context"
	"regexp"
	"strconv"
	"testing"
	"time"
)

func TestEveryRequestIsSignedWithAFreshNonceAndTheTime(t *testing.T) {
	t.Parallel()
	s := serve(t, text(200, "application/json", "[]"))
	now := time.Unix(1767225600, 0)
	c := clientOf(t, s.URL, func(c *Config) { c.Now = func() time.Time { return now } })
	header := regexp.MustCompile(`^OAuth oauth_version="1\.0", oauth_signature_method="PLAINTEXT", ` +
		`oauth_consumer_key="` + testConsumer + `", oauth_token="` + testToken + `", oauth_signature="%26` + testSecret + `", ` +
		`oauth_timestamp="(\d+)", oauth_nonce="([0-9a-f]{32})"$`)
	const calls = 50
	for range calls {
		if _, err := c.Zones(context.Background()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	nonces := map[string]bool{}
	for i, r := range s.all() {
		m := header.FindStringSubmatch(r.authorization)
		if m == nil {
			t.Fatalf("header of request %d has another form", i)
		}
		if want := strconv.Itoa(1767225600 + i); m[1] != want {
			t.Errorf("request %d is stamped %s, want %s", i, m[1], want)
		}
		nonces[m[2]] = true
	}
	if len(nonces) != calls {
		t.Errorf("%d different nonces in %d requests", len(nonces), calls)
	}
}

func TestVersionIsAskedForWithoutTheKey(t *testing.T) {
	t.Parallel()
	c, s := answering(t, recordings(t, "3.7.3")["version"])
	v, err := c.Version(context.Background())
	if err != nil || v.Version != "3.7.3" {
		t.Fatalf("got %+v, %v", v, err)
	}
	if r := s.only(t); r.authorization != "" || r.path != "/MAAS/api/2.0/version/" {
		t.Errorf("path %s, signed: %t", r.path, r.authorization != "")
	}
}

func TestPercentEncodingFollowsOAuth(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"azAZ09-._~": "azAZ09-._~", "&s": "%26s", "a b": "a%20b", "+/=": "%2B%2F%3D", `",`: "%22%2C", "é": "%C3%A9",
	} {
		if got := percentEncode(in); got != want {
			t.Errorf("percentEncode(%q) = %q, want %q", in, got, want)
		}
	}
}
