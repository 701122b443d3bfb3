package simulator

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// storageNeed is one disk that a constraint asks for.
type storageNeed struct {
	label string
	bytes int64
	tags  []string
}

// nicNeed is one interface that a constraint asks for.
type nicNeed struct {
	label string
	test  func(*machine, nic) bool
}

func storageForm() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([a-zA-Z0-9_-]+):)?(\d+(?:\.\d+)?)(?:\(([^()]*)\))?$`)
}

// addStorage reads label:size(tag,…),…, sizes in GB of 10^9 bytes.
func (c *call) addStorage(f *filter, value string, errs *formErrors) {
	if value == "" {
		return
	}
	for _, part := range splitOutside(value) {
		found := storageForm().FindStringSubmatch(part)
		if found == nil {
			errs.add("storage", `Malformed storage constraint, "`+value+`".`)
			return
		}
		gigabytes, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			errs.add("storage", `Malformed storage constraint, "`+value+`".`)
			return
		}
		f.storage = append(f.storage, storageNeed{found[1], int64(gigabytes * 1e9), splitTags([]string{found[3]})})
	}
	f.tests = append(f.tests, func(m *machine) bool { return f.disksFor(m) != nil })
	f.solved = append(f.solved, "storage="+value)
}

// splitOutside splits at commas that are in no parentheses.
func splitOutside(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// disksFor finds a disk for each need, nil when there is none for one.
func (f *filter) disksFor(m *machine) map[int]string {
	out := map[int]string{}
	for _, need := range f.storage {
		fits := false
		for _, d := range m.disks {
			if _, used := out[d.id]; used || d.size < need.bytes || !hasAll(d.tags, need.tags) {
				continue
			}
			out[d.id], fits = need.label, true
			break
		}
		if !fits {
			return nil
		}
	}
	return out
}

func hasAll(have, want []string) bool {
	for _, name := range want {
		if !slices.Contains(have, name) {
			return false
		}
	}
	return true
}

// addInterfaces reads label:key=value,…;… . What has no label and key is
// ignored, as in MAAS.
func (c *call) addInterfaces(f *filter, value string, errs *formErrors) *refusal {
	for _, part := range strings.Split(value, ";") {
		label, pairs, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		var tests []func(*machine, nic) bool
		for _, pair := range strings.Split(pairs, ",") {
			key, want, ok := strings.Cut(pair, "=")
			if !ok {
				continue
			}
			test, known, refused := c.nicTest(key, want)
			if refused != nil {
				return refused
			}
			if !known {
				errs.add("interfaces", "Unknown interfaces constraint: '"+key)
				return nil
			}
			tests = append(tests, test)
		}
		f.nics = append(f.nics, nicNeed{label, func(m *machine, n nic) bool {
			for _, test := range tests {
				if !test(m, n) {
					return false
				}
			}
			return true
		}})
	}
	if len(f.nics) > 0 {
		f.tests = append(f.tests, func(m *machine) bool { return f.nicsFor(m) != nil })
		f.solved = append(f.solved, "interfaces="+value)
	}
	return nil
}

// nicTest is one key of an interface constraint.
func (c *call) nicTest(key, want string) (test func(*machine, nic) bool, known bool, refused *refusal) {
	plain, negate := strings.CutPrefix(key, "not_")
	var base func(*machine, nic) bool
	switch plain {
	case "subnet", "subnet_cidr", "ip":
		specifier := want
		if plain == "ip" {
			specifier = "ip:" + want
		}
		wanted := c.subnetsBySpecifier(specifier)
		base = func(_ *machine, n nic) bool { return (&machine{nics: []nic{n}}).onSubnet(wanted) }
	case "space":
		if _, ok := c.vlans.find(func(v *vlan) bool { return v.space == want }); !ok {
			return nil, true, notFound("Space")
		}
		base = func(_ *machine, n nic) bool { return n.on(func(v *vlan) bool { return v.space == want }) }
	case "fabric":
		base = func(_ *machine, n nic) bool { return n.on(func(v *vlan) bool { return v.fabric.name == want }) }
	case "name":
		base = func(_ *machine, n nic) bool { return n.name == want }
	case "hostname":
		base = func(m *machine, _ nic) bool { return m.hostname == want }
	case "id":
		base = func(_ *machine, n nic) bool { return strconv.Itoa(n.id) == want }
	case "vlan":
		base = func(_ *machine, n nic) bool {
			return n.on(func(v *vlan) bool { return strconv.Itoa(v.id) == strings.TrimPrefix(want, "id:") })
		}
	case "vid":
		base = func(_ *machine, n nic) bool { return n.on(func(v *vlan) bool { return strconv.Itoa(v.vid) == want }) }
	case "mode":
		base = func(_ *machine, n nic) bool { return len(n.links) > 0 && n.links[0].mode == want }
	case "type":
		base = func(*machine, nic) bool { return want == "physical" }
	case "tag":
		base = func(_ *machine, n nic) bool { return slices.Contains(n.tags, want) }
	case "link_speed":
		base = func(*machine, nic) bool { return want != "" }
	case "fabric_class":
		base = func(*machine, nic) bool { return false }
	default:
		return nil, false, nil
	}
	return func(m *machine, n nic) bool { return base(m, n) != negate }, true, nil
}

func (f *filter) nicsFor(m *machine) map[string]int {
	out := map[string]int{}
	for _, need := range f.nics {
		found := false
		for _, n := range m.nics {
			if need.test(m, n) {
				out[need.label], found = n.id, true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return out
}

// labels is constraints_by_type: which disk and interface met which need.
func (f *filter) labels(m *machine, verbose bool, candidates []*machine) map[string]any {
	out := map[string]any{}
	storage := map[string][]int{}
	for id, label := range f.disksFor(m) {
		if label != "" {
			storage[label] = append(storage[label], id)
		}
	}
	if len(storage) > 0 {
		out["storage"] = storage
	}
	nics := map[string][]int{}
	for label, id := range f.nicsFor(m) {
		nics[label] = []int{id}
	}
	if len(nics) > 0 {
		out["interfaces"] = nics
	}
	if verbose {
		f.addVerbose(out, candidates)
	}
	return out
}

func (f *filter) addVerbose(out map[string]any, candidates []*machine) {
	storage, nics := map[string]map[string]string{}, map[string]map[string][]int{}
	for _, m := range candidates {
		disks := map[string]string{}
		for id, label := range f.disksFor(m) {
			disks[strconv.Itoa(id)] = label
		}
		storage[strconv.Itoa(m.id)] = disks
		for label, id := range f.nicsFor(m) {
			if nics[label] == nil {
				nics[label] = map[string][]int{}
			}
			nics[label][strconv.Itoa(m.id)] = []int{id}
		}
	}
	if len(f.storage) > 0 {
		out["verbose_storage"] = storage
	}
	if len(f.nics) > 0 {
		out["verbose_interfaces"] = nics
	}
}

// usableArchitectures are those that there are images for.
func (s *state) usableArchitectures() []string {
	seen := map[string]bool{}
	for _, i := range s.images.all() {
		seen[i.architecture+"/generic"] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func archConstraint(negate bool) constraint {
	return func(c *call, values []string) (func(*machine) bool, []string, string, *refusal) {
		usable := c.usableArchitectures()
		var wanted []string
		for _, value := range values {
			if !strings.Contains(value, "/") {
				value += "/generic"
			}
			if !slices.Contains(usable, value) {
				return nil, nil, "Architecture not recognised.", nil
			}
			wanted = append(wanted, value)
		}
		return func(m *machine) bool { return slices.Contains(wanted, m.architecture) != negate }, wanted, "", nil
	}
}
