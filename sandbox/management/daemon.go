package management

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

// Daemon is a sandbox at work, seen from inside its namespaces.
type Daemon struct {
	settings  Settings
	layout    host.Layout
	inherited *host.Inherited
	reporter  *reporter
	log       *slog.Logger

	authority *authority
	// admin may do all; manager only what CAPMAAS's own manifests grant its service account.
	admin, manager pair
	apiKey         string

	supervisor *supervisor
	roots      *roots.Cache
	booter     *machines.Booter
	region     *simulator.Region
	trouble    *trouble
	ready      chan struct{}
}

// Run starts everything and keeps it running until ctx ends or a component fails. Failures are also told to whoever started the
// sandbox.
func Run(ctx context.Context, settings Settings, inherited *host.Inherited, log *slog.Logger) error {
	d := &Daemon{
		settings: settings, layout: settings.Layout, inherited: inherited, reporter: &reporter{w: inherited.Progress}, log: log,
		supervisor: newSupervisor(settings.Layout, host.NewProcessTable(inherited.HostProc)), ready: make(chan struct{}),
		roots: roots.New(settings.Layout.Roots()), trouble: &trouble{clock: simulator.NewJumpingClock()},
	}
	err := d.run(ctx)
	if err != nil && ctx.Err() == nil {
		d.reporter.send(Progress{Error: err.Error()})
		return err
	}
	return nil
}

