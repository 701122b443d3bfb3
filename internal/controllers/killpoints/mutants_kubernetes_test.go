package killpoints

import (
	"context"
	"encoding/json"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// change is a merge patch of a MaasMachine.
type change map[string]any

// part is the object below a key; empty if there is none.
func (c change) part(key string) change {
	if part, is := c[key].(map[string]any); is {
		return part
	}
	return nil
}

func (c change) annotations() change { return c.part("metadata").part("annotations") }

// sets says that a key gets a value, and is not removed.
func (c change) sets(key string) bool { return c[key] != nil }

// patching lets a bug change what is written of a MaasMachine, its status aside. If edit says no, nothing is written, and the manager
// believes that it was.
func patching(edit func(change) (write bool)) func(client.WithWatch) client.WithWatch {
	return func(next client.WithWatch) client.WithWatch {
		return interceptor.NewClient(next, interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if _, is := o.(*infrav1.MaasMachine); !is {
					return c.Patch(ctx, o, p, opts...)
				}
				data, err := p.Data(o)
				if err != nil {
					return err
				}
				edited := change{}
				if err := json.Unmarshal(data, &edited); err != nil {
					return err
				}
				if !edit(edited) {
					return nil
				}
				if data, err = json.Marshal(edited); err != nil {
					return err
				}
				return c.Patch(ctx, o, client.RawPatch(p.Type(), data), opts...)
			},
		})
	}
}

// writesOverNewer forgets which version of the object a decision was made from.
func writesOverNewer(c change) bool {
	delete(c.part("metadata"), "resourceVersion")
	return true
}

// neverStoresTheMachine keeps to itself which machine a claim got.
func neverStoresTheMachine(c change) bool {
	return !c.part("spec").sets("systemID")
}

// writesNoAttempt asks for a machine before it writes down that it does.
func writesNoAttempt(c change) bool {
	return !c.annotations().sets(infrav1.ClaimAttemptAnnotation)
}

// blocksNoMove lets the object be moved while nobody knows what a claim led to.
func blocksNoMove(c change) bool {
	if c.annotations().sets(clusterctlv1.BlockMoveAnnotation) {
		delete(c.annotations(), clusterctlv1.BlockMoveAnnotation)
	}
	return true
}

// reading lets a bug change what is seen of a MaasMachine.
func reading(see func(*infrav1.MaasMachine)) func(client.WithWatch) client.WithWatch {
	return func(next client.WithWatch) client.WithWatch {
		return interceptor.NewClient(next, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				err := c.Get(ctx, key, o, opts...)
				if m, is := o.(*infrav1.MaasMachine); is && err == nil {
					see(m)
				}
				return err
			},
		})
	}
}

// takesTheFinalizerForStored never writes it.
func takesTheFinalizerForStored(m *infrav1.MaasMachine) {
	controllerutil.AddFinalizer(m, infrav1.MachineFinalizer)
}

// claimsAnewAfterAStart knows only a claim that it made itself.
func claimsAnewAfterAStart(next client.WithWatch) client.WithWatch {
	mine := false
	made := patching(func(c change) bool {
		mine = mine || c.annotations().sets(infrav1.ClaimAnnotation)
		return true
	})
	return reading(func(m *infrav1.MaasMachine) {
		if !mine {
			delete(m.Annotations, infrav1.ClaimAnnotation)
		}
	})(made(next))
}

// seesNoMachines takes a list that is not filled yet for the truth.
func seesNoMachines(next client.WithWatch) client.WithWatch {
	return interceptor.NewClient(next, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if _, is := l.(*infrav1.MaasMachineList); is {
				return nil
			}
			return c.List(ctx, l, opts...)
		},
	})
}
