package v1beta1

import "testing"

func TestSystemIDOfAProviderID(t *testing.T) {
	t.Parallel()
	for providerID, want := range map[string]string{
		NewProviderID("zone-a", "4y3h7n"): "4y3h7n",
		NewProviderID("", "4y3h7n"):       "4y3h7n",
		"maas:///zone-a/4y3h7n":           "4y3h7n",
		"":                                "",
		"maas:///":                        "",
		"maas:///4y3h7n":                  "",
		"maas:///zone-a/":                 "",
		"maas:///zone-a/4y3h7n/":          "",
		"maas:///zone-a/rack/4y3h7n":      "",
		"maas://zone-a/4y3h7n":            "",
		"aws:///zone-a/4y3h7n":            "",
		"4y3h7n":                          "",
	} {
		if got, ok := SystemIDOf(providerID); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t, want %q", providerID, got, ok, want)
		}
	}
}
