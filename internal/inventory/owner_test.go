package inventory

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Somebody may have taken as many of the machines that are followed as are left: whose are asked for must not be left to chance.
func TestTheOwnerOfMostMachinesIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		owners map[string]string // by system ID
		want   string
	}{
		"nobody":                   {map[string]string{"a": ""}, ""},
		"one":                      {map[string]string{"a": "us"}, "us"},
		"most":                     {map[string]string{"a": "us", "b": "alice", "c": "us"}, "us"},
		"as many: the first":       {map[string]string{"a": "us", "b": "alice"}, "alice"},
		"as many, and some nobody": {map[string]string{"a": "us", "b": "alice", "c": "", "d": ""}, "alice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			v := newView()
			for id, owner := range tc.owners {
				v.follow(types.NamespacedName{Name: id}, id, Settled, now)
				v.learned(&maas.Machine{SystemID: id, Owner: owner}, now, now)
			}
			for range 50 {
				if got := v.owner(); got != tc.want {
					t.Fatalf("owner %q, want %q", got, tc.want)
				}
			}
		})
	}
}
