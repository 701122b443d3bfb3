package management

import (
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestRegionHasMachinesOfEveryKindInEveryZone(t *testing.T) {
	t.Parallel()
	key, err := newAPIKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 8, 200} {
		config := newRegion(count, key, "", nil)
		region, err := simulator.New(config)
		if err != nil {
			t.Fatalf("%d machines: %v", count, err)
		}
		names, zones := map[string]bool{}, map[string]bool{}
		for _, m := range region.Snapshot().Machines {
			names[m.Hostname], zones[m.Zone] = true, true
			if m.StatusName != "Ready" {
				t.Errorf("%s is %s", m.Hostname, m.StatusName)
			}
		}
		region.Close()
		if len(names) != count {
			t.Errorf("%d machines have %d names", count, len(names))
		}
		if count >= 8 && len(zones) != 3 {
			t.Errorf("%d machines are in the zones %v", count, zones)
		}
	}
}
