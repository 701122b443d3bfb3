package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// tracker sees MaasMachines change, and remembers when.
type tracker struct {
	mu          sync.Mutex
	objects     map[string]*infrav1.MaasMachine
	provisioned map[string]time.Time // when provisioned was first seen
}

func newTracker(ctx context.Context, from cache.Cache) (*tracker, error) {
	t := &tracker{objects: map[string]*infrav1.MaasMachine{}, provisioned: map[string]time.Time{}}
	informer, err := from.GetInformer(ctx, &infrav1.MaasMachine{})
	if err != nil {
		return nil, fmt.Errorf("watch the MaasMachines: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { t.note(object) },
		UpdateFunc: func(_, object any) { t.note(object) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch the MaasMachines: %w", err)
	}
	return t, nil
}

func (t *tracker) note(object any) {
	m, ok := object.(*infrav1.MaasMachine)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.objects[m.Name] = m
	if _, known := t.provisioned[m.Name]; !known && isProvisioned(m) {
		t.provisioned[m.Name] = time.Now()
	}
}

// all are the newest copies, by name.
func (t *tracker) all() []*infrav1.MaasMachine {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*infrav1.MaasMachine
	for _, m := range t.objects {
		out = append(out, m)
	}
	return out
}

// wait waits until so many MaasMachines are as they should be. Its error tells of one that is not.
func (t *tracker) wait(ctx context.Context, what string, n int, patience time.Duration, fits func(*infrav1.MaasMachine) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		got := 0
		var other *infrav1.MaasMachine
		for _, m := range t.all() {
			if fits(m) {
				got++
			} else {
				other = m
			}
		}
		if got >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d machines are %s after %s%s", got, n, what, patience, storyOf(other))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func storyOf(m *infrav1.MaasMachine) string {
	if m == nil {
		return ""
	}
	text := "; MaasMachine " + m.Name + " says:"
	for _, c := range m.GetConditions() {
		if c.Status != "True" {
			text += fmt.Sprintf(" %s=%s %s: %s;", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return text
}

func isProvisioned(m *infrav1.MaasMachine) bool {
	return m.Status.Initialization.Provisioned != nil && *m.Status.Initialization.Provisioned
}

func isClaimed(m *infrav1.MaasMachine) bool { return m.Spec.SystemID != "" }

// isSettled says that nothing is left to be done.
func isSettled(m *infrav1.MaasMachine) bool {
	return isProvisioned(m) && conditions.IsTrue(m, infrav1.MachineNodeLinkedCondition) &&
		(!isControlPlane(m) || conditions.IsTrue(m, infrav1.MachineDNSAttachedCondition))
}

// isWaiting says that a user is told that no machine fits.
func isWaiting(m *infrav1.MaasMachine) bool {
	c := conditions.Get(m, infrav1.MachineAllocatedCondition)
	return c != nil && c.Reason == infrav1.NoMachineAvailableReason
}
