package placement_test

import (
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// machine makes a Ready one with 4 cores, 8 GiB and a disk of 100 GB, in zone z1 and pool workers, and changes it.
func machine(id string, change ...func(*maas.Machine)) maas.Machine {
	m := maas.Machine{
		SystemID: id, Status: maas.StatusReady, Architecture: "amd64/generic", CPUCount: 4, MemoryMiB: 8192, StorageMB: 100_000,
		Zone: maas.Zone{Name: "z1"}, Pool: maas.ResourcePool{Name: "workers"}, BootDisk: &maas.BlockDevice{SizeBytes: 100_000_000_000},
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func size(cores, memoryMiB int) func(*maas.Machine) {
	return func(m *maas.Machine) { m.CPUCount, m.MemoryMiB = cores, memoryMiB }
}
func state(s maas.Status) func(*maas.Machine)  { return func(m *maas.Machine) { m.Status = s } }
func tags(names ...string) func(*maas.Machine) { return func(m *maas.Machine) { m.Tags = names } }
func pool(name string) func(*maas.Machine)     { return func(m *maas.Machine) { m.Pool.Name = name } }
func zone(name string) func(*maas.Machine)     { return func(m *maas.Machine) { m.Zone.Name = name } }
func arch(name string) func(*maas.Machine)     { return func(m *maas.Machine) { m.Architecture = name } }
func locked(m *maas.Machine)                   { m.Locked = true }
func disks(boot int64, others ...int64) func(*maas.Machine) {
	return func(m *maas.Machine) {
		m.BootDisk = nil
		if boot > 0 {
			m.BootDisk = &maas.BlockDevice{SizeBytes: boot}
		}
		for _, size := range others {
			m.BlockDevices = append(m.BlockDevices, maas.BlockDevice{SizeBytes: size})
		}
	}
}

func TestChooseRanksWhatFits(t *testing.T) {
	t.Parallel()
	const GB = 1_000_000_000
	for name, test := range map[string]struct {
		candidates []maas.Machine
		want       placement.Constraints
		ranked     string // system IDs, best first
	}{
		"anything Ready fits when nothing is asked": {
			candidates: []maas.Machine{machine("a"), machine("b", state(maas.StatusDeployed))}, ranked: "a",
		},
		"locked machines are left alone": {candidates: []maas.Machine{machine("a", locked), machine("b")}, ranked: "b"},
		"the cheapest machine that fits goes first": {
			candidates: []maas.Machine{machine("big", size(64, 262144)), machine("small", size(2, 4096)), machine("right", size(8, 16384))},
			want:       placement.Constraints{MinCPU: 8, MinMemoryMiB: 8192}, ranked: "right big",
		},
		"equal machines rank by system ID, always the same way": {
			candidates: []maas.Machine{machine("b"), machine("c"), machine("a")}, ranked: "a b c",
		},
		"the zone is obeyed": {
			candidates: []maas.Machine{machine("a"), machine("b", zone("z2"))}, want: placement.Constraints{Zone: "z2"}, ranked: "b",
		},
		"the pool is obeyed": {
			candidates: []maas.Machine{machine("a"), machine("b", pool("gpu"))}, want: placement.Constraints{Pool: "gpu"}, ranked: "b",
		},
		"every tag is needed": {
			candidates: []maas.Machine{machine("a", tags("ssd")), machine("b", tags("ssd", "gpu")), machine("c", tags("gpu"))},
			want:       placement.Constraints{Tags: []string{"gpu", "ssd"}}, ranked: "b",
		},
		"one unwanted tag is enough": {
			candidates: []maas.Machine{machine("a", tags("old", "ssd")), machine("b", tags("ssd")), machine("c", tags("bad"))},
			want:       placement.Constraints{NotTags: []string{"old", "bad"}}, ranked: "b",
		},
		"amd64 means every amd64": {
			candidates: []maas.Machine{machine("a"), machine("b", arch("arm64/generic")), machine("c", arch("amd64/hwe"))},
			want:       placement.Constraints{Architecture: "amd64"}, ranked: "a c",
		},
		"amd64/generic means just that": {
			candidates: []maas.Machine{machine("a"), machine("c", arch("amd64/hwe"))},
			want:       placement.Constraints{Architecture: "amd64/generic"}, ranked: "a",
		},
		"the boot disk counts, in units of 10^9 bytes": {
			candidates: []maas.Machine{machine("a", disks(60*GB, 60*GB, 900*GB)), machine("b", disks(100*GB-1)), machine("c", disks(100*GB))},
			want:       placement.Constraints{MinDiskGB: 100}, ranked: "c",
		},
		"without a known boot disk the largest counts": {
			candidates: []maas.Machine{machine("a", disks(0, 20*GB, 200*GB)), machine("b", disks(0, 20*GB)), machine("c", disks(0))},
			want:       placement.Constraints{MinDiskGB: 100}, ranked: "a",
		},
		"exactly enough is enough": {
			candidates: []maas.Machine{machine("a", size(4, 8192)), machine("b", size(3, 8192)), machine("c", size(4, 8191))},
			want:       placement.Constraints{MinCPU: 4, MinMemoryMiB: 8192}, ranked: "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranked, why := placement.Choose(test.candidates, test.want)
			var ids []string
			for _, m := range ranked {
				ids = append(ids, m.SystemID)
			}
			if got := strings.Join(ids, " "); got != test.ranked {
				t.Errorf("ranked %q, want %q", got, test.ranked)
			}
			if why.String() != "" {
				t.Errorf("there is nothing to explain when a machine fits, got %q", why)
			}
		})
	}
}

func TestChooseExplainsWhyNothingFits(t *testing.T) {
	t.Parallel()
	var fleet []maas.Machine
	for range 11 {
		fleet = append(fleet, machine("cpu"))
	}
	fleet = append(fleet, machine("g1", tags("gpu"), state(maas.StatusDeployed)), machine("g2", tags("gpu"), state(maas.StatusBroken)),
		machine("g3", tags("gpu"), state(maas.StatusDeployed)), machine("x", pool("other")))
	for name, test := range map[string]struct {
		candidates []maas.Machine
		want       placement.Constraints
		says       string
	}{
		"the design's example": {fleet, placement.Constraints{Pool: "workers", Tags: []string{"gpu"}},
			`no machine available: 14 in pool "workers", 3 of them have tag "gpu", none of these is Ready (2 Deployed, 1 Broken)`},
		"the first constraint leaves none": {fleet, placement.Constraints{Pool: "worker"}, `no machine available: none is in pool "worker"`},
		"one is left, then none": {fleet, placement.Constraints{Pool: "other", MinCPU: 16},
			`no machine available: 1 in pool "other", none of these has 16 cores`},
		"a constraint that takes nothing away is not mentioned": {fleet, placement.Constraints{Pool: "workers", Zone: "z1", MinMemoryMiB: 99999},
			`no machine available: 14 in pool "workers", none of these has 99999 MiB of memory`},
		"all busy, nothing asked": {[]maas.Machine{machine("a", state(maas.StatusDeployed))}, placement.Constraints{},
			`no machine available: none is Ready (1 Deployed)`},
		"only a locked one": {[]maas.Machine{machine("a", locked), machine("b", state(maas.StatusNew))}, placement.Constraints{},
			`no machine available: 1 of 2 machines is Ready, none of these is unlocked`},
		"a tag that must not be there": {[]maas.Machine{machine("a", tags("bad"))}, placement.Constraints{NotTags: []string{"bad"}},
			`no machine available: none is without tag "bad"`},
		"MAAS is empty": {nil, placement.Constraints{Pool: "x"}, `no machine available: MAAS shows us no machine at all`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranked, why := placement.Choose(test.candidates, test.want)
			if len(ranked) != 0 {
				t.Fatalf("found %d machines", len(ranked))
			}
			if why.String() != test.says {
				t.Errorf("got  %s\nwant %s", why, test.says)
			}
		})
	}
}

func TestChooseLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	in := []maas.Machine{machine("b", state(maas.StatusDeployed)), machine("c"), machine("a")}
	placement.Choose(in, placement.Constraints{})
	if in[0].SystemID != "b" || in[1].SystemID != "c" || in[2].SystemID != "a" {
		t.Errorf("the candidates were reordered: %v %v %v", in[0].SystemID, in[1].SystemID, in[2].SystemID)
	}
}
