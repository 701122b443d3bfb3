// Package follow makes a cluster from the ordinary template, as a user would, and tells how it comes up.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

const (
	// ClusterName is the name of the cluster that the sandbox makes.
	ClusterName = "t-cluster"
	// Namespace of its objects in the management cluster.
	Namespace = "default"

	// pace is how often one looks.
	pace = time.Second
	// stall is how long nothing changes before the unhappy conditions are shown.
	stall = 45 * time.Second
	// patience with a management cluster that does not answer.
	patience = 30 * time.Second
)

// Options say what to make and where to tell about it.
type Options struct {
	Layout host.Layout
	Ports  host.Ports
	// Image is what machines are deployed with.
	Image                  management.Image
	ControlPlanes, Workers int
	// Timeout is how long it may take.
	Timeout time.Duration
	// Begin is what elapsed times count from.
	Begin time.Time
	Out   io.Writer
	// Columns and Height of the terminal; 0 when there is none.
	Columns, Height int
}

// follower is one run.
type follower struct {
	Options
	view       view
	control    *management.Control
	management client.Client
	workload   *workload
	complained string // the last complaint
	struck     int    // how many strikes of a scenario were told
}

// Run makes the cluster if it is not there, and follows it until all its Nodes are Ready, CoreDNS is available and Cluster API
// calls it Available. The error says what was missing when time ran out.
func Run(ctx context.Context, o Options) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	c, err := connect(o.Layout.ManagementKubeconfig(), scheme, 15*time.Second)
	if err != nil {
		return err
	}
	f := &follower{
		Options: o, view: newView(o.Out, o.Columns, o.Height), control: management.NewControl(o.Layout), management: c,
		workload: &workload{layout: o.Layout, port: o.Ports.Workload, scheme: scheme, management: c},
	}
	if err := f.make(ctx); err != nil {
		return err
	}
	if err := f.follow(ctx); err != nil {
		return err
	}
	f.conclude()
	return nil
}

func (f *follower) elapsed() time.Duration { return time.Since(f.Begin) }

// make makes the cluster's objects. A cluster that is there already is left as it is: somebody may have scaled it.
func (f *follower) make(ctx context.Context) error {
	config, err := makeRepository(ctx, f.Layout, f.Image)
	if err != nil {
		return err
	}
	s, err := observeManagement(ctx, f.management)
	if err != nil {
		return err
	}
	if s.cluster != nil {
		f.view.say(f.elapsed(), "cluster "+ClusterName+" is there already")
		return nil
	}
	text, err := generate(ctx, f.Options, config)
	if err != nil {
		return err
	}
	path := filepath.Join(f.Layout.State, ClusterName+".yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("writing the cluster's objects: %w", err)
	}
	objects, err := management.ReadManifests(text)
	if err != nil {
		return err
	}
	if err := management.Apply(ctx, f.management, objects); err != nil {
		return err
	}
	f.view.say(f.elapsed(), fmt.Sprintf("clusterctl made %s from the template, and it was applied: %s with %d + %d machines",
		path, ClusterName, f.ControlPlanes, f.Workers))
	return nil
}

// follow looks again and again until all is reached.
func (f *follower) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go f.workload.watch(ctx)
	deadline := time.Now().Add(f.Timeout)
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var (
		rows    []row
		changed = time.Now()
		seen    = time.Now()
		final   verdict
	)
	for {
		s, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && time.Since(seen) > patience:
			return err
		case err == nil:
			seen = time.Now()
			f.tellStrikes(ctx)
			f.view.show(s, f.elapsed())
			missing := s.missing()
			if len(missing) == 0 {
				return nil
			}
			if why := final.of(s.hopeless(), time.Now()); why != "" {
				f.complain(s, "the control plane failed")
				return errors.New(why)
			}
			if now := s.rows(); !reflect.DeepEqual(rows, now) {
				rows, changed = now, time.Now()
			} else if time.Since(changed) > stall {
				f.complain(s, fmt.Sprintf("nothing has changed for %s", time.Since(changed).Round(time.Second)))
				changed = time.Now()
			}
			if time.Now().After(deadline) {
				f.complain(s, "time is up")
				return fmt.Errorf("the cluster did not come up within %s: %s", f.Timeout, strings.Join(missing, "; "))
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// look reads everything once. What is known of the workload cluster is read by somebody else, who may have to wait for it.
func (f *follower) look(ctx context.Context) (*state, error) {
	s, err := observeManagement(ctx, f.management)
	if err != nil {
		return nil, err
	}
	if err := observeRegion(ctx, f.control, s); err != nil {
		return nil, err
	}
	if s.cluster == nil {
		return nil, errors.New("the Cluster object was deleted")
	}
	s.failures = bootstrapFailures(f.Layout, s)
	s.workload = f.workload.latest()
	return s, nil
}

// complain shows what is not as it should be.
func (f *follower) complain(s *state, why string) {
	if what := f.wrong(s); what != f.complained {
		f.complained = what
		f.view.say(f.elapsed(), why+"; what is not as it should be:"+what)
		return
	}
	f.view.say(f.elapsed(), why+"; the same is not as it should be")
}

// wrong lists the conditions that are not as they should be, and where to look.
func (f *follower) wrong(s *state) string {
	var text strings.Builder
	for _, c := range s.complaints() {
		fmt.Fprintf(&text, "\n    %s %s %s", c.object, c.condition, c.message)
	}
	if s.workload.trouble != "" {
		fmt.Fprintf(&text, "\n    %s", s.workload.trouble)
	}
	text.WriteString(f.whereToLook(s))
	if shortage := host.Shortage(); shortage != "" {
		fmt.Fprintf(&text, "\n    %s", shortage)
	}
	return text.String()
}

// conclude says what one has now, and what to try.
func (f *follower) conclude() {
	l := f.Layout
	workload := l.WorkloadKubeconfig(ClusterName)
	fmt.Fprintf(f.Out, `
Cluster %s is up after %s: all Nodes are Ready, CoreDNS is available.

  management cluster  %s
  workload cluster    %s

Try next:

  %s --kubeconfig %s get nodes -o wide
  %s --kubeconfig %s describe cluster %s --show-conditions all
  %s --kubeconfig %s scale machinedeployment %s-md-0 --replicas=%d

How things stand, and what went wrong in MAAS: make sandbox-status
Stop it all with: make sandbox-down
`, ClusterName, strings.TrimSpace(Elapsed(f.elapsed())), l.ManagementKubeconfig(), workload,
		l.Bin("kubectl"), workload, l.Bin("clusterctl"), l.ManagementKubeconfig(), ClusterName,
		l.Bin("kubectl"), l.ManagementKubeconfig(), ClusterName, f.Workers+1)
}
