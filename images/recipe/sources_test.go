package recipe

import (
	"slices"
	"testing"
)

func TestThePackagesComeFromTheHostsMirrors(t *testing.T) {
	t.Parallel()
	const list = "# machines\ndeb http://deb.example/debian bookworm main # all\ndeb http://deb.example/debian-security bookworm-security main contrib\n"
	for _, test := range []struct{ name, host, main, security string }{
		{
			"a host with sources in the new form",
			"Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: x\n\nTypes: deb\nURIs: http://mirror.example/debian-security\nSuites: y\n",
			"http://mirror.example/debian", "http://mirror.example/debian-security",
		},
		{
			"a host with sources in the old form",
			"deb [signed-by=/k] https://mirror.example/d bookworm main\ndeb http://other.example/security/ x main\n",
			"https://mirror.example/d", "http://other.example/security/",
		},
		{"a host with one mirror", "deb http://mirror.example/debian bookworm main\n", "http://mirror.example/debian", "http://deb.example/debian-security"},
		{"a host that says nothing", "# deb http://old.example/ x main\ndeb-src http://src.example/ x main\n", "http://deb.example/debian", "http://deb.example/debian-security"},
	} {
		want := []string{"deb " + test.main + " bookworm main", "deb " + test.security + " bookworm-security main contrib"}
		if got := onMirrors(list, mirrorsIn(test.host)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
