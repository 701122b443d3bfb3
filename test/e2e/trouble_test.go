package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// colleague is the user of MAAS who takes machines.
const colleague = "night-shift"

// trouble makes things go wrong until it is stopped, and looks all the while whether what must never happen does.
type trouble struct {
	t       *testing.T
	s       *sandbox
	random  *rand.Rand
	owner   string // our user of MAAS
	end     context.CancelFunc
	stopped sync.WaitGroup

	mu    sync.Mutex
	taken map[string]time.Time // system IDs of the colleague's machines, and since when
}

// begin makes trouble. Whoever begins it stops it.
func begin(t *testing.T, s *sandbox, seed uint64) *trouble {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	user, err := s.maas().WhoAmI(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := &trouble{t: t, s: s, random: rand.New(rand.NewPCG(seed, 0)), owner: user.Username, end: cancel, taken: map[string]time.Time{}}
	w.stopped.Go(func() { w.make(ctx) })
	w.stopped.Go(func() { w.look(ctx) })
	return w
}

// stop ends it, and mends what is still broken. Once is enough, more do no harm.
func (w *trouble) stop() {
	w.end()
	w.stopped.Wait()
	if err := w.order(http.MethodDelete, "/faults", nil); err != nil {
		w.t.Errorf("ending what goes wrong: %v", err)
	}
}

// make does something every few seconds.
func (w *trouble) make(ctx context.Context) {
	for {
		pause := 3*time.Second + time.Duration(w.random.Int64N(int64(12*time.Second)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		what, do := w.draw()
		if err := do(); err != nil {
			what += ": " + err.Error()
		}
		w.t.Logf("trouble: %s", what)
	}
}

var (
	components = []string{
		"capmaas", "capmaas", "capmaas", "capi-core", "capi-kubeadm-bootstrap", "capi-kubeadm-control-plane", "kube-controller-manager", "kube-apiserver", "etcd",
	}
	operations = []string{
		"machines allocate", "machine deploy", "machine release", "machine set-workload-annotations", "dnsresource update", "dnsresources create", "reads", "writes",
	}
)

// draw chooses what goes wrong next. All that is random is drawn here, whether it is used or not, so that one act does not shift the others.
func (w *trouble) draw() (what string, do func() error) {
	kind, component, on := w.random.IntN(10), pick(w.random, components), pick(w.random, operations)
	seconds, committed, count := 3+w.random.IntN(10), w.random.IntN(2) == 0, 1+w.random.IntN(2)
	fault := scenario.Fault{On: scenario.Names{on}, User: w.owner, Count: count}
	switch kind {
	case 0, 1, 2:
		return component + " is killed", func() error { return w.order(http.MethodPost, "/components/"+component+"/kill", nil) }
	case 3:
		op := pick(w.random, []string{"allocate", "deploy", "release", "set_workload_annotations"})
		return "capmaas is killed in its next " + op, func() error { return w.order(http.MethodPost, "/components/capmaas/kill?on="+op, nil) }
	case 4:
		fault.Do = scenario.DropAnswer
	case 5:
		fault.Do, fault.Answer, fault.Committed = scenario.Fail, pick(w.random, []string{"unavailable", "error", "bad-gateway", "gateway-timeout"}), committed
	case 6:
		fault.Do, fault.Committed = scenario.Reset, committed
	case 7:
		fault = scenario.Fault{Do: scenario.AwayRegion, For: scenario.Duration(time.Duration(seconds) * time.Second), Count: 1}
	case 8:
		fault = scenario.Fault{Do: scenario.LoseEvents, For: scenario.Duration(time.Duration(3*seconds) * time.Second), Count: 1}
	default:
		return "a colleague takes a free machine", w.takeFree
	}
	text, err := json.Marshal(fault)
	return "MAAS: " + string(text), func() error { return errors.Join(err, w.order(http.MethodPost, "/faults", text)) }
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// takeFree has the colleague take a machine that nobody has, unless that leaves the cluster too few.
func (w *trouble) takeFree() error {
	snapshot, err := w.snapshot()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.taken) > 0 {
		return errors.New("the colleague has enough")
	}
	for _, m := range snapshot.Machines {
		if m.StatusName == "Ready" {
			return w.take(m.SystemID)
		}
	}
	return errors.New("no machine is free")
}

// take is called with the lock.
func (w *trouble) take(systemID string) error {
	if err := w.order(http.MethodPost, "/machines/"+systemID+"/take?to="+url.QueryEscape(colleague), nil); err != nil {
		return err
	}
	w.taken[systemID] = time.Now()
	return nil
}

// takeWorker has the colleague take the newest machine of the cluster, which is no control plane, and returns its system ID.
func (w *trouble) takeWorker() string {
	w.t.Helper()
	var id string
	insist(w.t, "a colleague takes a worker", func() error {
		snapshot, err := w.snapshot()
		if err != nil {
			return err
		}
		for _, m := range snapshot.Machines {
			if m.Owner == w.owner && m.StatusName == "Deployed" && !holdsAny(snapshot, m.Addresses) {
				id = m.SystemID
			}
		}
		if id == "" {
			return errors.New("no worker is Deployed")
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.take(id)
	})
	return id
}

// holdsAny says whether a DNS record holds one of the addresses, as that of a control plane does.
func holdsAny(snapshot simulator.Snapshot, addresses []string) bool {
	for _, record := range snapshot.DNSResources {
		for _, a := range record.Addresses {
			for _, b := range addresses {
				if a == b && len(record.Records) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// giveBack has the colleague release all machines.
func (w *trouble) giveBack() {
	w.t.Helper()
	for id := range w.taken {
		if err := w.order(http.MethodPost, "/machines/"+id+"/release", nil); err != nil {
			w.t.Errorf("releasing %s: %v", id, err)
		}
	}
}

// ours are the hostnames of machines that our user has.
func (w *trouble) ours() []string {
	snapshot, err := w.snapshot()
	if err != nil {
		return []string{err.Error()}
	}
	var names []string
	for _, m := range snapshot.Machines {
		if m.Owner == w.owner {
			names = append(names, m.Hostname)
		}
	}
	return names
}

// look watches the region for what must never be.
func (w *trouble) look(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
		}
		snapshot, err := w.snapshot()
		if err != nil {
			continue // the sandbox is busy; a person would look again
		}
		claims := map[string]string{}
		for _, m := range snapshot.Machines {
			if m.Owner != w.owner || m.AgentName == "" {
				continue
			}
			if other := claims[m.AgentName]; other != "" {
				w.t.Errorf("%s and %s were both allocated for one MaasMachine", other, m.Hostname)
			}
			claims[m.AgentName] = m.Hostname
		}
	}
}

// checkStrangers makes sure that nothing of ours changed a machine while it was the colleague's.
func (w *trouble) checkStrangers() {
	w.t.Helper()
	var all []simulator.Request
	w.s.ask(http.MethodGet, "/requests", &all)
	for _, r := range all {
		since, isTheirs := w.taken[r.SystemID]
		if isTheirs && r.User == w.owner && r.Method != http.MethodGet && r.Committed && r.Time.After(since) {
			w.t.Errorf("%s of %s was carried out after the colleague took it", r.Operation, r.SystemID)
		}
	}
}

func (w *trouble) snapshot() (snapshot simulator.Snapshot, err error) {
	answer, err := w.send(http.MethodGet, "/snapshot", nil)
	if err != nil {
		return snapshot, err
	}
	return snapshot, json.Unmarshal(answer, &snapshot)
}

func (w *trouble) order(method, path string, body []byte) error {
	_, err := w.send(method, path, body)
	return err
}

// send asks the sandbox's control socket, also after the test's end.
func (w *trouble) send(method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := w.s.control.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(text))
	}
	return text, err
}
