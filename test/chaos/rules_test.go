package chaos

import (
	"net/http"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The rules hold at every moment, whatever happens:
//
//   - a machine is written to only if the same reconcile read it, or listed it by the claim, and it was ours then. What happens to it
//     between that and the write MAAS gives nobody a way to exclude;
//   - a machine is allocated only if the same reconcile listed the machines that carry the claim, and found none;
//   - at most one machine of a claim is in use;
//   - a DNS record is written only if the same reconcile read it, and loses no address of a machine that serves and does not leave;
//   - a release finds none of the machine's addresses in a record of ours;
//   - a tag is deleted only if it is one of ours, and its time is over;
//   - no finalizer goes while a machine of ours runs;
//   - strangers' machines stay as they are;
//   - conditions and events tell no secret.

// seen is what a reconcile has seen.
type seen struct {
	item     item
	ours     map[string]bool // machines that were read; whether they were ours then
	searched map[string]bool // claims; whether none of our machines carried them
	dns      bool
	changed  map[string]bool // machines that somebody else changed meanwhile
}

func newSeen(i item) seen {
	return seen{item: i, ours: map[string]bool{}, searched: map[string]bool{}, changed: map[string]bool{}}
}

// claimOf is the claim of the object that is reconciled, as it stands in Kubernetes.
func (m *manager) claimOf() string {
	if o := find[*infrav1.MaasMachine](m.of.store, m.seen.item.name); o != nil && m.seen.item.kind == "MaasMachine" {
		return o.Annotations[infrav1.ClaimAnnotation]
	}
	return ""
}

func carries(m simulator.MachineSnapshot, claim string) bool {
	return claim != "" && m.Owner == ourUser && (m.AgentName == claim || m.Annotations[infrav1.MachineAnnotationClaim] == claim)
}

// judgeRequest judges a request before it runs.
func (w *world) judgeRequest(m *manager, r simulator.Request) {
	if r.Method == http.MethodGet {
		return
	}
	switch r.Operation {
	case "machines allocate":
		if none, searched := m.seen.searched[r.Form.Get("agent_name")]; !searched || !none {
			w.breaks("%s: allocate for claim %s: the machines with it were not listed in the same reconcile, or there is one", m.name, r.Form.Get("agent_name"))
		}
	case "dnsresource-records create", "dnsresource update", "dnsresource delete":
		w.judgeDNS(m, r)
	case "tags create": // it is on no machine yet
	case "tag delete":
		name := path.Base(strings.TrimSuffix(r.Path, "/"))
		if until, ours := avoidance.UntilOf(name); !ours || until.After(w.clock.Now()) {
			w.breaks("%s: tag %s is deleted, which is not ours, or not over", m.name, name)
		}
	case "tag update-nodes":
		for _, id := range r.Form["add"] {
			w.judgeWrite(m, r, id)
		}
	default:
		w.judgeWrite(m, r, r.SystemID)
	}
}

// judgeWrite judges a write to a machine.
func (w *world) judgeWrite(m *manager, r simulator.Request, systemID string) {
	if ours, read := m.seen.ours[systemID]; !read || !ours {
		w.breaks("%s: %s %s: the machine was not read in the same reconcile, or was not ours then", m.name, r.Operation, systemID)
	}
	if w.isStranger(systemID) {
		w.breaks("%s: %s %s: the machine is a stranger's", m.name, r.Operation, systemID)
	}
	machine, _ := w.region.Machine(systemID)
	if r.Op != "release" || m.seen.changed[systemID] {
		return
	}
	for _, c := range w.clusters {
		for _, address := range w.record(c.host()) {
			if slices.Contains(machine.Addresses, address) && !w.landedInDNS {
				w.breaks("%s: release %s: its address %s is in %s", m.name, systemID, address, c.host())
			}
		}
	}
}

// judgeDNS judges a write to a DNS record.
func (w *world) judgeDNS(m *manager, r simulator.Request) {
	if !m.seen.dns {
		w.breaks("%s: %s: the record was not read in the same reconcile", m.name, r.Operation)
	}
	if r.Operation == "dnsresource-records create" {
		return
	}
	for _, resource := range w.region.Snapshot().DNSResources {
		c := w.clusterOfHost(resource.FQDN)
		if number(resource.ID) != path.Base(strings.TrimSuffix(r.Path, "/")) {
			continue
		}
		if c == nil {
			w.breaks("%s: %s of %s, which is not ours", m.name, r.Operation, resource.FQDN)
			continue
		}
		kept := strings.Fields(strings.ReplaceAll(strings.Join(r.Form["ip_addresses"], " "), ",", " "))
		for _, address := range resource.Addresses {
			if address != "" && !slices.Contains(kept, address) {
				w.judgeRemoval(m, c, address)
			}
		}
	}
}

// judgeRemoval judges that an address is taken out of a record: nobody may do so whose machine serves and does not leave.
func (w *world) judgeRemoval(m *manager, c *cluster, address string) {
	if len(m.seen.changed) > 0 {
		return // the machine may be another one's since it was looked at
	}
	for _, o := range all[*infrav1.MaasMachine](c.of.store) {
		if !c.has(o) || c.leaves(o) || !o.DeletionTimestamp.IsZero() || o.Spec.ProviderID == "" {
			continue
		}
		machine, _ := w.region.Machine(o.Spec.SystemID)
		if carries(machine, o.Annotations[infrav1.ClaimAnnotation]) && machine.Status == simulator.StatusDeployed && slices.Contains(machine.Addresses, address) {
			w.breaks("%s: address %s of %s is taken out of %s, and it does not leave", m.name, address, o.Name, c.host())
		}
	}
}

// learns notes what a manager is about to hear of.
func (w *world) learns(e *exchange, r simulator.Request) {
	if e.manager.dead() {
		return
	}
	s, claim := &e.manager.seen, e.manager.claimOf()
	note := func(systemID string) {
		machine, _ := w.region.Machine(systemID)
		s.ours[systemID] = carries(machine, claim) || e.stale
		delete(s.changed, systemID)
	}
	switch asked := r.Query.Get("agent_name"); {
	case r.Method != http.MethodGet && r.Committed && r.SystemID != "":
		note(r.SystemID)
	case r.Method != http.MethodGet:
	case r.Operation == "machines read" && asked != "":
		s.searched[asked] = true
		for _, id := range w.machines {
			if machine, _ := w.region.Machine(id); machine.AgentName == asked {
				note(id)
				s.searched[asked] = e.stale || machine.Owner != ourUser
			}
		}
	case r.Operation == "machine read":
		note(r.SystemID)
	case r.Operation == "dnsresources read":
		s.dns = true
	}
}

// touched says that somebody else than a manager changed a machine.
func (w *world) touched(systemID string) {
	for _, g := range w.managements {
		g.manager.seen.changed[systemID] = true
	}
}

// holdsAfter looks what a request did, and notes what came late.
func (w *world) holdsAfter(r simulator.Request, late bool) {
	if late && r.SystemID != "" {
		w.touched(r.SystemID)
		if r.Op == "allocate" {
			w.lateAllocations[r.SystemID] = true
		}
	}
	if late && strings.HasPrefix(r.Operation, "dnsresource") {
		w.landedInDNS = true
	}
	w.holds()
}

// holds looks at all machines.
func (w *world) holds() {
	inUse := map[string]string{}
	for _, id := range w.machines {
		machine, there := w.region.Machine(id)
		if before, stranger := w.strangers[id]; stranger && !same(machine, before) {
			w.breaks("machine %s of a stranger changed:\n  was %+v\n  is  %+v", id, before, machine)
		}
		if !there || machine.Owner != ourUser {
			continue
		}
		claim := machine.AgentName
		if claim == "" {
			claim = machine.Annotations[infrav1.MachineAnnotationClaim]
		}
		switch machine.Status {
		case simulator.StatusAllocated:
			if w.lateAllocations[id] {
				continue
			}
		case simulator.StatusDeploying, simulator.StatusDeployed:
		default:
			continue
		}
		if other := inUse[claim]; other != "" && claim != "" {
			w.breaks("machines %s and %s are in use for one claim, %s", other, id, claim)
		}
		inUse[claim] = id
	}
}

// judgeObject judges what a manager wrote.
func (w *world) judgeObject(m *manager, s *store, written client.Object) {
	id := idOf(written)
	if s != m.of.store {
		return
	}
	now := s.at(id, 0)
	if now == nil {
		w.judgeEnd(m, id, written)
		return
	}
	w.keepsSecrets(id.String(), sprintf("%v", now.GetAnnotations()))
	if o, ok := now.(interface{ GetConditions() []metav1.Condition }); ok {
		for _, c := range o.GetConditions() {
			w.keepsSecrets(id.String(), c.Message)
			if strings.ContainsAny(c.Message, "\n") {
				w.breaks("the message of %s of %s has several lines: %q", c.Type, id, c.Message)
			}
		}
	}
}

// judgeEnd judges that an object is gone: nothing of it may run.
func (w *world) judgeEnd(m *manager, id objectKey, last client.Object) {
	w.tell(m.name, "%s is gone", id)
	o, is := last.(*infrav1.MaasMachine)
	if !is {
		return
	}
	claim := o.Annotations[infrav1.ClaimAnnotation]
	for _, systemID := range w.machines {
		machine, _ := w.region.Machine(systemID)
		if !carries(machine, claim) || m.seen.changed[systemID] {
			continue
		}
		switch machine.Status {
		case simulator.StatusReady, simulator.StatusDiskErasing, simulator.StatusNew:
			continue
		case simulator.StatusBroken:
			if machine.PowerState != "on" {
				continue
			}
		}
		w.breaks("%s is gone, and its machine %s is %s", id, systemID, machine.StatusName)
	}
}

// secret stands in all bootstrap data.
const secret = "SECRET-OF-BOOTSTRAP"

// keepsSecrets looks that a text tells none.
func (w *world) keepsSecrets(where, text string) {
	for _, s := range append(strings.Split(ourKey, ":"), secret) {
		if strings.Contains(text, s) {
			w.breaks("%s tells a secret: %s", where, strings.ReplaceAll(text, s, "…"))
		}
	}
}
