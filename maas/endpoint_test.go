package maas

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestEndpointIsTakenInEveryFormPeopleType(t *testing.T) {
	t.Parallel()
	const plain = "http://maas.example:5240/MAAS/api/2.0/"
	for typed, want := range map[string]string{
		"http://maas.example:5240":                         plain,
		"http://maas.example:5240/":                        plain,
		"http://maas.example:5240/MAAS":                    plain,
		"http://maas.example:5240/MAAS/":                   plain,
		"http://maas.example:5240//MAAS//":                 plain,
		"http://maas.example:5240/MAAS/api":                plain,
		"http://maas.example:5240/MAAS/api/2.0":            plain,
		"http://maas.example:5240/MAAS/api/2.0/":           plain,
		"http://maas.example:5240/MAAS/api/2.0/machines/":  plain,
		"http://maas.example:5240/MAAS/api/1.0/":           plain,
		"http://maas.example:5240/MAAS/r/machines":         plain,
		"http://maas.example:5240/MAAS/r/machine/4y3h7n":   plain,
		"http://maas.example:5240/MAAS/#/machines":         plain,
		"http://maas.example:5240/MAAS/?next=%2FMAAS%2Fr":  plain,
		"http://maas.example:5240/maas":                    plain,
		"http://maas.example:5240/Maas/":                   plain,
		"HTTP://MAAS.example:5240/MAAS":                    plain,
		"  http://maas.example:5240/MAAS\n":                plain,
		"maas.example:5240":                                plain,
		"maas.example:5240/MAAS/":                          plain,
		"//maas.example:5240/MAAS/":                        plain,
		"maas.example":                                     plain,
		"maas.example/MAAS":                                plain,
		"http://maas.example":                              "http://maas.example/MAAS/api/2.0/",
		"https://maas.example/MAAS":                        "https://maas.example/MAAS/api/2.0/",
		"maas.example:5443":                                "https://maas.example:5443/MAAS/api/2.0/",
		"maas.example:443/MAAS":                            "https://maas.example:443/MAAS/api/2.0/",
		"10.0.0.5":                                         "http://10.0.0.5:5240/MAAS/api/2.0/",
		"10.0.0.5:80":                                      "http://10.0.0.5:80/MAAS/api/2.0/",
		"http://[fd00::1]:5240/MAAS":                       "http://[fd00::1]:5240/MAAS/api/2.0/",
		"[fd00::1]:5240":                                   "http://[fd00::1]:5240/MAAS/api/2.0/",
		"fd00::1":                                          "http://[fd00::1]:5240/MAAS/api/2.0/",
		"https://proxy.example/infra/MAAS/":                "https://proxy.example/infra/MAAS/api/2.0/",
		"https://proxy.example/infra/MAAS/api/2.0/":        "https://proxy.example/infra/MAAS/api/2.0/",
		"https://proxy.example/infra":                      "https://proxy.example/infra/MAAS/api/2.0/",
		"https://proxy.example/maas/MAAS":                  "https://proxy.example/maas/MAAS/api/2.0/",
		"https://proxy.example/maas/api/2.0/":              "https://proxy.example/maas/api/2.0/",
		"https://proxy.example/api/2.0/machines":           "https://proxy.example/api/2.0/",
		"https://proxy.example/a%20b/MAAS":                 "https://proxy.example/a%20b/MAAS/api/2.0/",
		"http://maas.example:5240/MAAS/../MAAS/./api/2.0/": plain,
	} {
		got, err := normaliseEndpoint(typed)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", typed, got, err, want)
		}
	}
}

func TestEndpointThatCannotBeOneIsRefusedWithoutEcho(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"", "   ", "http://", "https:///MAAS", "ftp://maas.example/", "http://maas.example:port", "http://maas.example:0",
		"http://maas.example:70000/MAAS", "http://maas.example:", "http://admin:hunter2secret@maas.example/MAAS",
		testKey, "http://maas example/", "http://maas.example/%zz", "/MAAS", "http://[fd00::1", "\x00",
	} {
		_, err := New(Config{Endpoint: typed, APIKey: testKey})
		var wrong *ConfigError
		if !errors.As(err, &wrong) || wrong.Field != "Endpoint" {
			t.Errorf("%q: got %v, want a ConfigError of Endpoint", typed, err)
			continue
		}
		if !strings.Contains(wrong.Message, "http://maas.example.com:5240/MAAS") {
			t.Errorf("%q: no example in %q", typed, wrong.Message)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is in %q", err)
		}
		checkMessage(t, err)
	}
}

func TestWhatPeopleKnowAMAASBy(t *testing.T) {
	t.Parallel()
	c := clientOf(t, "https://proxy.example/infra/MAAS/api/2.0/")
	if got, want := c.MachineURL("4y3h7n"), "https://proxy.example/infra/MAAS/r/machine/4y3h7n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.Endpoint(), "https://proxy.example/infra/MAAS/api/2.0/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.Host(), "proxy.example"; got != want {
		t.Errorf("host: got %s, want %s", got, want)
	}
}

func FuzzEndpointIsStableOnceNormalised(f *testing.F) {
	for _, seed := range []string{"maas", "http://h:5240/MAAS", "h/maas/api/2.0", "https://h/x/MAAS/r", "[::1]:80", "fd00::1", "a%2Fb/MAAS", "h//..//MAAS"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		once, err := normaliseEndpoint(typed)
		if err != nil {
			return
		}
		u, err := url.Parse(once)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasSuffix(once, "/api/2.0/") {
			t.Fatalf("%q became %q (%v)", typed, once, err)
		}
		if twice, err := normaliseEndpoint(once); err != nil || twice != once {
			t.Fatalf("%q became %q, then %q (%v)", typed, once, twice, err)
		}
	})
}
