package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// simulatorCommand makes this program run a simulated region, so that its time and memory are those of a process of its own.
const simulatorCommand = "simulator"

const (
	simulated = 5000
	// clients are how many ask the simulator at the same time.
	clients = 4
	// oneByOne and all name the two lists that are asked for.
	oneByOne, all = "list_of_one", "list_of_all"
)

// runSimulator is the measured process. It prints its URL when it serves.
func runSimulator() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	region, err := simulator.New(simulator.Config{
		Zones: []simulator.Zone{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Inventory: []simulator.Group{{
			Count: simulated, Hostname: "node-{n:4}", Zones: []string{"a", "b", "c"}, Tags: [][]string{{"control-plane"}, {"worker"}},
			Cores: []int{4, 8, 16, 32}, MemoryMiB: []int{8192, 16384, 32768, 65536},
		}},
	})
	if err != nil {
		return err
	}
	server, err := region.Start(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(server.URL)
	select {} // until it is killed
}

// simulating measures what the simulator itself takes for many machines.
func simulating(ctx context.Context, _ options, r *result) error {
	r.Machines = simulated
	began := time.Now()
	process, url, err := startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it says that it was killed
	}()
	r.add("simulator_seconds_to_start", time.Since(began).Seconds(), atMost(3))
	memory, err := maxRSSMiB(process.Process.Pid)
	if err != nil {
		return err
	}
	r.add("simulator_mib_at_start", memory, nil)
	began = time.Now()
	took := &durations{of: map[string][]float64{}}
	if err := lives(ctx, url, took); err != nil {
		return err
	}
	r.Seconds = time.Since(began).Seconds()
	if memory, err = maxRSSMiB(process.Process.Pid); err != nil {
		return err
	}
	r.add("simulator_mib_at_most", memory, atMost(500))
	for _, name := range []string{all, oneByOne, "read_machine", "allocate_machine", "deploy_machine", "release_machine"} {
		values := took.of[name]
		if len(values) == 0 {
			return fmt.Errorf("nothing was measured of %s", name)
		}
		slices.Sort(values)
		r.add(name+"_milliseconds_p50", percentile(values, 50), nil)
		r.add(name+"_milliseconds_p95", percentile(values, 95), nil)
	}
	return nil
}

// startSimulator returns once the simulator serves.
func startSimulator(ctx context.Context) (*exec.Cmd, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	command := exec.CommandContext(ctx, self, simulatorCommand)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := command.Start(); err != nil {
		return nil, "", fmt.Errorf("start the simulator: %w", err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("start the simulator: it printed no URL: %w", err), command.Wait())
	}
	return command, strings.TrimSpace(url), nil
}

// durations are the milliseconds that exchanges took, by operation.
type durations struct {
	mu sync.Mutex
	of map[string][]float64
}

// client returns one whose exchanges are measured; lists go by the given name.
func (d *durations) client(url, lists string) (*maas.Client, error) {
	return maas.New(maas.Config{Endpoint: url, APIKey: simulator.DefaultAPIKey, Timeout: 5 * time.Minute, Observe: func(call maas.Call) {
		name := call.Operation
		if name == "list_machines" {
			name = lists
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.of[name] = append(d.of[name], float64(call.Duration.Microseconds())/1e3)
	}})
}

// lives lists, allocates, deploys, reads and releases every machine, and lists all of them before, between and after.
func lives(ctx context.Context, url string, took *durations) error {
	lister, err := took.client(url, all)
	if err != nil {
		return err
	}
	client, err := took.client(url, oneByOne)
	if err != nil {
		return err
	}
	var ids []string
	list := func(status maas.Status) error {
		machines, err := lister.Machines(ctx, maas.MachineFilter{})
		if err != nil {
			return err
		}
		ids = nil
		for _, m := range machines {
			if m.Status != status {
				return fmt.Errorf("machine %s is %s, want %s", m.SystemID, m.Status, status)
			}
			ids = append(ids, m.SystemID)
		}
		if len(ids) != simulated {
			return fmt.Errorf("%d machines are listed, want %d", len(ids), simulated)
		}
		return nil
	}
	userData := []byte("#cloud-config\n" + strings.Repeat("# what Cluster API makes is about as long as this\n", 200))
	deploy := func(string) error {
		m, err := client.Allocate(ctx, maas.AllocateParams{})
		if err != nil {
			return err
		}
		if _, err := client.Machines(ctx, maas.MachineFilter{SystemIDs: []string{m.SystemID}}); err != nil {
			return err
		}
		if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{UserData: userData}); err != nil {
			return err
		}
		_, err = client.Machine(ctx, m.SystemID)
		return err
	}
	release := func(id string) error {
		_, err := client.Release(ctx, id, maas.ReleaseParams{})
		return err
	}
	if err := list(maas.StatusReady); err != nil {
		return err
	}
	if err := forEach(ids, deploy); err != nil {
		return err
	}
	if err := list(maas.StatusDeployed); err != nil {
		return err
	}
	if err := forEach(ids, release); err != nil {
		return err
	}
	return list(maas.StatusReady)
}

// forEach calls f for each machine, from several goroutines, and returns the first error.
func forEach(ids []string, f func(id string) error) error {
	work := make(chan string)
	failed := make(chan error, len(ids))
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for id := range work {
				if err := f(id); err != nil {
					failed <- err
				}
			}
		})
	}
	for _, id := range ids {
		work <- id
	}
	close(work)
	running.Wait()
	close(failed)
	return <-failed
}
