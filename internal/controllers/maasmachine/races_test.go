package maasmachine

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

var updateRaces = flag.Bool("update-races", false, "write testdata/races.txt anew")

// races is what comes of every change, in every phase of a life, whether it happens just before our write arrives or just after it took
// effect: one line each. Who changes the table of states looks through the difference.
const races = "testdata/races.txt"

const (
	lasts = 12 * time.Minute // each part of a cell
	often = time.Minute      // there is a look at least
)

// change is what may become of a machine behind our back.
type change struct {
	name   string
	happen func(w *world, id string) error
}

// changes are all of MAAS's states, as MAAS leaves a machine in them, and what operators do.
func changes() []change {
	all := []change{
		{"taken by another user", func(w *world, id string) error { return w.region.OperatorTake(id, otherUser) }},
		{"deleted from MAAS", func(w *world, id string) error { return w.region.OperatorDelete(id) }},
		{"locked", func(w *world, id string) error { return w.region.Lock(id, true) }},
	}
	for s := simulator.StatusNew; s <= simulator.StatusFailedTesting; s++ {
		all = append(all, change{s.String(), func(w *world, id string) error {
			r := w.region
			switch s {
			case simulator.StatusNew, simulator.StatusCommissioning, simulator.StatusFailedCommissioning, simulator.StatusReady:
				return errors.Join(w.frees(id), r.SetStatus(id, s))
			case simulator.StatusReleasing, simulator.StatusFailedReleasing, simulator.StatusDiskErasing, simulator.StatusFailedDiskErasing:
				return errors.Join(r.SetAgentName(id, ""), r.SetStatus(id, s))
			case simulator.StatusBroken:
				return r.OperatorMarkBroken(id, "the fan is broken")
			}
			return r.SetStatus(id, s)
		}})
	}
	return all
}

// phases of a life, by the write that the change is a race with, and how a machine comes to it.
func writesOfALife() []struct {
	name, op string
	comes    func(*world)
} {
	return []struct {
		name, op string
		comes    func(*world)
	}{
		{"claim", "allocate", func(*world) {}},
		{"annotate", "set_workload_annotations", func(*world) {}},
		{"deploy", "deploy", func(*world) {}},
		{"power on", "power_on", func(w *world) {
			w.until("w1", w.provisioned("w1"))
			w.must(w.region.SetPower(w.get("w1").Spec.SystemID, "off"))
		}},
		{"release", "release", func(w *world) { w.until("w1", w.provisioned("w1")); w.delete("w1") }},
	}
}

