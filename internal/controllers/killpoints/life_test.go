package killpoints

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// stage is a part of a life.
type stage struct {
	name  string
	only  []role // nil for all
	begin func(*world)
	done  func(*world) bool
	// beat is how often everything is looked at, and limit how long it may take.
	beat, limit time.Duration
	// ending is for what happens after the Machine was deleted; a deletion skips what comes before.
	ending bool
	// aside is for what nothing later depends on: a life that got over its blow goes without it.
	aside bool
}

// life is the whole of it.
func life() []stage {
	const often = 15 * time.Second
	return []stage{
		{name: "the cluster stands", only: []role{controlPlane}, done: (*world).stands, beat: often, limit: 10 * time.Minute},
		{name: "a machine is claimed and deployed", begin: (*world).addMachine, done: (*world).provisioned, beat: often, limit: 40 * time.Minute},
		{name: "it joins its cluster", begin: (*world).kubelet, done: (*world).ready, beat: often, limit: 10 * time.Minute},
		{name: "its power comes back", only: []role{worker, controlPlane}, begin: (*world).losesPower, done: (*world).ready, beat: time.Minute, limit: 30 * time.Minute, aside: true},
		{name: "it leaves", begin: (*world).deleteMachine, done: (*world).left, beat: often, limit: 10 * time.Minute, ending: true},
		{name: "it is released", begin: (*world).deleteObject, done: (*world).objectGone, beat: often, limit: 40 * time.Minute, ending: true},
		{name: "the cluster goes", only: []role{controlPlane}, begin: (*world).deleteInfra, done: (*world).infraGone, beat: often, limit: 10 * time.Minute, ending: true},
		{name: "what failed is forgotten", only: []role{stuck, unlucky}, begin: (*world).waits, done: (*world).untagged, beat: 10 * time.Minute, limit: time.Hour, ending: true},
	}
}

// live lives a life, and judges it.
func (w *world) live() {
	w.Helper()
	for _, s := range life() {
		if s.only != nil && !slices.Contains(s.only, w.role) || !s.ending && w.isDeleted() || s.aside && w.isStruck() {
			continue
		}
		w.lives(s)
	}
	w.clock.Advance(5 * time.Minute) // whatever the hardware still does is over
	w.end()
}

func (w *world) lives(s stage) {
	w.Helper()
	if s.begin != nil {
		s.begin(w)
	}
	began := w.clock.Now()
	for !s.done(w) {
		if w.clock.Now().Sub(began) > s.limit {
			w.stops("%s: not within %s of virtual time", s.name, s.limit)
		}
		w.look()
		w.clock.Advance(s.beat)
		if !s.ending && w.isDeleted() {
			return
		}
	}
}

func (w *world) isStruck() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck > 0
}

// isDeleted says that the blow came with a deletion.
func (w *world) isDeleted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck > 0 && w.blow.way.deletes()
}

func (w *world) stands() bool {
	object := &clusterv1.Cluster{}
	w.must(w.stored.Get(context.Background(), key(cluster), object))
	return object.Status.Initialization.InfrastructureProvisioned != nil
}

func (w *world) provisioned() bool {
	p := w.object().Status.Initialization.Provisioned
	return p != nil && *p
}

