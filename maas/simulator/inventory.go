package simulator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// Group is a number of machines that are made by a pattern. A list that is
// empty leaves the field of Machine at its default. Machine i, from 0, has of
// each list the entry i modulo its length, so lists of one length go together,
// like the kinds of a machine; with Draw it has entries that are drawn from the
// region's seed, each list by itself.
type Group struct {
	// Count is how many there are.
	Count int `json:"count"`
	// Hostname is a pattern in which {n} is the number in the group, from 1, and
	// {n:3} the same with zeros before it to three digits: "node-{n:3}" gives
	// node-001, node-002, … It may lack the number only if Count is 1.
	Hostname string `json:"hostname"`
	// Draw draws from the lists instead of going round.
	Draw bool `json:"draw,omitempty"`
	// Zones, Pools and Subnets have to be there, as those of Machine.
	Zones []string `json:"zones,omitempty"`
	Pools []string `json:"pools,omitempty"`
	// Tags is a list of sets: a machine has all tags of one.
	Tags          [][]string `json:"tags,omitempty"`
	Cores         []int      `json:"cores,omitempty"`
	MemoryMiB     []int      `json:"memoryMiB,omitempty"`
	DiskGB        []int      `json:"diskGB,omitempty"`
	Subnets       []string   `json:"subnets,omitempty"`
	Architectures []string   `json:"architectures,omitempty"`
	PowerTypes    []string   `json:"powerTypes,omitempty"`
}

// numberForm is a number in a pattern, of which one may say the least digits.
func numberForm() *regexp.Regexp { return regexp.MustCompile(`\{n(?::0?([1-9]))?\}`) }

// addInventory makes the machines of all groups. The lock is held.
func (r *Region) addInventory() error {
	from := r.cfg.draws("inve")
	for i, g := range r.cfg.Inventory {
		if err := r.addGroup(g, from); err != nil {
			return fmt.Errorf("inventory group %d (%q): %w", i+1, g.Hostname, err)
		}
	}
	return nil
}

func (r *Region) addGroup(g Group, from *rand.Rand) error {
	name, err := g.namer()
	if err != nil {
		return err
	}
	for i := range g.Count {
		choose := func(n int) int { return i % n }
		if g.Draw {
			choose = from.IntN
		}
		m := g.machine(choose)
		m.Hostname = name(i + 1)
		if _, err := r.addMachine(m); err != nil {
			return err
		}
	}
	return nil
}

// machine makes a machine without a name; choose picks one of n.
func (g Group) machine(choose func(n int) int) Machine {
	return Machine{
		Zone: pick(g.Zones, choose), Pool: pick(g.Pools, choose), Tags: pick(g.Tags, choose),
		Cores: pick(g.Cores, choose), MemoryMiB: pick(g.MemoryMiB, choose), DiskGB: pick(g.DiskGB, choose),
		Subnet: pick(g.Subnets, choose), Architecture: pick(g.Architectures, choose), PowerType: pick(g.PowerTypes, choose),
	}
}

func pick[T any](list []T, choose func(n int) int) T {
	var none T
	if len(list) == 0 {
		return none
	}
	return list[choose(len(list))]
}

// namer reads the pattern of hostnames.
func (g Group) namer() (func(n int) string, error) {
	form := numberForm()
	name := func(n int) string {
		return form.ReplaceAllStringFunc(g.Hostname, func(found string) string {
			digits, _ := strconv.Atoi(form.FindStringSubmatch(found)[1]) // "" is none
			return fmt.Sprintf("%0*d", digits, n)
		})
	}
	switch {
	case g.Count < 0:
		return nil, fmt.Errorf("count is %d", g.Count)
	case g.Hostname == "":
		return nil, errors.New("hostname is missing, want a pattern such as node-{n:3}")
	case !labelForm().MatchString(name(g.Count)):
		return nil, fmt.Errorf("hostname %q is no pattern such as node-{n} or node-{n:3}", g.Hostname)
	case g.Count > 1 && name(1) == name(2):
		return nil, fmt.Errorf("hostname %q has no {n}, and %d machines need different names", g.Hostname, g.Count)
	}
	return name, nil
}
