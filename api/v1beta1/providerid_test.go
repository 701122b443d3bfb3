package v1beta1

import (
	"strings"
	"testing"
)

func TestSystemIDOfAProviderID(t *testing.T) {
	t.Parallel()
	for providerID, want := range map[string]string{
		NewProviderID("zone-a", "4y3h7n"): "4y3h7n",
		NewProviderID("", "4y3h7n"):       "4y3h7n",
		"maas:///zone-a/4y3h7n":           "4y3h7n",
		NewProviderID("a/b\n", "4y3h7n"):  "4y3h7n",
		"":                                "",
		"maas:///":                        "",
		"maas:///4y3h7n":                  "",
		"maas:///zone-a/":                 "",
		"maas:///zone-a/4y3h7n/":          "",
		"maas:///zone-a/rack/4y3h7n":      "",
		"maas://zone-a/4y3h7n":            "",
		"aws:///zone-a/4y3h7n":            "",
		"4y3h7n":                          "",
		"maas:///zone-a/..":               "",
		"maas:///zone-a/?op=release":      "",
		"maas:///zone-a/4y3h7n#":          "",
		"maas:///zone-a/4y3h7n\n":         "",
		"maas:///zone-a/4y3h7n%2f":        "",
		"maas:///zone-a/4y3hžn":           "",
		"maas:///zone a, b/4y3h7n":        "4y3h7n",
	} {
		if got, ok := SystemIDOf(providerID); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t, want %q", providerID, got, ok, want)
		}
	}
}

func TestSystemIDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4y3h7n": true, "ABC-d_1": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "../users": false, "a/b": false, "?op=release": false, "a b": false, "a\x00": false, "é": false,
	} {
		if got := IsSystemID(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzProviderIDs(f *testing.F) {
	for _, seed := range []string{"maas:///z/4y3h7n", "maas:////4y3h7n", "maas:///z/../users", "maas:///z/?op=x", "aws:///z/i", "maas:///"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, providerID string) {
		id, ok := SystemIDOf(providerID)
		if ok != (id != "") || ok && !IsSystemID(id) {
			t.Fatalf("%q: %q, %t", providerID, id, ok)
		}
		if ok && !strings.HasSuffix(providerID, "/"+id) {
			t.Errorf("%q does not end in %q", providerID, id)
		}
		// Whatever the zone is called, the provider ID is read back.
		if got, _ := SystemIDOf(NewProviderID(providerID, "4y3h7n")); got != "4y3h7n" {
			t.Errorf("zone %q: %q", providerID, got)
		}
	})
}
