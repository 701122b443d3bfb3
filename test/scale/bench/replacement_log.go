package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// watch says what changes of the control plane's machines, so that a request that failed can be understood.
func (s *replacement) watch(ctx context.Context) {
	last := map[string]string{}
	for sleep(ctx, time.Second) == nil {
		if s.unheld {
			s.unhook(ctx)
		}
		now, err := s.states(ctx)
		if err != nil {
			continue // it is read again in a moment
		}
		for name, state := range now {
			if last[name] != state {
				s.say("%s: %s", name, state)
			}
		}
		for name := range last {
			if now[name] == "" {
				s.say("%s: gone", name)
			}
		}
		last = now
	}
}

// unhook takes our hook away from Machines that are deleted.
func (s *replacement) unhook(ctx context.Context) {
	machines, err := s.machines(ctx)
	if err != nil {
		return // it is read again in a moment
	}
	for i := range machines {
		m := &machines[i]
		if _, is := m.Annotations[infrav1.EndpointHookAnnotation]; !is || m.DeletionTimestamp.IsZero() {
			continue
		}
		old := m.DeepCopy()
		delete(m.Annotations, infrav1.EndpointHookAnnotation)
		if err := s.management.Patch(ctx, m, client.MergeFrom(old)); err != nil {
			s.say("%s: its hook could not be taken away: %v", m.Name, err)
		}
	}
}

// states puts each Machine into a line.
func (s *replacement) states(ctx context.Context) (map[string]string, error) {
	machines, err := s.machines(ctx)
	if err != nil {
		return nil, err
	}
	list := &infrav1.MaasMachineList{}
	if err := s.management.List(ctx, list, client.InNamespace("default")); err != nil {
		return nil, err
	}
	states := map[string]string{}
	for i := range machines {
		m := &machines[i]
		at := slices.IndexFunc(list.Items, func(i infrav1.MaasMachine) bool { return i.Name == m.Spec.InfrastructureRef.Name })
		state := stateOf(m)
		if at >= 0 {
			infra := &list.Items[at]
			state += ", " + reason(infra.Status.Conditions, infrav1.MachineDNSAttachedCondition)
			if len(infra.Status.Addresses) > 0 {
				state += " " + infra.Status.Addresses[0].Address
			}
			if !infra.DeletionTimestamp.IsZero() {
				state += ", being released"
			}
		}
		states[m.Name] = state
	}
	return states, nil
}

func stateOf(m *clusterv1.Machine) string {
	state := m.Status.Phase
	if !m.DeletionTimestamp.IsZero() {
		state += " (" + reason(m.Status.Conditions, clusterv1.MachineDeletingCondition) + ")"
	}
	var hooks []string
	for key := range m.Annotations {
		if name, is := strings.CutPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/"); is {
			hooks = append(hooks, name)
		}
	}
	slices.Sort(hooks)
	return fmt.Sprintf("%s, hooks %s, API server %s", state, hooks, reason(m.Status.Conditions, "APIServerPodHealthy"))
}

func reason(conditions []metav1.Condition, kind string) string {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return "unknown"
}

// say prints a line with its time.
func (s *replacement) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format("15:04:05.0"), fmt.Sprintf(format, args...))
}