// TestRaces plays every cell.
func TestRaces(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	if text, err := os.ReadFile(races); err == nil {
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			cell, outcome, _ := strings.Cut(line, ": ")
			want[cell] = outcome
		}
	}
	var mu sync.Mutex
	got := map[string]string{}
	t.Run("cells", func(t *testing.T) {
		for _, c := range changes() {
			for _, phase := range writesOfALife() {
				for _, when := range []string{"before", "after"} {
					cell := fmt.Sprintf("%s, %s the %s", c.name, when, phase.name)
					t.Run(cell, func(t *testing.T) {
						t.Parallel()
						outcome := race(t, c, phase.op, phase.comes, when == "before")
						mu.Lock()
						defer mu.Unlock()
						got[cell] = outcome
						if want[cell] != outcome && !*updateRaces {
							t.Errorf("got  %s\nwant %s", outcome, want[cell])
						}
					})
				}
			}
		}
	})
	for cell := range want {
		if _, played := got[cell]; !played && !*updateRaces {
			t.Errorf("%s has a line for %q, which is none", races, cell)
		}
	}
	if *updateRaces {
		lines := make([]string, 0, len(got))
		for cell, outcome := range got {
			lines = append(lines, cell+": "+outcome)
		}
		slices.Sort(lines)
		if err := os.WriteFile(races, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// race plays one cell, and says what came of it.
func race(t *testing.T, c change, op string, comes func(*world), before bool) string {
	t.Helper()
	w := newWorld(t)
	w.kept = w.reconciler()
	rules := newOwnership(w)
	w.add("w1", false)
	comes(w)
	id, struck := "", false
	var was simulator.MachineSnapshot
	strike := func() {
		was = w.inMAAS(id)
		if err := c.happen(w, id); err != nil {
			t.Error(err)
		}
	}
	rules.race = func(r simulator.Request) func() {
		if r.Op != op || struck {
			return func() {}
		}
		struck = true
		if id = r.SystemID; id == "" {
			id = r.Form.Get("system_id")
		}
		if before {
			strike()
			return func() {}
		}
		return strike
	}
	rules.pass(lasts)
	if !struck {
		t.Fatalf("there was no %s%s", op, w.story("w1"))
	}
	outcome := rules.outcome()

	// The state returns, if the machine is there and ours still.
	if m, found := w.region.Machine(id); found && m.Owner == ourUser && (m.StatusName == c.name || m.Locked) {
		back := was.Status
		w.must(errors.Join(w.region.Lock(id, false), w.region.SetAgentName(id, was.AgentName)))
		if back == simulator.StatusReleasing { // which ends then
			back = simulator.StatusReady
			w.must(w.frees(id))
		}
		w.must(w.region.SetStatus(id, back))
		rules.pass(lasts)
		outcome += "; when it is " + back.String() + " again: " + rules.outcome()
	}
	if w.exists("w1") && w.get("w1").DeletionTimestamp.IsZero() {
		w.delete("w1")
	}
	rules.pass(lasts)
	if left := w.owned(); w.exists("w1") || len(left) > 0 {
		t.Errorf("the object is to be gone, and nothing ours: %v; %s", left, outcome)
	}
	outcome += "; deleted: " + rules.outcome()
	return outcome
}

// frees leaves a machine as a release does.
func (w *world) frees(id string) error {
	r := w.region
	return errors.Join(r.SetOwner(id, ""), r.SetAgentName(id, ""), r.SetAnnotations(id, nil), r.SetPower(id, "off"))
}

// ownership holds at every moment:
//
//   - a machine is written to only if the same reconcile read it, or listed it by our claim, and found that it is ours;
//   - a machine is allocated only if the same reconcile listed the machines with our claim, and found none;
//   - at most one machine carries our claim;
//   - the object does not go while a machine of ours is not given back.
type ownership struct {
	*world
	mu       sync.Mutex
	read     map[string]bool // machines that were read, and whether they were ours
	searched bool
	race     func(simulator.Request) (after func()) // is told of each write
}

func newOwnership(w *world) *ownership {
	o := &ownership{world: w, read: map[string]bool{}, race: func(simulator.Request) func() { return func() {} }}
	w.region.AddIntercept(func(r simulator.Request) simulator.Fault {
		o.judge(r)
		if r.Method == "GET" {
			return simulator.Fault{}
		}
		after := o.race(r)
		return simulator.Fault{Then: func(done simulator.Request) { o.answered(done); after() }}
	})
	return o
}

// isOurs says that MAAS proves a machine to be ours.
func (o *ownership) isOurs(m simulator.MachineSnapshot) bool {
	claim := o.claim()
	return m.Owner == ourUser && claim != "" && (m.AgentName == claim || m.Annotations[infrav1.MachineAnnotationClaim] == claim)
}

func (o *ownership) claim() string {
	if !o.exists("w1") {
		return ""
	}
	return o.get("w1").Annotations[infrav1.ClaimAnnotation]
}

// ours are the machines that carry our claim.
func (o *ownership) ours() []simulator.MachineSnapshot {
	return slices.DeleteFunc(o.region.Snapshot().Machines, func(m simulator.MachineSnapshot) bool { return !o.isOurs(m) })
}

func (o *ownership) judge(r simulator.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.Method == "GET" && r.SystemID != "":
		m, _ := o.region.Machine(r.SystemID)
		o.read[r.SystemID] = o.isOurs(m)
	case r.Method == "GET" && r.Query.Get("agent_name") != "":
		o.searched = true
		for _, m := range o.ours() {
			o.read[m.SystemID] = true
		}
	case r.Method == "GET":
	case r.Op == "allocate":
		if ours := o.ours(); !o.searched || len(ours) > 0 {
			o.Errorf("allocate: searched %v, and %d machines are ours", o.searched, len(ours))
		}
	case r.SystemID != "" && !o.read[r.SystemID]:
		o.Errorf("%s %s: the same reconcile did not find that it is ours", r.Op, r.SystemID)
	}
}

// answered takes MAAS's answer to a write for a look.
func (o *ownership) answered(r simulator.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m, found := o.region.Machine(r.SystemID); found && r.Committed {
		o.read[r.SystemID] = o.isOurs(m)
	}
}

// pass lets time pass, and looks at every rule after each reconcile.
func (o *ownership) pass(d time.Duration) {
	o.Helper()
	for end := o.clock.Now().Add(d); o.clock.Now().Before(end) && o.exists("w1"); {
		o.mu.Lock()
		o.read, o.searched = map[string]bool{}, false
		o.mu.Unlock()
		claimed := o.ours()
		result := o.reconcile("w1")
		if ours := o.ours(); len(ours) > 1 {
			o.Errorf("two machines carry the claim: %s and %s", ours[0].SystemID, ours[1].SystemID)
		}
		if !o.exists("w1") {
			for _, m := range claimed {
				if now, _ := o.region.Machine(m.SystemID); now.Owner == ourUser && now.PowerState == "on" && now.Status != simulator.StatusDiskErasing {
					o.Errorf("the object is gone, and %s is ours and %s", now.SystemID, now.StatusName)
				}
			}
		}
		o.clock.Advance(max(result.RequeueAfter, often))
	}
}

// outcome says what people see, and what is ours.
func (o *ownership) outcome() string {
	if !o.exists("w1") {
		return "gone"
	}
	object := o.get("w1")
	says := conditions.GetReason(object, infrav1.MachineReadyCondition)
	if id := object.Spec.SystemID; id != "" {
		says += " with " + id
	}
	return says
}
