package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func inventory(t *testing.T, cfg Config) []*machine {
	t.Helper()
	region, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return region.state.machines.all()
}

func TestGroupsGoRoundTheirLists(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Zones: []Zone{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Pools: []Pool{{Name: "big"}},
		Machines: []Machine{{Hostname: "alone"}},
		Inventory: []Group{
			{
				Count: 4, Hostname: "node-{n:3}", Zones: []string{"a", "b", "c"}, Pools: []string{"big"}, Tags: [][]string{{"x", "y"}, {}},
				Cores: []int{8, 16}, MemoryMiB: []int{1024, 2048}, DiskGB: []int{100, -1}, Architectures: []string{"arm64"}, PowerTypes: []string{"manual"},
				Subnets: []string{"10.20.0.0/21", "none"},
			},
			{Count: 2, Hostname: "x{n}-{n:02}"},
			{Count: 1, Hostname: "last"},
		},
	}
	var got []string
	zones := []string{"", "default", "a", "b", "c"}
	for _, m := range inventory(t, cfg) {
		got = append(got, fmt.Sprintf("%s %s %d %v %d %d disks=%d nics=%d %s %s",
			m.hostname, zones[m.zone], m.pool, m.tags, m.cores, m.memoryMiB, len(m.disks), len(m.nics), m.architecture, m.powerType))
	}
	want := []string{
		"alone default 0 [] 4 8192 disks=1 nics=1 amd64/generic ipmi",
		"node-001 a 1 [x y] 8 1024 disks=1 nics=1 arm64/generic manual",
		"node-002 b 1 [] 16 2048 disks=0 nics=0 arm64/generic manual",
		"node-003 c 1 [x y] 8 1024 disks=1 nics=1 arm64/generic manual",
		"node-004 a 1 [] 16 2048 disks=0 nics=0 arm64/generic manual",
		"x1-01 default 0 [] 4 8192 disks=1 nics=1 amd64/generic ipmi",
		"x2-02 default 0 [] 4 8192 disks=1 nics=1 amd64/generic ipmi",
		"last default 0 [] 4 8192 disks=1 nics=1 amd64/generic ipmi",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGroupsDrawFromTheSeed(t *testing.T) {
	t.Parallel()
	kinds := func(seed int64, draw bool) (kinds []string, ids []string) {
		group := Group{Count: 200, Hostname: "n{n}", Draw: draw, Cores: []int{1, 2, 3, 4}, MemoryMiB: []int{1, 2, 3, 4}}
		for _, m := range inventory(t, Config{Seed: seed, Inventory: []Group{group}}) {
			kinds = append(kinds, fmt.Sprintf("%d/%d", m.cores, m.memoryMiB))
			ids = append(ids, m.systemID)
		}
		return kinds, ids
	}
	one, ids := kinds(1, true)
	again, _ := kinds(1, true)
	other, _ := kinds(2, true)
	round, sameIDs := kinds(1, false)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Error("the seed does not decide what is drawn")
	}
	distinct := func(list []string) int {
		slices.Sort(list)
		return len(slices.Compact(list))
	}
	if n, m := distinct(one), distinct(round); n != 16 || m != 4 {
		t.Errorf("of 16 kinds %d were drawn, and %d came in turn, want all, and 4", n, m)
	}
	if !slices.Equal(ids, sameIDs) {
		t.Error("drawing changes system IDs")
	}
}

func TestInventoryErrorsNameTheGroup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		group Group
		want  string
	}{
		{Group{Count: 2, Hostname: "node"}, `"node" has no {n}`},
		{Group{Count: 1}, "hostname is missing"},
		{Group{Count: -1, Hostname: "n{n}"}, "count is -1"},
		{Group{Count: 1, Hostname: "n{m}"}, "no pattern"},
		{Group{Count: 1, Hostname: "n_{n}"}, "no pattern"},
		{Group{Count: 1, Hostname: "n{n:99}"}, "no pattern"},
		{Group{Count: 3, Hostname: "n{n}", Zones: []string{"default", "z"}}, `machine "n2": no zone "z"`},
		{Group{Count: 2, Hostname: "taken{n}"}, `machine "taken2": there is another one of that name`},
	} {
		_, err := New(Config{Machines: []Machine{{Hostname: "taken2"}}, Inventory: []Group{{Count: 1, Hostname: "fine"}, tt.group}})
		if err == nil || !strings.Contains(err.Error(), "inventory group 2 ("+fmt.Sprintf("%q", tt.group.Hostname)+"): ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %s", tt.group, err, tt.want)
		}
	}
}
