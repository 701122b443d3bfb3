package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// scenario is something to measure, in a lab of its own.
type scenario struct {
	name string
	// group says when it runs. Scenarios of one group run at the same time, for they wait more than they compute.
	group  int
	config func() simulator.Config
	run    func(ctx context.Context, l *lab, o options, r *result) error
	// alone takes the place of config and run in a scenario that needs no lab.
	alone func(ctx context.Context, o options, r *result) error
	// asked says that it runs only if it is asked for by its name.
	asked bool
}

// lastGroup is the last of the groups of scenarios.
const lastGroup = 3

func scenarios() []scenario {
	return []scenario{
		{name: "at-rest", group: 0, config: atRestRegion, run: atRest},
		{name: "waiting", group: 0, config: waitingRegion, run: waiting},
		{name: "deploying", group: 1, config: deployingRegion, run: deploying},
		{name: "claiming", group: 2, config: claimingRegion, run: claiming},
		{name: "simulator", group: 3, alone: simulating},
		{name: "replacement", group: 3, alone: replacing(3, false), asked: true},
		{name: "replacement-unheld", group: 3, alone: replacing(1, true), asked: true},
	}
}

func names(list []scenario) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.name)
	}
	return out
}

// measure runs a scenario. A result that has a name counts, even beside an error.
func (s scenario) measure(ctx context.Context, e *environment, o options) (r result, err error) {
	if s.alone != nil {
		if err := s.alone(ctx, o, &r); err != nil {
			return result{}, err
		}
		r.Scenario = s.name
		return r, nil
	}
	l, err := newLab(ctx, e, s.name, s.config(), o.out)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return r, err
	}
	r.Latency = maasLike()
	if err := s.run(ctx, l, o, &r); err != nil {
		return result{}, err
	}
	r.Scenario = s.name
	return r, checkClaims(l)
}

// checkClaims fails if a machine was claimed twice, or taken and not kept.
func checkClaims(l *lab) error {
	holder := map[string]string{}
	for _, m := range l.seen.all() {
		id := m.Spec.SystemID
		if other := holder[id]; id != "" && other != "" {
			return fmt.Errorf("machine %s was claimed twice: by %s and by %s", id, other, m.Name)
		}
		holder[id] = m.Name
	}
	for _, m := range l.region.Snapshot().Machines {
		if m.Owner != "" && holder[m.SystemID] == "" {
			return fmt.Errorf("machine %s is allocated, and no MaasMachine has it", m.SystemID)
		}
	}
	return nil
}

// fleet is so many machines of one kind.
func fleet(prefix string, n int, like simulator.Machine) []simulator.Machine {
	var out []simulator.Machine
	for i := range n {
		like.Hostname = fmt.Sprintf("%s-%03d", prefix, i+1)
		out = append(out, like)
	}
	return out
}

func (o options) windowOr(usual time.Duration) time.Duration {
	if o.window > 0 {
		return o.window
	}
	return usual
}

func atRestRegion() simulator.Config {
	return simulator.Config{Machines: fleet("rest", 300, simulator.Machine{})}
}

// atRest counts what MAAS is asked for machines that run.
func atRest(ctx context.Context, l *lab, o options, r *result) error {
	r.Clusters, r.Machines = 30, 300
	if err := l.createClusters(ctx, r.Clusters); err != nil {
		return err
	}
	if err := l.createMachines(ctx, r.Clusters, r.Machines/r.Clusters, 3, infrav1.MaasMachineSpec{}); err != nil {
		return err
	}
	if err := l.seen.wait(ctx, "settled", r.Machines, 5*time.Minute, isSettled); err != nil {
		return err
	}
	l.region.SetLatency(r.Latency)
	// Whoever just acted looks once more.
	if err := sleep(ctx, 30*time.Second); err != nil {
		return err
	}
	if err := l.observe(ctx, o.windowOr(5*time.Minute), r); err != nil {
		return err
	}
	minutes := r.Seconds / 60
	r.add("maas_requests_per_minute_at_rest", float64(r.Traffic.Requests)/minutes, atMost(30))
	r.add("maas_megabytes_per_minute_at_rest", float64(r.Traffic.Bytes)/1e6/minutes, atMost(1))
	return nil
}

func waitingRegion() simulator.Config {
	deployed, broken := simulator.StatusDeployed, simulator.StatusBroken
	machines := fleet("free", 50, simulator.Machine{})
	machines = append(machines, fleet("busy", 130, simulator.Machine{Status: &deployed})...)
	machines = append(machines, fleet("broken", 20, simulator.Machine{Status: &broken})...)
	return simulator.Config{Latency: maasLike(), Machines: machines, Pools: []simulator.Pool{{Name: "empty"}}}
}

