package maasremediation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachine"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// blow is what happens to one write, of those to MAAS and to Kubernetes together.
type blow struct {
	at  int // counted from 1; 0 means none
	way way
}

type way string

const (
	before     way = "before" // the manager is killed, and the write does not happen
	after      way = "after"  // it happens, and the manager is killed before it hears of that
	lostAnswer way = "lost"   // it happens, and the manager is told that it failed
)

var errKilled, errLost = errors.New("the manager was killed"), errors.New("the connection broke")

// manager is all that one process of the provider has. Once it is killed, nothing that its code still does gets out.
type manager struct {
	ctx          context.Context
	kill         context.CancelFunc
	world        *world
	network      *http.Transport
	machines     *maasmachine.Reconciler
	remediations *Reconciler
}

func (m *manager) dead() bool { return m.ctx.Err() != nil }

// starts starts a manager, which remembers nothing of those before.
func (w *world) starts() {
	w.Helper()
	w.managers++
	m := &manager{world: w}
	m.ctx, m.kill = context.WithCancel(context.Background())
	// Without connections that are used again Go repeats no request by itself.
	m.network = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, kind, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, kind, w.server.Listener.Addr().String())
	}}
	api, err := maas.New(maas.Config{Endpoint: "http://maas.example.com/MAAS", APIKey: ourKey, Now: w.clock.Now, Transport: m})
	w.must(err)
	user, view, objects := identity.NewWithClock(api, w.clock.Now), inventory.New(api, w.clock.Now), w.killable(m)
	m.machines = &maasmachine.Reconciler{
		Client: objects, MAAS: api, Endpoint: endpoint.NewPublisher(api), Identity: user, Recorder: w, Now: w.clock.Now,
		ClusterCache: clustercache.NewFakeClusterCache(fake.NewClientBuilder().Build(), key("prod"), "maasmachine-watchNodes"),
		Inventory:    view, Reservations: &placement.Reservations{},
	}
	m.remediations = &Reconciler{Client: objects, Reader: objects, MAAS: api, Identity: user, Inventory: view, Recorder: w, Now: w.clock.Now}
	w.manager = m
}

// manages lets the manager reconcile everything once. If it is killed meanwhile, the next one starts.
func (w *world) manages() {
	w.Helper()
	m := w.manager
	objects, targets := &infrav1.MaasRemediationList{}, &infrav1.MaasMachineList{}
	w.must(w.stored.List(context.Background(), objects))
	w.must(w.stored.List(context.Background(), targets))
	run := func(reconcile func(context.Context, ctrl.Request) (ctrl.Result, error), name string) {
		w.mu.Lock()
		clear(w.read)
		w.mu.Unlock()
		if _, err := reconcile(m.ctx, ctrl.Request{NamespacedName: key(name)}); err != nil && !m.dead() && !errors.Is(err, errLost) {
			w.Errorf("reconcile %s: %v", name, err)
		}
	}
	for i := range objects.Items {
		run(m.remediations.Reconcile, objects.Items[i].Name)
	}
	for i := range targets.Items {
		run(m.machines.Reconcile, targets.Items[i].Name)
	}
	if m.dead() {
		w.starts()
	}
}

// writing does a write, unless it is struck.
func (m *manager) writing(what string, do func() error) error {
	if m.dead() {
		return errKilled
	}
	w := m.world
	w.mu.Lock()
	w.writes++
	way := w.blow.way
	struck := w.blow.at == w.writes
	if struck {
		w.struckAt = fmt.Sprintf("%s %d: %s", way, w.writes, what)
	}
	w.mu.Unlock()
	switch {
	case !struck:
		return do()
	case way == before:
		m.kill()
		return errKilled
	}
	err := do()
	if way == after {
		m.kill()
		return errKilled
	}
	return errors.Join(errLost, err)
}

// RoundTrip sends a request to MAAS.
func (m *manager) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead() {
		return nil, errKilled
	}
	if r.Method == http.MethodGet {
		return m.network.RoundTrip(r)
	}
	var answer *http.Response
	err := m.writing("MAAS "+r.URL.RawQuery+" "+r.URL.Path, func() (err error) {
		answer, err = m.network.RoundTrip(r.WithContext(context.WithoutCancel(r.Context()))) //nolint:bodyclose // it is handed on
		return err
	})
	if err != nil {
		if answer != nil {
			_ = answer.Body.Close()
		}
		return nil, err
	}
	return answer, nil
}

// killable is Kubernetes as a manager sees it.
func (w *world) killable(m *manager) client.WithWatch {
	name := func(o client.Object) string {
		kind := fmt.Sprintf("%T", o)
		return kind[strings.LastIndex(kind, ".")+1:]
	}
	return interceptor.NewClient(w.stored, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if m.dead() {
				return errKilled
			}
			return c.Get(ctx, k, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if m.dead() {
				return errKilled
			}
			return c.List(ctx, l, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return m.writing("patch "+name(o), func() error { return c.Patch(context.WithoutCancel(ctx), o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if _, machine := o.(*clusterv1.Machine); machine { // of which others make decisions
				return m.writing("patch the "+sub+" of "+name(o), func() error { return c.SubResource(sub).Patch(context.WithoutCancel(ctx), o, p, opts...) })
			}
			if m.dead() {
				return errKilled
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}
