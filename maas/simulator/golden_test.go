package simulator

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A recording is what one version of MAAS answered. Groups of its exchanges
// are replayed in a world of their own each (goldenGroups); what is not
// replayed is listed with its reason (notReplayed).
type recording struct {
	version string
	file    string
	made    int64 // when it was made, in seconds since 1970
	vlan    int   // the ID of its first VLAN
}

func recordings() []recording {
	return []recording{
		{version: "3.4.10", file: "testdata/maas-3.4.10.jsonl.gz", made: 1796037251, vlan: 1},
		{version: "3.7.3", file: "testdata/maas-3.7.3.jsonl.gz", made: goldenTime, vlan: firstVLAN},
	}
}

func TestRecordedExchanges(t *testing.T) {
	t.Parallel()
	reference := readLines[exchange](t, "testdata/maas-3.7.3.jsonl.gz")
	for _, rec := range recordings() {
		t.Run(rec.version, func(t *testing.T) {
			t.Parallel()
			exchanges := readLines[exchange](t, rec.file)
			nameAlike(exchanges, reference)
			rec.replay(t, exchanges)
		})
	}
}

// replay plays what was recorded, and fails for what no group and no reason
// names.
func (rec recording) replay(t *testing.T, exchanges []exchange) {
	reasons := notReplayed()
	used := make([]bool, len(reasons))
	listed := func(name string) bool {
		found := false
		for i, reason := range reasons {
			if (reason.version == "" || reason.version == rec.version) && regexp.MustCompile(reason.pattern).MatchString(name) {
				used[i], found = true, true
			}
		}
		return found
	}
	done, skipped := map[string]bool{}, map[string]bool{}
	for i := range exchanges {
		skipped[exchanges[i].Name] = listed(exchanges[i].Name)
	}
	for _, group := range goldenGroups() {
		pattern := regexp.MustCompile(group.pattern)
		t.Run(group.name, func(t *testing.T) {
			w := rec.world(t, group)
			for i := range exchanges {
				ex := &exchanges[i]
				if !pattern.MatchString(ex.Name) || done[ex.Name] || skipped[ex.Name] {
					continue
				}
				done[ex.Name] = true
				if group.fresh {
					w = rec.world(t, group)
				}
				w.replay(group, ex)
			}
		})
	}
	t.Logf("replayed %d of %d recorded exchanges", len(done), len(exchanges))
	for i := range exchanges {
		if name := exchanges[i].Name; !done[name] && !skipped[name] {
			t.Errorf("%s is neither replayed nor listed as not replayed", name)
		}
	}
	for i, reason := range reasons {
		if !used[i] && (reason.version == "" || reason.version == rec.version) {
			t.Errorf("no exchange is named as in the reason %q", reason.pattern)
		}
	}
}

// recordedPower is how long power took in the recordings.
const recordedPower = 400 * time.Millisecond

// beforeAwaitedPower says that the version answers before a machine's power
// has changed, which later ones wait for.
func (rec recording) beforeAwaitedPower() bool { return strings.HasPrefix(rec.version, "3.4") }

// world makes the world in which a group is replayed.
func (rec recording) world(t *testing.T, group goldenGroup) *world {
	t.Helper()
	w := newWorld(t, func(cfg *Config) {
		cfg.Version, cfg.Clock = rec.version, NewVirtualClock(time.Unix(rec.made, 0))
		if rec.beforeAwaitedPower() {
			cfg.Durations.PowerOff = recordedPower
		}
		if group.config != nil {
			group.config(cfg)
		}
	})
	s := w.region.state
	renumbered := newTable[int, *vlan]()
	for i, v := range s.vlans.all() {
		v.id = rec.vlan + i
		renumbered.put(v.id, v)
	}
	s.vlans = renumbered
	if group.made != nil {
		group.made(w)
	}
	return w
}

func (w *world) replay(group goldenGroup, ex *exchange) {
	w.t.Helper()
	if group.before != nil {
		group.before(w, ex)
	}
	w.prepare(ex)
	w.breakHardware(ex)
	got := w.send(ex)
	w.learn(ex, got)
	w.checkComposes(ex)
	if d := w.difference(ex, got); d != "" {
		w.t.Errorf("%s: %s", ex.Name, d)
		return
	}
	if d := w.rowDiffers(ex); d != "" {
		w.t.Errorf("%s: %s", ex.Name, d)
	}
}

// nameAlike gives the machines of a recording the system IDs that they have in
// another one, so that the groups can speak of both.
func nameAlike(exchanges, reference []exchange) {
	there := map[string]*exchange{}
	for i := range reference {
		there[reference[i].Name] = &reference[i]
	}
	var pairs []string
	for i := range exchanges {
		if other := there[exchanges[i].Name]; other != nil {
			here, alike := exchanges[i].systemIDs(), other.systemIDs()
			for n := 0; n < len(here) && len(here) == len(alike); n++ {
				pairs = append(pairs, here[n], alike[n])
			}
		}
	}
	rename := strings.NewReplacer(pairs...)
	for i := range exchanges {
		ex := &exchanges[i]
		ex.Request.Path = rename.Replace(ex.Request.Path)
		for _, list := range [][][2]string{ex.Request.Query, ex.Request.Form} {
			for n := range list {
				list[n][1] = rename.Replace(list[n][1])
			}
		}
		if ex.Response.Body != nil {
			*ex.Response.Body = rename.Replace(*ex.Response.Body)
		}
	}
}

// systemIDs are the machines that an exchange names.
func (ex *exchange) systemIDs() []string {
	var out []string
	if id := machineOfPath(ex.Request.Path); id != "" {
		out = append(out, id)
	}
	for _, pair := range slices.Concat(ex.Request.Query, ex.Request.Form) {
		if slices.Contains([]string{"id", "system_id", "machines", "add", "remove"}, pair[0]) && len(pair[1]) == 6 && pair[1] != "zzzzzz" {
			out = append(out, pair[1])
		}
	}
	if ex.Response.Body != nil {
		for _, found := range regexp.MustCompile(`"system_id": "(\w{6})"|<Node: (\w{6}) `).FindAllStringSubmatch(*ex.Response.Body, -1) {
			out = append(out, found[1]+found[2])
		}
	}
	return out
}
