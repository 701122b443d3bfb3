package controllers_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

var update = flag.Bool("update", false, "write docs/troubleshooting.md anew")

// situation is something that is wrong, and what is to be seen of it.
type situation struct {
	// name says in an operator's words what happened.
	name string
	// region is what is different about MAAS from the start.
	region func(*simulator.Config)
	// wrong makes it.
	wrong func(*world)
	// after is how long it lasts before it is looked at; 0 means three minutes.
	after time.Duration

	// on is the object to look at; "" means the worker.
	on string
	// shows is <condition>=<status> <reason>.
	shows   string
	message string
	// ready is what Ready says, as in shows: "" means that it is False, with the reason and message of shows; saysSo, that it is True
	// and has the message.
	ready, readyMessage string
	// event is the reason of the warning about the object, with note; "" means that there is none. Without a note, it is the message.
	event, note string
	// also are warnings about the object from before, as in others.
	also []string
	// others are the warnings about other objects: <object> <reason>: <note>.
	others []string
	// passes says that nobody can do anything, or need do anything: it passes by itself, or others are at it.
	passes bool

	// do says to an operator what to do.
	do string
	// mend does so, where the object recovers from it; nil where another machine has to be had, or that is the table's business elsewhere.
	mend func(*world)
}

// A section of the page has the situations of one part of a machine's life.
type section struct {
	title, about string
	situations   []situation
}

func sections() []section {
	return []section{
		{"No machine is claimed", "Look at `MachineAllocated` of the MaasMachine.", claimSituations()},
		{"Something is missing before a machine is claimed", "Look at `MachineAllocated` of the MaasMachine.", slices.Concat(prerequisiteSituations(), dataSituations(), imageSituations())},
		{"A machine is not deployed", "Look at `MachineDeployed` of the MaasMachine.", deploySituations()},
		{"A machine that ran does so no longer", "Look at `Ready` of the MaasMachine.", keepSituations()},
		{"A machine runs, but not as part of its cluster", "Look at `NodeProviderIDSet` and `DNSAttached` of the MaasMachine.", joinSituations()},
		{"A machine is not given back", "Look at `Deleting` of the MaasMachine.", append(releaseSituations(), eraseSituations()...)},
		{"The control plane has no address", "Look at `LoadBalancerReady` of the MaasCluster.", endpointSituations()},
		{"MAAS does not answer as it should", "Look at `MAASAvailable` of the MaasCluster.", regionSituations()},
		{"MAAS lacks something that a cluster needs", "Look at `ZonesAndPoolsFound`, `ImagesFound`, `DomainServed` and `EndpointResolves` of the MaasCluster.", checkSituations()},
		{"The autoscaler does not know what a template offers", "Look at `CapacityKnown` of the MaasMachineTemplate.", templateSituations()},
		{"A cluster does not go away", "Look at `Deleting` of the MaasCluster.", removalSituations()},
	}
}

func TestSituations(t *testing.T) {
	t.Parallel()
	for _, part := range sections() {
		for _, s := range part.situations {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.check(t)
			})
		}
	}
}

func (s situation) check(t *testing.T) {
	w := newWorld(t, s.region)
	s.wrong(w)
	w.pass(cmp.Or(s.after, 3*time.Minute))
	s.compare(w)
	judge(w, s)

	// What changes by itself would be news each minute.
	before, told := w.everything(), len(w.told)
	w.clock.Advance(time.Minute)
	w.look()
	if after := w.everything(); after != before {
		t.Errorf("a minute later the conditions are\n%s\nand were\n%s", after, before)
	}
	if news := w.told[told:]; len(news) > 0 {
		t.Errorf("a minute later there are events again: %v", news)
	}
	if s.mend != nil {
		s.recover(w)
	}
}

// recover does what the page says, and looks whether all is well then.
func (s situation) recover(w *world) {
	told := len(w.warnings())
	s.mend(w)
	w.pass(12 * time.Minute)
	name, _, _ := strings.Cut(s.shows, "=")
	shows, _ := w.condition(s.object(), name)
	ready, message := w.condition(s.object(), clusterv1.ReadyCondition)
	if gone := len(w.conditions(s.object())) == 0; gone {
		return
	}
	if shows == s.shows || ready != "Ready=True Ready" && s.object() != workers {
		w.Errorf("it does not recover: %s, %s: %s%s", shows, ready, message, w.story())
	}
	if news := w.warnings()[told:]; len(news) > 0 {
		w.Errorf("there are warnings after it is mended: %v", news)
	}
}

// compare is what the table says against what is.
func (s situation) compare(w *world) {
	w.Helper()
	name, _, _ := strings.Cut(s.shows, "=")
	failed := false
	expect := func(what, got, want string) {
		if got != want {
			failed = true
			w.Errorf("%s\n got  %s\n want %s", what, got, want)
		}
	}
	shows, message := w.condition(s.object(), name)
	expect("condition", shows, s.shows)
	expect("message", message, s.message)
	if s.object() != workers { // a template is not ready or unready
		ready, readyMessage := w.condition(s.object(), clusterv1.ReadyCondition)
		wantReady, wantReadyMessage := s.wantReady()
		expect("Ready", ready, wantReady)
		expect("Ready's message", readyMessage, wantReadyMessage)
	}
	var got []string
	for _, e := range w.warnings() {
		got = append(got, e.object+" "+e.reason+": "+e.note)
	}
	slices.Sort(got)
	expect("warnings", strings.Join(got, "\n      "), strings.Join(s.wantWarnings(), "\n      "))
	if failed {
		w.Logf("all that is to be seen:%s", w.story())
	}
}

func (s situation) object() string {
	if s.on == "" {
		return worker
	}
	return s.on
}

// said is what tells of the situation: the condition, or where that has nothing to tell any more, the event.
func (s situation) said() string { return cmp.Or(s.message, s.note) }

// saysSo is for what does not make an object unready, and is told in Ready all the same.
const saysSo = "True Ready, with the message"

func (s situation) wantReady() (shows, message string) {
	if s.ready == saysSo {
		return "Ready=True Ready", s.message
	}
	if s.ready != "" {
		return "Ready=" + s.ready, s.readyMessage
	}
	_, reason, _ := strings.Cut(s.shows, " ")
	return "Ready=False " + reason, s.message
}

func (s situation) wantWarnings() []string {
	want := slices.Concat(s.also, s.others)
	if s.event != "" {
		note := s.note
		if note == "" {
			note = s.message
		}
		want = append(want, s.object()+" "+s.event+": "+note)
	}
	slices.Sort(want)
	return want
}

// condition reads like: MachineAllocated=False NoMachineAvailable.
func (w *world) condition(object, name string) (shows, message string) {
	w.Helper()
	for _, c := range w.conditions(object) {
		if c.Type == name {
			return fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason), c.Message
		}
	}
	return name + " is not there", ""
}

// everything is all conditions of all objects, without their times.
func (w *world) everything() string {
	w.Helper()
	text := &strings.Builder{}
	for _, object := range objects() {
		for _, c := range w.conditions(object) {
			c.LastTransitionTime = metav1.Time{}
			fmt.Fprintf(text, "%s %s=%s %s: %s\n", object, c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return text.String()
}
