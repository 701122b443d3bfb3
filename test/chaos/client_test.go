package chaos

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// client is an API server as a manager sees it: reads come from a cache, which may be behind, and writes may go wrong.
func (m *manager) client(s *store) client.Client {
	return interceptor.NewClient(s.raw, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, k client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			if m.dead() {
				return errKilled
			}
			return s.get(k, o, m.behind(s, k, o))
		},
		List: func(_ context.Context, _ client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if m.dead() {
				return errKilled
			}
			return s.list(l, m.behind(s, client.ObjectKey{}, nil), opts)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.writes(s, "update", o, func(o client.Object) error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return m.writes(s, "patch", o, func(o client.Object) error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return m.writes(s, "update "+sub, o, func(o client.Object) error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return m.writes(s, "patch "+sub, o, func(o client.Object) error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// behind is how old what a read shows is. Secrets are not cached, and who was told of a conflict waits until the cache has what is new.
func (m *manager) behind(s *store, key client.ObjectKey, o client.Object) time.Duration {
	if s != m.of.store || o != nil && (kindOf(o) == "Secret" || m.caughtUp[objectKey{kindOf(o), key.Name}]) {
		return 0
	}
	return m.of.lag
}

// writes is a write of a manager.
func (m *manager) writes(s *store, verb string, o client.Object, do func(client.Object) error) error {
	w := m.w
	if m.dead() {
		return errKilled
	}
	w.meanwhile()
	if m.dead() {
		return errKilled
	}
	what := verb + " " + idOf(o).String()
	blow := w.blowOfKubernetes()
	aside := o.DeepCopyObject().(client.Object) // for who gets no answer learns nothing
	effect := func(o client.Object) error {
		err := do(o)
		if err != nil {
			w.tell(m.name, "%s: %v", what, err)
			m.caughtUp[idOf(o)] = apierrors.IsConflict(err)
			return err
		}
		w.tell(m.name, "%s%s", what, blow.String())
		s.wrote(o)
		w.judgeObject(m, s, o)
		return nil
	}
	switch blow {
	case killedBefore:
		m.kill("before " + what)
		return errKilled
	case killedAfter:
		_ = effect(aside) // nobody hears of it
		m.kill("after " + what)
		return errKilled
	case answerLost:
		_ = effect(aside) // nobody hears of it
		w.clock.Advance(10 * time.Second)
		return apierrors.NewTimeoutError("the API server did not answer in time", 1)
	case refused:
		w.tell(m.name, "%s: refused", what)
		return apierrors.NewServiceUnavailable("etcd has no leader")
	case conflict:
		w.tell(m.name, "%s: conflict", what)
		return apierrors.NewConflict(schema.GroupResource{Resource: kindOf(o)}, o.GetName(), errKilled)
	}
	return effect(o)
}

// blow is how a call goes wrong; "" is not at all.
type blow string

const (
	killedBefore blow = "killed before"
	killedAfter  blow = "killed after"
	answerLost   blow = "answer lost"
	refused      blow = "refused"
	conflict     blow = "conflict"
)

func (b blow) String() string {
	if b == "" {
		return ""
	}
	return " (" + string(b) + ")"
}

// blowOfKubernetes draws what goes wrong with a write to Kubernetes.
func (w *world) blowOfKubernetes() blow {
	if w.calm || !w.dice.chance(w.weather.kubernetes) {
		return ""
	}
	return pick(w.dice, []weighted[blow]{{2, killedBefore}, {2, killedAfter}, {3, answerLost}, {3, refused}, {3, conflict}})
}
