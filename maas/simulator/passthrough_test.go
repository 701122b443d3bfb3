package simulator_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// What MAAS judges better than its clients means the same to a list and to an allocate.
func TestListAndAllocateTakeTheSameHardwareConstraints(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		storage, interfaces string
		subnets             []string
		want                string // hostnames
		refused             bool
	}{
		"a disk that one machine has":       {storage: "root:900", want: "large"},
		"two disks":                         {storage: "root:100,data:100", want: ""},
		"an interface in a subnet":          {interfaces: "eth0:subnet_cidr=10.2.0.0/24", want: "lab"},
		"one subnet":                        {subnets: []string{"name:lab"}, want: "lab"},
		"two subnets that no machine joins": {subnets: []string{"name:lab", "10.1.0.0/24"}, want: ""},
		"subnet and disk":                   {subnets: []string{"10.1.0.0/24"}, storage: "100", want: "large small"},
		"a malformed disk":                  {storage: "root:big", refused: true},
		"a subnet that is not there":        {subnets: []string{"name:nope"}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, client, _ := start(t, simulator.Config{
				Subnets: []simulator.Subnet{{Name: "main", CIDR: "10.1.0.0/24"}, {Name: "lab", CIDR: "10.2.0.0/24"}},
				Machines: []simulator.Machine{
					{Hostname: "small", DiskGB: 480}, {Hostname: "large", DiskGB: 960}, {Hostname: "lab", DiskGB: 480, Subnet: "lab"},
				},
			})
			listed, listErr := client.Machines(t.Context(), maas.MachineFilter{Storage: test.storage, Interfaces: test.interfaces, Subnets: test.subnets})
			got := map[string]bool{}
			for _, m := range listed {
				got[m.Hostname] = true
			}
			m, allocateErr := client.Allocate(t.Context(), maas.AllocateParams{Storage: test.storage, Interfaces: test.interfaces, Subnets: test.subnets})
			switch {
			case test.refused:
				if !errors.Is(listErr, maas.ErrInvalid) || !errors.Is(allocateErr, maas.ErrInvalid) {
					t.Errorf("list: %v, allocate: %v, want both refused", listErr, allocateErr)
				}
				return
			case listErr != nil:
				t.Fatal(listErr)
			case test.want == "" && !errors.Is(allocateErr, maas.ErrConflict):
				t.Errorf("allocate: %v, want a conflict", allocateErr)
			case test.want != "" && (allocateErr != nil || !got[m.Hostname]):
				t.Errorf("allocate gave %v (%v), which the list has not", m, allocateErr)
			}
			want := strings.Fields(test.want)
			for _, hostname := range want {
				if !got[hostname] {
					t.Errorf("%s is not listed", hostname)
				}
			}
			if len(got) != len(want) {
				t.Errorf("listed %v, want %v", got, want)
			}
		})
	}
}