func (d *Daemon) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.prepare(); err != nil {
		return err
	}
	server, err := d.startRegion(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	// After the region, of which it is asked.
	stopControl, err := d.serveControl(ctx)
	if err != nil {
		return err
	}
	defer stopControl()
	d.forward(ctx)
	started := make(chan error, 2)
	go func() { started <- d.startComponents(ctx) }()
	go func() { started <- d.stock(ctx) }()
	for missing := cap(started); ; {
		select {
		case err := <-started:
			if err != nil {
				return err
			}
			if missing--; missing == 0 {
				if err := d.play(); err != nil {
					return err
				}
				close(d.ready)
				d.reporter.send(Progress{Ready: true})
			}
		case err := <-d.supervisor.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prepare makes the network, the keys and the files that lead inside.
func (d *Daemon) prepare() error {
	if err := host.UseResolver(d.layout, host.Region, Domain); err != nil {
		return err
	}
	if err := host.MakeNetwork(); err != nil {
		return err
	}
	if err := d.makeKeys(); err != nil {
		return err
	}
	return d.writeAccess()
}

// makeKeys makes the certificate authority and the certificates it signs.
func (d *Daemon) makeKeys() error {
	var err error
	if d.authority, err = newAuthority(); err != nil {
		return err
	}
	if d.admin, err = d.authority.client("admin", "system:masters"); err != nil {
		return err
	}
	if d.manager, err = d.authority.client("system:serviceaccount:"+managerNamespace+":"+managerAccount, "system:serviceaccounts"); err != nil {
		return err
	}
	apiServer, err := d.authority.server("kube-apiserver", host.Region, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	webhooks, err := d.authority.server("webhooks", "127.0.0.1")
	if err != nil {
		return err
	}
	accounts, err := d.authority.client("service-accounts", "")
	if err != nil {
		return err
	}
	dir := d.layout.Run("pki")
	err = errors.Join(apiServer.write(dir, "apiserver"), webhooks.write(d.layout.Run("pki", "webhooks"), "tls"),
		accounts.write(dir, "service-accounts"))
	if err != nil {
		return err
	}
	return os.WriteFile(d.layout.Run("pki", "ca.crt"), d.authority.pem, 0o600)
}

// writeAccess writes kubeconfigs for inside and outside, and how to reach MAAS from outside.
func (d *Daemon) writeAccess() error {
	manager, err := newKubeconfig(d.authority.pem, d.manager)
	if err != nil {
		return err
	}
	if err := WriteKubeconfig(d.managerKubeconfig(), manager); err != nil {
		return err
	}
	inside, err := newKubeconfig(d.authority.pem, d.admin)
	if err != nil {
		return err
	}
	if err := WriteKubeconfig(d.kubeconfig(), inside); err != nil {
		return err
	}
	outside, err := ThroughPort(inside, d.settings.Ports.Management)
	if err != nil {
		return err
	}
	if err := WriteKubeconfig(d.layout.ManagementKubeconfig(), outside); err != nil {
		return err
	}
	if d.apiKey, err = newAPIKey(); err != nil {
		return err
	}
	text := fmt.Sprintf("MAAS_ENDPOINT=http://127.0.0.1:%d/MAAS\nMAAS_API_KEY=%s\n", d.settings.Ports.Maas, d.apiKey)
	return os.WriteFile(d.layout.MaasEnvironment(), []byte(text), 0o600)
}

// kubeconfig is that of the programs inside, managerKubeconfig that of CAPMAAS.
func (d *Daemon) kubeconfig() string        { return d.layout.Run("management.kubeconfig") }
func (d *Daemon) managerKubeconfig() string { return d.layout.Run("capmaas.kubeconfig") }

func (d *Daemon) startRegion(ctx context.Context) (*simulator.Server, error) {
	booter, err := machines.New(machines.Config{
		Dir: d.layout.Machines(), Roots: d.roots, Runc: d.layout.Bin("runc"), RuncState: d.layout.Run("runc"), Cgroup: d.layout.CgroupPath(), Bridge: host.Bridge, Log: d.log,
		Exit: host.NewExits(d.inherited.Exits).Wait,
		Installing: func(systemID, what string) {
			// As the installer of a real MAAS says what it is at.
			if err := d.region.LogEvent(systemID, "INFO", "Installing OS", what); err != nil {
				d.log.Error("noting that a machine waits for its image", "machine", systemID, "error", err)
			}
		},
		Lost: func(systemID string) {
			if err := d.region.SetPower(systemID, "off"); err != nil {
				d.log.Error("noting that a machine is off", "machine", systemID, "error", err)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	d.booter = booter
	config := newRegion(d.settings.Machines, d.apiKey, d.images(), booter)
	config.Clock = d.trouble.clock // real, until somebody does not want to wait for a timeout
	if d.region, err = simulator.New(config); err != nil {
		return nil, fmt.Errorf("making the MAAS region: %w", err)
	}
	if err := d.trouble.watch(d.region); err != nil {
		return nil, err
	}
	server, err := d.region.Start(ctx, host.Region+":5240")
	if err != nil {
		return nil, fmt.Errorf("starting the MAAS region: %w", err)
	}
	d.reporter.note("a MAAS region with %d machines is up", d.settings.Machines)
	return server, nil
}

// images is where the region keeps what was uploaded, each content in a file named for its sha256.
func (d *Daemon) images() string { return d.layout.Run("images") }

// forward leads the host's sockets to what they are for.
func (d *Daemon) forward(ctx context.Context) {
	report := d.reportOnce()
	l := d.inherited.Listeners
	for _, each := range []struct {
		listener net.Listener
		route    host.Route
	}{
		{l.Management, host.To(host.Region + ":6443")},
		{l.Workload, host.ByServerName("6443")},
		{l.Maas, host.To(host.Region + ":5240")},
	} {
		go host.Forward(ctx, each.listener, each.route, report)
	}
}

// reportOnce logs why connections were not forwarded, and not again and again: programs try until a cluster is there.
func (d *Daemon) reportOnce() func(error) {
	var (
		mu   sync.Mutex
		last string
	)
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if text := err.Error(); text != last {
			last = text
			d.log.Info("a connection from the host was not forwarded", "reason", text)
		}
	}
}

// startComponents starts the management cluster, Cluster API and CAPMAAS.
func (d *Daemon) startComponents(ctx context.Context) error {
	s := d.supervisor
	if err := s.start(ctx, d.etcd()); err != nil {
		return err
	}
	if err := s.start(ctx, d.apiServer()); err != nil {
		return err
	}
	d.reporter.note("the management cluster serves")
	if err := s.start(ctx, d.garbageCollector()); err != nil {
		return err
	}
	if err := d.install(ctx); err != nil {
		return err
	}
	var managers sync.WaitGroup
	failed := make([]error, len(providers()))
	for i, p := range providers() {
		managers.Go(func() { failed[i] = s.start(ctx, d.provider(p)) })
	}
	managers.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	d.reporter.note("the managers of Cluster API are up")
	if err := s.start(ctx, d.capmaas()); err != nil {
		return err
	}
	d.reporter.note("CAPMAAS is up")
	return nil
}
