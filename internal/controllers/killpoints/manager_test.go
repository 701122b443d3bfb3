package killpoints

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maascluster"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers/maasmachine"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// manager is all that one process of the provider has. Once it is killed, nothing that its code still does gets out.
type manager struct {
	number   int
	ctx      context.Context
	kill     context.CancelFunc
	network  *http.Transport
	clusters *maascluster.Reconciler
	machines *maasmachine.Reconciler
	names    *checks.Names
	view     *inventory.Inventory
	swept    time.Time // when it looked for old tags
}

var errKilled = errors.New("the manager was killed")

func (m *manager) dead() bool { return m.ctx.Err() != nil }

// RoundTrip sends a request to MAAS.
func (m *manager) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead() {
		return nil, errKilled
	}
	return m.network.RoundTrip(r)
}

// starts starts a manager, which remembers nothing of those before.
func (w *world) starts() {
	w.Helper()
	w.managers++
	m := &manager{number: w.managers}
	m.ctx, m.kill = context.WithCancel(context.Background())
	// Without connections that are used again Go repeats no request by itself.
	m.network = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, kind, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, kind, w.server.Listener.Addr().String())
	}}
	clock := checks.NewClock(w.clock.Now)
	api, err := maas.New(maas.Config{
		Endpoint: "http://maas.example.com/MAAS", APIKey: ourKey, Now: w.clock.Now, Transport: w.mutation.toMAAS(m),
		Observe: func(c maas.Call) { clock.Observe(c); w.noteMethod() },
	})
	w.must(err)
	user, publisher := identity.NewWithClock(api, w.clock.Now), endpoint.NewPublisher(api)
	publisher.Now = w.clock.Now
	m.view, m.names = inventory.New(api, w.clock.Now), checks.NewNames(w.resolve, w.clock.Now)
	objects := w.mutation.toKubernetes(w.killable(m, w.stored))
	workloads := clustercache.NewFakeClusterCache(w.killable(m, w.workload), key(cluster), "maasmachine-watchNodes")
	m.clusters = &maascluster.Reconciler{
		Client: objects, Endpoint: publisher, Identity: user, ClusterCache: workloads, Recorder: w, Names: m.names,
		Checks: checks.New(checks.Config{MAAS: api, Identity: user, Clock: clock, Now: w.clock.Now}),
	}
	m.machines = &maasmachine.Reconciler{
		Client: objects, MAAS: api, Endpoint: publisher, Identity: user, ClusterCache: workloads, Recorder: w, Now: w.clock.Now,
		Inventory: m.view, Reservations: &placement.Reservations{},
		LookUp: w.resolve,
		Probe:  func(context.Context, string, int32) bool { return true },
	}
	w.manager = m
}

// look lets everything that the manager has run once. If it is killed meanwhile, the next one starts.
func (w *world) look() {
	w.Helper()
	m := w.manager
	run := func(reconcile func(context.Context, ctrl.Request) (ctrl.Result, error), name string) {
		if m.dead() {
			return
		}
		w.rules.newReconcile()
		// What went wrong is in the conditions, or is tried again.
		_, _ = reconcile(m.ctx, ctrl.Request{NamespacedName: key(name)})
	}
	m.view.Step(m.ctx)
	if w.role == controlPlane {
		run(m.clusters.Reconcile, cluster)
		w.clusterAPI()
	}
	run(m.machines.Reconcile, machine)
	if !m.dead() {
		m.names.Round(m.ctx)
	}
	if now := w.clock.Now(); !m.dead() && now.Sub(m.swept) >= 10*time.Minute {
		m.swept = now
		_ = m.machines.SweepTags(m.ctx) // what went wrong is tried again
	}
	w.rules.check(w)
	w.landsIfDue()
	if m.dead() {
		w.starts()
	}
}

// noteMethod writes down which method of package maas's client is being called, and by which function of ours.
func (w *world) noteMethod() {
	pcs := make([]uintptr, 40)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	method := ""
	for {
		frame, more := frames.Next()
		name, isMethod := strings.CutPrefix(frame.Function, module+"/maas.(*Client).")
		switch {
		case isMethod:
			method = name
		case method != "" && !strings.HasPrefix(frame.Function, module+"/maas."):
			w.mu.Lock()
			w.methods[method], w.methods[method+" in "+strings.TrimPrefix(functionName(frame.Function), module+"/internal/")] = true, true
			w.mu.Unlock()
			return
		}
		if !more {
			return
		}
	}
}

// functionName is that of the function in whose text a function literal stands.
func functionName(name string) string {
	for {
		i := strings.LastIndex(name, ".func")
		if i < 0 || strings.ContainsAny(name[i+len(".func"):], "/()") {
			return name
		}
		name = name[:i]
	}
}

const module = "github.com/capmaas/cluster-api-provider-maas"

// killable is Kubernetes as a manager sees it.
func (w *world) killable(m *manager, to client.WithWatch) client.WithWatch {
	alive := func(do func() error) error {
		if m.dead() {
			return errKilled
		}
		return do()
	}
	return interceptor.NewClient(to, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return alive(func() error { return c.Get(ctx, k, o, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			return alive(func() error { return c.List(ctx, l, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return w.writes(m, "create", "", o, func(o client.Object) error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return w.writes(m, "update", "", o, func(o client.Object) error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return w.writes(m, "delete", "", o, func(o client.Object) error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return w.writes(m, "patch", "", o, func(o client.Object) error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return w.writes(m, "update", sub, o, func(o client.Object) error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.writes(m, "patch", sub, o, func(o client.Object) error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// kindOf names an object's kind.
func kindOf(o client.Object) string {
	name := fmt.Sprintf("%T", o)
	return name[strings.LastIndex(name, ".")+1:]
}