// waiting counts what MAAS is asked for claims that no machine fits.
func waiting(ctx context.Context, l *lab, o options, r *result) error {
	r.Clusters, r.Machines = 5, 50
	if err := l.createClusters(ctx, r.Clusters); err != nil {
		return err
	}
	if err := l.createMachines(ctx, r.Clusters, r.Machines/r.Clusters, 1, infrav1.MaasMachineSpec{ResourcePool: "empty"}); err != nil {
		return err
	}
	if err := l.seen.wait(ctx, "told that no machine fits", r.Machines, 4*time.Minute, isWaiting); err != nil {
		return err
	}
	if err := l.observe(ctx, o.windowOr(3*time.Minute), r); err != nil {
		return err
	}
	r.add("maas_requests_per_minute_waiting", float64(r.Traffic.Requests)/(r.Seconds/60), atMost(60))
	r.add("maas_megabytes_per_minute_waiting", float64(r.Traffic.Bytes)/1e6/(r.Seconds/60), nil)
	return nil
}

func deployingRegion() simulator.Config {
	return simulator.Config{
		Latency: maasLike(), Machines: fleet("deploy", 120, simulator.Machine{}),
		Durations: simulator.Durations{Install: 80 * time.Second, Boot: 10 * time.Second, Spread: 1.3},
	}
}

// deploying measures how soon the provider sees that MAAS deployed a machine, and what a machine costs MAAS.
func deploying(ctx context.Context, l *lab, _ options, r *result) error {
	r.Clusters, r.Machines = 10, 100
	if err := l.createClusters(ctx, r.Clusters); err != nil {
		return err
	}
	began := time.Now()
	before, err := l.manager.cpuSeconds()
	if err != nil {
		return err
	}
	if err := l.createMachines(ctx, r.Clusters, r.Machines/r.Clusters, 3, infrav1.MaasMachineSpec{}); err != nil {
		return err
	}
	if err := l.seen.wait(ctx, "settled", r.Machines, 8*time.Minute, isSettled); err != nil {
		return err
	}
	if err := l.finish(r, began, before); err != nil {
		return err
	}
	delays, err := l.delays()
	if err != nil {
		return err
	}
	r.add("deployed_to_provisioned_seconds_p50", percentile(delays, 50), nil)
	r.add("deployed_to_provisioned_seconds_p95", percentile(delays, 95), atMost(5))
	r.add("deployed_to_provisioned_seconds_max", percentile(delays, 100), nil)
	r.add("maas_requests_per_machine", float64(r.Traffic.Requests)/float64(r.Machines), atMost(10))
	return nil
}

// delays are the seconds from MAAS's event to when a watch showed the machine provisioned, ascending.
func (l *lab) delays() ([]float64, error) {
	deployed := map[string]time.Time{}
	for _, e := range l.region.Snapshot().Events {
		if e.Type == "Deployed" {
			deployed[e.SystemID] = e.Time
		}
	}
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	var out []float64
	for name, at := range l.seen.provisioned {
		then, known := deployed[l.seen.objects[name].Spec.SystemID]
		if !known {
			return nil, fmt.Errorf("MaasMachine %s is provisioned, and MAAS never deployed its machine", name)
		}
		out = append(out, at.Sub(then).Seconds())
	}
	slices.Sort(out)
	return out, nil
}

// percentile is the value that so many percent do not exceed. The values ascend.
func percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	return values[max((len(values)*percent+99)/100, 1)-1]
}

func claimingRegion() simulator.Config {
	machines := append(fleet("fits", 50, simulator.Machine{Pool: "workers"}), fleet("other", 50, simulator.Machine{})...)
	return simulator.Config{
		Latency: maasLike(), Machines: machines, Pools: []simulator.Pool{{Name: "workers"}},
		Durations: simulator.Durations{Install: time.Hour},
	}
}

// claiming counts what it takes that as many claims as there are machines get one each.
func claiming(ctx context.Context, l *lab, _ options, r *result) error {
	r.Clusters, r.Machines = 5, 50
	if err := l.createClusters(ctx, r.Clusters); err != nil {
		return err
	}
	began := time.Now()
	before, err := l.manager.cpuSeconds()
	if err != nil {
		return err
	}
	if err := l.createMachines(ctx, r.Clusters, r.Machines/r.Clusters, 1, infrav1.MaasMachineSpec{ResourcePool: "workers"}); err != nil {
		return err
	}
	if err := l.seen.wait(ctx, "claimed", r.Machines, 5*time.Minute, isClaimed); err != nil {
		return err
	}
	if err := l.finish(r, began, before); err != nil {
		return err
	}
	allocates := r.Traffic.Operation["POST machines/ allocate"]
	distinct := map[string]bool{}
	for _, m := range l.seen.all() {
		distinct[m.Spec.SystemID] = true
	}
	r.add("machines_claimed", float64(len(distinct)), atLeast(float64(r.Machines)))
	r.add("allocate_requests", float64(allocates.Requests), atMost(60))
	r.add("allocate_conflicts", float64(allocates.Statuses[409]), nil)
	r.add("seconds_until_all_are_claimed", r.Seconds, nil)
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
