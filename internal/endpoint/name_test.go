package endpoint

import (
	"regexp"
	"strings"
	"testing"
)

func TestChosenHostIsOneLabelInTheDomain(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	for name, test := range map[string]struct{ cluster, domain, want string }{
		"plain":                    {"c1", "maas", "c1-abc123.maas"},
		"dots become hyphens":      {"prod.eu", "maas", "prod-eu-abc123.maas"},
		"capitals become small":    {"Prod", "Example.MAAS", "prod-abc123.example.maas"},
		"domain with dots":         {"c1", "k8s.example.com.", "c1-abc123.k8s.example.com"},
		"nothing usable":           {"...", "maas", "cluster-abc123.maas"},
		"long":                     {strings.Repeat("a", 80), "maas", strings.Repeat("a", 56) + "-abc123.maas"},
		"cut at a hyphen":          {strings.Repeat("a", 55) + "-bbbbbb", "maas", strings.Repeat("a", 55) + "-abc123.maas"},
		"letters of other scripts": {"clusterß", "maas", "cluster-abc123.maas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ChooseHost(test.cluster, test.domain, "abc123")
			if got != test.want {
				t.Errorf("host %q, want %q", got, test.want)
			}
			if first, _, _ := strings.Cut(got, "."); !label.MatchString(first) {
				t.Errorf("%q is not a label", first)
			}
		})
	}
}

func TestRandomPartsDifferAndHoldOnlySmallLettersAndDigits(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z0-9]+$`)
	seen := map[string]bool{}
	for range 1000 {
		suffix, token := NewSuffix(), NewToken()
		if len(suffix) != 6 || len(token) != 20 || !form.MatchString(suffix+token) {
			t.Fatalf("suffix %q, token %q", suffix, token)
		}
		if seen[token] {
			t.Fatalf("token %q was drawn twice", token)
		}
		seen[token] = true
	}
}
