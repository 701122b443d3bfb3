package placement_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
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

func anyOf(ids ...string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func avoids(level avoidance.Level, ids ...string) func(maas.Machine) avoidance.Level {
	return func(m maas.Machine) avoidance.Level {
		if slices.Contains(ids, m.SystemID) {
			return level
		}
		return avoidance.No
	}
}

func TestChooseRanksWhatFits(t *testing.T) {
	t.Parallel()
	const GB = 1_000_000_000
	for name, test := range map[string]struct {
		candidates []maas.Machine
		want       placement.Constraints
		prefer     placement.Preferences
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
		"the zone with the fewest machines of the control plane goes first, whatever is wasted": {
			candidates: []maas.Machine{machine("a"), machine("b", zone("z2"), size(64, 262144)), machine("c", zone("z3"), size(8, 16384)), machine("d", zone("z3"))},
			prefer:     placement.Preferences{PeersByZone: map[string]int{"z1": 2, "z2": 1}}, ranked: "d c b a",
		},
		"zones do not matter to a machine without peers": {
			candidates: []maas.Machine{machine("b"), machine("a", zone("z2"))}, ranked: "a b",
		},
		"what another claim asks for is never chosen": {
			candidates: []maas.Machine{machine("a"), machine("b"), machine("c")}, prefer: placement.Preferences{Taken: anyOf("a", "c")}, ranked: "b",
		},
		"one that failed comes last, whatever its zone and size": {
			candidates: []maas.Machine{machine("a"), machine("b", zone("z2"), size(64, 262144))},
			prefer:     placement.Preferences{PeersByZone: map[string]int{"z2": 2}, Avoided: avoids(avoidance.LastResort, "a")}, ranked: "b a",
		},
		"one that failed a moment ago is not chosen": {
			candidates: []maas.Machine{machine("a"), machine("b")}, prefer: placement.Preferences{Avoided: avoids(avoidance.Entirely, "a")}, ranked: "b",
		},
		"MAAS's judgement is obeyed": {
			candidates: []maas.Machine{machine("a"), machine("b"), machine("c")},
			want:       placement.Constraints{Storage: "root:900", Satisfying: map[string]bool{"b": true, "x": true}}, ranked: "b",
		},
		"constraints that MAAS was not asked about do not constrain": {
			candidates: []maas.Machine{machine("a")}, want: placement.Constraints{Storage: "root:900", Interfaces: "e:space=x", Subnets: []string{"1"}}, ranked: "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranked, why := placement.Choose(test.candidates, test.want, test.prefer)
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
		prefer     placement.Preferences
	}{
		"the design's example": {candidates: fleet, want: placement.Constraints{Pool: "workers", Tags: []string{"gpu"}},
			says: `no machine available: 14 in pool "workers", 3 of them have tag "gpu", none of these is Ready (2 Deployed, 1 Broken): add machines to MAAS, wait until some are released, or ask for less`},
		"the first constraint leaves none": {candidates: fleet, want: placement.Constraints{Pool: "worker"}, says: `no machine available: none of 15 machines is in pool "worker": put machines into it, or correct spec.resourcePool in a new MaasMachineTemplate; ZonesAndPoolsFound of the MaasCluster says whether the pool exists`},
		"one is left, then none": {candidates: fleet, want: placement.Constraints{Pool: "other", MinCPU: 16},
			says: `no machine available: 1 in pool "other", this one does not have 16 cores or more (spec.minCPU): add larger machines, or ask for less in a new MaasMachineTemplate`},
		"a constraint that takes nothing away is not mentioned": {candidates: fleet, want: placement.Constraints{Pool: "workers", Zone: "z1", MinMemoryMiB: 99999},
			says: `no machine available: 14 in pool "workers", none of these has 99999 MiB of memory or more (spec.minMemory): add larger machines, or ask for less in a new MaasMachineTemplate`},
		"all busy, nothing asked": {candidates: []maas.Machine{machine("a", state(maas.StatusDeployed))}, want: placement.Constraints{},
			says: `no machine available: the only machine is not Ready (Deployed): add machines to MAAS, wait until some are released, or ask for less`},
		"only a locked one": {candidates: []maas.Machine{machine("a", locked), machine("b", state(maas.StatusNew))}, want: placement.Constraints{},
			says: `no machine available: 1 of 2 machines is Ready, this one is locked (a): unlock one in MAAS`},
		"a tag that must not be there": {candidates: []maas.Machine{machine("a", tags("bad"))}, want: placement.Constraints{NotTags: []string{"bad"}},
			says: `no machine available: the only machine has tag "bad", which spec.notTags excludes (a): remove the tag from one, or drop it in a new MaasMachineTemplate`},
		"MAAS is empty": {want: placement.Constraints{Pool: "x"}, says: `no machine available: MAAS shows no machine to the API key's user: add machines and commission them, or look at that user's rights`},
		"one constraint that MAAS judges": {candidates: fleet, want: placement.Constraints{Pool: "workers", Storage: "root:900(ssd)", Satisfying: map[string]bool{}},
			says: `no machine available: 14 in pool "workers", 11 of them are Ready, none of these has storage "root:900(ssd)": add such machines, or ask for less in a new MaasMachineTemplate`},
		"all constraints that MAAS judges": {
			candidates: fleet, want: placement.Constraints{
				Pool: "other", Storage: "root:900", Interfaces: "eth0:space=dmz", Subnets: []string{"10.0.0.0/24", "space:lab"}, Satisfying: map[string]bool{"cpu": true},
			},
			says: `no machine available: 1 in pool "other", this one does not have storage "root:900" and interfaces "eth0:space=dmz" ` +
				`and subnet "10.0.0.0/24" and subnet "space:lab": add such machines, or ask for less in a new MaasMachineTemplate`},
		"MAAS's judgement of busy machines is not known": {candidates: []maas.Machine{machine("a", state(maas.StatusDeployed))},
			want: placement.Constraints{Storage: "root:900", Satisfying: map[string]bool{}}, says: `no machine available: the only machine is not Ready (Deployed): add machines to MAAS, wait until some are released, or ask for less`},
		"several have a tag that must not be there": {candidates: []maas.Machine{machine("a", tags("bad")), machine("b", tags("bad"))},
			want: placement.Constraints{NotTags: []string{"bad"}},
			says: `no machine available: all 2 machines have tag "bad", which spec.notTags excludes (a, b): remove the tag from one, or drop it in a new MaasMachineTemplate`},
		"many are locked": {candidates: []maas.Machine{machine("e", locked), machine("d", locked), machine("c", locked), machine("b", locked), machine("a", locked)},
			says: `no machine available: 5 machines are Ready, all of these are locked (a, b, c and 2 more): unlock one in MAAS`},
		"all are locked": {candidates: []maas.Machine{machine("a", locked), machine("b", locked)}, want: placement.Constraints{},
			says: `no machine available: 2 machines are Ready, all of these are locked (a, b): unlock one in MAAS`},
		"nothing was asked that MAAS judges": {candidates: []maas.Machine{machine("a"), machine("b")}, prefer: placement.Preferences{Taken: anyOf("a", "b")},
			want: placement.Constraints{Satisfying: map[string]bool{}},
			says: `no machine available: 2 machines are Ready, all of these were taken by others first (a, b): CAPMAAS tries again by itself`},
		"another claim was quicker": {candidates: fleet, want: placement.Constraints{Pool: "other"}, prefer: placement.Preferences{Taken: anyOf("x")},
			says: `no machine available: 1 in pool "other", this one was taken by others first (x): CAPMAAS tries again by itself`},
		"all failed a moment ago": {candidates: []maas.Machine{machine("a"), machine("b")}, prefer: placement.Preferences{Avoided: avoids(avoidance.Entirely, "a", "b")},
			says: `no machine available: 2 machines are Ready, all of these are avoided after failed deployments (a, b): look at them in MAAS; CAPMAAS tries them again in a while if nothing else fits, or at once without their tag capmaas-avoid-until-…`},
		"other claims were quicker": {candidates: []maas.Machine{machine("a"), machine("b"), machine("c", state(maas.StatusBroken))},
			prefer: placement.Preferences{Taken: anyOf("a", "b")},
			says:   `no machine available: 2 of 3 machines are Ready, all of these were taken by others first (a, b): CAPMAAS tries again by itself`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranked, why := placement.Choose(test.candidates, test.want, test.prefer)
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
	placement.Choose(in, placement.Constraints{}, placement.Preferences{})
	if in[0].SystemID != "b" || in[1].SystemID != "c" || in[2].SystemID != "a" {
		t.Errorf("the candidates were reordered: %v %v %v", in[0].SystemID, in[1].SystemID, in[2].SystemID)
	}
}

func TestSuitableAsksNotWhoHasAMachine(t *testing.T) {
	t.Parallel()
	fleet := []maas.Machine{machine("c", state(maas.StatusDeployed)), machine("b", locked), machine("a", pool("other")), machine("d", tags("gpu"))}
	want := placement.Constraints{Pool: "workers", Storage: "root:900(ssd)", Satisfying: map[string]bool{}}
	suitable, why := placement.Suitable(fleet, want)
	var ids []string
	for _, m := range suitable {
		ids = append(ids, m.SystemID)
	}
	if got := strings.Join(ids, " "); got != "c b d" || why.Details() != "" {
		t.Errorf("got %q (%s), want all of the pool, in their order", got, why)
	}
	want.Tags, want.MinCPU = []string{"gpu"}, 32
	suitable, why = placement.Suitable(fleet, want)
	const says = `3 in pool "workers", 1 of them has tag "gpu", this one does not have 32 cores or more (spec.minCPU): add larger machines, or ask for less in a new MaasMachineTemplate`
	if len(suitable) != 0 || why.Details() != says {
		t.Errorf("got %d machines and %q, want none and %q", len(suitable), why.Details(), says)
	}
}

func TestMachinesForWhichThereIsNoImageAreLeftOut(t *testing.T) {
	t.Parallel()
	want := placement.Constraints{Image: "custom/x", ImageFor: []string{"amd64", "ppc64el"}}
	mixed := []maas.Machine{machine("a", arch("arm64/generic")), machine("b"), machine("c", arch("ppc64el/generic"))}
	fitting, _ := placement.Choose(mixed, want, placement.Preferences{})
	if len(fitting) != 2 || fitting[0].SystemID != "b" || fitting[1].SystemID != "c" {
		t.Errorf("fitting: %v", fitting)
	}
	for name, test := range map[string]struct {
		machines []maas.Machine
		want     string
	}{
		"none":           {mixed[:1], "no machine available: the only machine is not of an architecture for which MAAS has image custom/x (amd64, ppc64el): upload or import it for"},
		"some":           {[]maas.Machine{mixed[0], machine("b", locked)}, "no machine available: 1 of an architecture for which MAAS has image custom/x (amd64, ppc64el), this one is locked"},
		"no word on all": {[]maas.Machine{machine("b", locked)}, "no machine available: 1 machine is Ready, this one is locked"},
	} {
		if _, why := placement.Choose(test.machines, want, placement.Preferences{}); !strings.HasPrefix(why.String(), test.want) {
			t.Errorf("%s: %s", name, why)
		}
	}
}