// ready says that all is as it should be, and looks whether it is.
func (w *world) ready() bool {
	object, ours := w.object(), w.ours()
	if !w.linked() || !conditions.IsTrue(object, infrav1.MachineReadyCondition) || len(ours) != 1 || ours[0].PowerState != "on" {
		return false
	}
	m, claim := ours[0], object.Annotations[infrav1.ClaimAnnotation]
	if m.Status != simulator.StatusDeployed || m.SystemID != object.Spec.SystemID || m.Annotations[infrav1.MachineAnnotationClaim] != claim || m.AgentName != claim {
		w.Errorf("ready, but the machine is %+v", m)
	}
	if w.role == controlPlane {
		if !slices.Equal(w.record(), m.Addresses) {
			return false
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.joined = true
	}
	return true
}

func (w *world) losesPower() {
	w.Helper()
	w.must(w.region.SetPower(w.ours()[0].SystemID, "off"))
}

// deleteMachine deletes the Machine, which a finalizer of Cluster API holds.
func (w *world) deleteMachine() {
	w.Helper()
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	if w.object().Name == "" {
		return // it was never made
	}
	m := &clusterv1.Machine{}
	w.must(w.stored.Get(context.Background(), key(machine), m))
	w.must(w.stored.Delete(context.Background(), m))
}

// left says that the machine is in no record any more, and that its Machine waits for that no longer. When a blow comes with the
// deletion, the MaasMachine is deleted at once too, as happens where a whole namespace is deleted.
func (w *world) left() bool {
	w.Helper()
	return len(w.record()) == 0 && !w.hooked() || w.isDeleted()
}

// hooked says that the Machine's infrastructure is not to be deleted yet.
func (w *world) hooked() bool {
	w.Helper()
	m := &clusterv1.Machine{}
	w.must(client.IgnoreNotFound(w.stored.Get(context.Background(), key(machine), m)))
	_, is := m.Annotations[infrav1.EndpointHookAnnotation]
	return is
}

// deleteObject deletes the MaasMachine, as Cluster API does after the Machine was drained and waits for nobody.
func (w *world) deleteObject() {
	w.Helper()
	if object := w.object(); object.Name != "" {
		w.must(w.stored.Delete(context.Background(), object))
	}
}

func (w *world) objectGone() bool {
	w.Helper()
	if w.object().Name != "" {
		return false
	}
	w.rules.check(w) // it may be gone without a look
	if w.hooked() {
		w.Errorf("the object is gone, and its Machine waits for it%s", w.story())
	}
	return true
}

func (w *world) deleteInfra() {
	w.Helper()
	w.must(w.stored.Delete(context.Background(), w.infra()))
}

func (w *world) infraGone() bool { return w.infra().Name == "" }

// waits lets the time pass for which a machine is avoided that failed.
func (w *world) waits() { w.clock.Advance(avoidance.Period) }

func (w *world) untagged() bool { return len(w.region.Snapshot().Tags) == 0 }

// end judges a life that is over.
func (w *world) end() {
	w.Helper()
	w.land()
	w.judgeRules()
	w.mu.Lock()
	struck := w.struck
	w.mu.Unlock()
	if w.blow.way != "" && struck == 0 || w.blow.againWay != "" && struck < 2 {
		w.Errorf("the life had no call %s, or then %s, this time", w.blow.at, w.blow.again)
	}
	if end := w.region.Snapshot().WithoutHistory(); !reflect.DeepEqual(end, w.rules.start) {
		w.Errorf("something is left over in MAAS:\n  was %+v\n  is  %+v", w.rules.start, end)
	}
	w.judgeDeployments()
	if w.Failed() {
		w.Logf("all that is to be seen:%s", w.story())
	}
}

// stops ends a life that cannot go on.
func (w *world) stops(format string, args ...any) {
	w.Helper()
	w.judgeRules() // for they may say why
	w.Fatalf("%s%s", fmt.Sprintf(format, args...), w.story())
}

// judgeRules tells which rules were broken.
func (w *world) judgeRules() {
	w.Helper()
	w.mu.Lock()
	broken := w.rules.broken
	w.mu.Unlock()
	for _, text := range broken {
		w.Errorf("a rule was broken: %s", text)
	}
}

// judgeDeployments looks whether anything was deployed more often than it had to be.
func (w *world) judgeDeployments() {
	w.Helper()
	var deployed []string
	for _, r := range w.region.Requests() {
		if r.Op == "deploy" && r.Committed {
			deployed = append(deployed, r.SystemID)
		}
	}
	wanted := 1
	if w.role.isDetour() {
		wanted = 2
	}
	if len(deployed) > wanted || len(deployed) < wanted && !w.blow.way.deletes() {
		w.Errorf("deployed %v", deployed)
	}
}
