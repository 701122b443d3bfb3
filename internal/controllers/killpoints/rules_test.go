package killpoints

import (
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// rules hold at every moment of a life, whatever happens to it:
//
//   - at most one machine is ours at a time;
//   - nobody else's machine is touched;
//   - a machine is written to only if the same reconcile read it, or listed it by our claim, and it is ours then;
//   - what was seen before a call that MAAS did not answer, or an allocation, counts no more;
//   - a machine is allocated only if the same reconcile listed the machines that carry the claim, and found none;
//   - whoever asks for a machine, or to deploy one, has written that down, and keeps the object from being moved;
//   - a machine is deployed or switched on only once it is stored whose it is, and deployed as the spec says;
//   - a DNS record is written only if the same reconcile read it;
//   - a release finds the machine's addresses in no DNS record, erases disks as the spec says, and leaves a tag on a machine that failed;
//   - a tag is deleted only if it is one of ours, and its time is over;
//   - an object whose machine is ours is not gone, unless MAAS erases that;
//   - only departure takes an address out of the control plane's record;
//   - a Machine whose MaasMachine is not deleted is held until its address has been out of the record for TTL and propagation.
//
// They are guarded by the world's mutex.
type rules struct {
	start      simulator.Snapshot
	bystanders map[string]simulator.MachineSnapshot
	// What the reconcile that is under way has seen.
	read     map[string]bool // machines
	searched map[string]bool // claims
	readDNS  bool

	leftAt time.Time // when the record was first seen without the machine that goes

	broken []string
}

func (r *rules) begin(w *world) {
	r.start, r.bystanders = w.region.Snapshot().WithoutHistory(), map[string]simulator.MachineSnapshot{}
	for _, id := range []string{bystanderOfOther, bystanderOfUs} {
		r.bystanders[id], _ = w.region.Machine(id)
	}
	r.newReconcile()
}

// newReconcile forgets what the reconcile before has seen.
func (r *rules) newReconcile() {
	r.read, r.searched, r.readDNS = map[string]bool{}, map[string]bool{}, false
}

func (r *rules) breaks(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.broken, text) {
		r.broken = append(r.broken, text)
	}
}

// arrives judges a request before it runs.
func (r *rules) arrives(w *world, request simulator.Request) {
	if request.Method == http.MethodGet {
		return
	}
	what := request.Operation
	switch request.Operation {
	case "machines allocate":
		r.allocates(w, request)
		return
	case "dnsresource-records create", "dnsresource update", "dnsresource delete":
		if !r.readDNS {
			r.breaks("%s: the record was not read in the same reconcile", what)
		}
		return
	case "tags create":
		return // it is on no machine yet
	case "tag delete":
		name := path.Base(request.Path)
		if until, ours := avoidance.UntilOf(name); !ours || until.After(w.clock.Now()) {
			r.breaks("%s: %s is not ours, or not over", what, name)
		}
		return
	case "tag update-nodes":
		for _, id := range request.Form["add"] {
			r.writes(w, what, id)
		}
		return
	}
	m := r.writes(w, what, request.SystemID)
	switch request.Op {
	case "deploy":
		r.deploys(w, request, w.object())
	case "power_on":
		r.isStored(w, what, request.SystemID)
	case "release":
		r.releases(w, request, w.object(), m)
	}
}

// writes judges a write to a machine, which it returns.
func (r *rules) writes(w *world, what, systemID string) simulator.MachineSnapshot {
	m, found := w.region.Machine(systemID)
	claim := w.object().Annotations[infrav1.ClaimAnnotation]
	switch {
	case !found:
		r.breaks("%s: these rules do not know what that is", what)
	case !r.read[m.SystemID]:
		r.breaks("%s %s: the machine was not read in the same reconcile", what, systemID)
	case m.Owner != ourUser || claim == "" || m.AgentName != claim && m.Annotations[infrav1.MachineAnnotationClaim] != claim:
		r.breaks("%s %s: the machine is not ours: owner %q, agent name %q, annotations %v", what, systemID, m.Owner, m.AgentName, m.Annotations)
	}
	return m
}

// answered is called when the manager is about to hear of what it asked.
func (r *rules) answered(w *world, request simulator.Request) {
	w.mu.Lock()
	switch claim := request.Query.Get("agent_name"); {
	case request.Method != http.MethodGet:
		r.read[request.SystemID] = r.read[request.SystemID] || request.Committed && request.SystemID != ""
	case request.Operation == "machines read" && claim != "":
		r.searched[claim] = true
		for _, m := range w.region.Snapshot().Machines {
			if m.AgentName == claim {
				r.read[m.SystemID] = true
			}
		}
	case request.Operation == "machine read":
		r.read[request.SystemID] = true
	case request.Operation == "dnsresources read":
		r.readDNS = true
	}
	w.mu.Unlock()
	r.committed(w, request)
}

// unanswered is called when a request ran, and the manager will not hear of that: it has to look anew.
func (r *rules) unanswered(w *world, request simulator.Request) {
	w.mu.Lock()
	r.newReconcile()
	w.mu.Unlock()
	r.committed(w, request)
}

// committed is called when a request ran.
func (r *rules) committed(w *world, request simulator.Request) {
	if request.Method == http.MethodGet || !request.Committed {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.hold(w, "after "+request.Operation+" "+request.SystemID)
}

// check is called between what the manager does.
func (r *rules) check(w *world) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.hold(w, "after a look")
	r.forgotten(w)
}

// forgotten judges how long the Machine is held.
func (r *rules) forgotten(w *world) {
	object := w.object()
	if !w.joined || !w.leaving || object.Name == "" || !object.DeletionTimestamp.IsZero() {
		return
	}
	isIn := len(w.record()) > 0
	if !isIn && r.leftAt.IsZero() {
		r.leftAt = w.clock.Now()
	}
	if out := w.clock.Now().Sub(r.leftAt); !w.hooked() && (isIn || out < endpoint.KeptFor+endpoint.Propagation) {
		r.breaks("the Machine is let go: its address is in the record (%t) or left it %s ago", isIn, out)
	}
}

func (r *rules) hold(w *world, when string) {
	if ours := w.ours(); len(ours) > 1 {
		r.breaks("%s: two machines are ours: %s and %s", when, ours[0].SystemID, ours[1].SystemID)
	}
	for _, m := range w.ours() {
		if w.born && w.object().Name == "" && m.Status != simulator.StatusDiskErasing {
			r.breaks("%s: the object is gone, and %s is ours and %s", when, m.SystemID, m.StatusName)
		}
	}
	for id, was := range r.bystanders {
		if is, _ := w.region.Machine(id); !reflect.DeepEqual(is, was) {
			r.breaks("%s: a machine of somebody else changed:\n  was %+v\n  is  %+v", when, was, is)
		}
	}
	if w.joined && !w.leaving && len(w.record()) == 0 {
		r.breaks("%s: the control plane's record is empty, and nobody left", when)
	}
}
